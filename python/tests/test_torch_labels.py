# SPDX-License-Identifier: Apache-2.0
"""gpufl.torch against the real PyTorch, on the CPU: `./dev python-test torch` runs it.

Kernels are those of the stand-in CUPTI, which operators of torch_programs.py launch; every program
runs in an interpreter of its own, because NVTX looks for its tool once in a process."""

import pytest
from conftest import run_python
from torch_programs import PRELUDE, check_all_ended, line_of, needs_standin, ops, run_labelled

pytest.importorskip("torch")


def test_operators_become_ranges():
    session, _, _ = run_labelled("""
with session():
    gpufl.torch.attach()
    x = torch.ones(4, 4, requires_grad=True)
    y = nn.functional.linear(x, torch.ones(4, 4)).relu().sum()
    y.backward()
""")
    names = list(ops(session)["name"])
    start = names.index("aten::linear")
    assert names[start : start + 3] == ["aten::linear", "aten::relu", "aten::sum"]
    assert "aten::mm" not in names, "what an operator calls itself is not told"
    backward = [name for name in names if "Backward" in name]
    assert backward[:2] == ["SumBackward0", "ReluBackward0"]


def test_numbers_pair_backward_nodes_with_their_operators():
    session, _, printed = run_labelled("""
with session():
    gpufl.torch.attach()
    x = torch.ones(4, requires_grad=True)
    y = x.exp()
    z = y.sin()
    print(y.grad_fn._sequence_nr(), z.grad_fn._sequence_nr())
    z.sum().backward()
""")
    exp, sin = (int(word) for word in printed.split())
    by_name = {row["name"]: row["payload"] for _, row in ops(session).iterrows()}
    assert by_name["aten::exp"] == by_name["ExpBackward0"] == exp
    assert by_name["aten::sin"] == by_name["SinBackward0"] == sin


def test_detached_nothing_is_told_and_attaching_again_works():
    session, _, _ = run_labelled("""
with session():
    assert gpufl.torch.attach() and gpufl.torch.attach() and gpufl.torch.is_attached()
    torch.ones(1).exp()
    gpufl.torch.detach()
    gpufl.torch.detach()
    assert not gpufl.torch.is_attached()
    nn.Identity()(torch.ones(1).sin())
    gpufl.torch.attach()
    torch.ones(1).cos()
""")
    names = set(session.markers["name"])
    assert {"aten::exp", "aten::cos"} <= names
    assert not {"aten::sin", "Identity"} & names


def test_attached_before_the_session_and_in_the_next_one():
    session, _, _ = run_labelled("""
gpufl.torch.attach()
torch.ones(1).exp()
for _ in range(2):
    with session():
        torch.ones(1).sin()
""")
    assert "aten::sin" in set(session.markers["name"])
    assert "aten::exp" not in set(session.markers["name"])


def test_disabled_nothing_is_attached():
    run_labelled_disabled = PRELUDE + """
gpufl.init(enabled=False)
assert gpufl.torch.attach() is False
gpufl.torch.detach()
assert nn.Module.__call__.__name__ == "_wrapped_call_impl"
"""
    run_python(run_labelled_disabled)


@pytest.mark.parametrize("version", ["2.16.0", "3.0.0a0+git123", "2.3.1", "unknown"])
def test_versions_that_are_not_known_are_refused_and_the_program_goes_on(version):
    session, _, _ = run_labelled(f"""
import warnings
torch.__version__ = {version!r}
with session(), warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert gpufl.torch.attach() is False and not gpufl.torch.is_attached()
    nn.Identity()(torch.ones(1).exp())
(warning,) = [one for one in caught if one.category is RuntimeWarning]
assert {version!r} in str(warning.message) and "GPUFL_TORCH_ANY_VERSION" in str(warning.message)
""")
    assert session.markers.empty


def test_a_version_that_is_not_known_can_be_tried():
    session, _, _ = run_labelled("""
torch.__version__ = "2.99.0"
os.environ["GPUFL_TORCH_ANY_VERSION"] = "1"
with session():
    assert gpufl.torch.attach()
    torch.ones(1).exp()
""")
    assert "aten::exp" in set(session.markers["name"])


def test_detaching_while_operators_run_on_other_threads():
    session, _, _ = run_labelled("""
stop = threading.Event()
def work():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    while not stop.is_set():
        net(torch.ones(1, 2)).sum().backward()
with session():
    workers = [threading.Thread(target=work) for _ in range(2)]
    togglers = [threading.Thread(target=lambda: [(gpufl.torch.attach(), gpufl.torch.detach())
                                                 for _ in range(20)]) for _ in range(2)]
    for thread in workers + togglers:
        thread.start()
    for thread in togglers:
        thread.join()
    stop.set()
    for thread in workers:
        thread.join()
assert nn.Module.__call__.__name__ == "_wrapped_call_impl"
""")
    check_all_ended()


def test_workers_of_a_data_loader_live_on():
    session, _, _ = run_labelled("""
class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return torch.full((2,), float(i)).exp()
if __name__ in ("__main__", "<run_path>"):
    with session():
        gpufl.torch.attach()
        loader = torch.utils.data.DataLoader(
            Numbers(), num_workers=2, multiprocessing_context="fork", batch_size=1)
        assert sum(batch.sin().numel() for batch in loader) == 8
""")
    assert list(ops(session)["name"]).count("aten::sin") == 4
    assert "aten::exp" not in set(session.markers["name"]), "a worker is a process of its own"


def test_threads_have_their_own_ranges():
    session, _, _ = run_labelled("""
with session():
    gpufl.torch.attach()
    def work():
        for _ in range(50):
            torch.ones(2, requires_grad=True).exp().sum().backward()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
""")
    found = ops(session)
    exp = found[found["name"] == "aten::exp"]
    assert len(exp) == 200
    assert exp["thread"].nunique() == 4


def test_pytorchs_profiler_inside_sees_what_it_sees_without_labels():
    session, _, printed = run_labelled("""
import warnings
# PyTorch 2.11 says so at every end of its profiler.
warnings.filterwarnings("ignore", "Warning: Profiler clears events", UserWarning)
def work():
    nn.functional.linear(torch.ones(2, 2), torch.ones(2, 2), torch.ones(2)).relu()
def seen():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        work()
    return sorted((event.key, event.count) for event in profile.key_averages())
without = seen()
with session():
    gpufl.torch.attach()
    work()
    assert seen() == without
    work()
print(dict(without)["aten::addmm"])
""")
    assert printed.split() == ["1"], "an operator inside of aten::linear"
    names = list(ops(session)["name"])
    assert names.count("aten::relu") == 3
    assert "aten::addmm" not in names


def test_detached_inside_of_an_operator():
    session, _, _ = run_labelled("""
@torch.library.custom_op("demo::stop", mutates_args=())
def stop(x: torch.Tensor) -> torch.Tensor:
    gpufl.torch.detach()
    return x.sin()
with session():
    gpufl.torch.attach()
    torch.ops.demo.stop(torch.ones(1))
    torch.ones(1).cos()
    gpufl.torch.attach()
    torch.ones(1).tan()
""")
    names = set(session.markers["name"])
    assert {"demo::stop", "aten::tan"} <= names
    assert not {"aten::sin", "aten::cos"} & names
    check_all_ended()


@needs_standin
def test_kernels_have_op_module_line_and_their_forwards_scope():
    session, text, _ = run_labelled(
        """
net = Net()
with session():
    gpufl.torch.attach()
    for _ in range(3):
        with gpufl.Scope("forward"):
            y = net(torch.ones(2, requires_grad=True))
        with gpufl.Scope("backward"):
            y.sum().backward()
    launch("bare_kernel")
""",
        operators=True,
    )
    kernels = session.kernels
    forward = kernels[kernels["name"] == "scale_kernel"]
    assert list(forward["op"].unique()) == ["demo::scale"]
    assert list(forward["module"]) == ["Net.first", "Net.rest.0"] * 3
    line = line_of(text, "# line: scale") + "Block.forward()"
    assert set(forward["line"]) == {line}
    assert set(forward["backward"]) == {0}
    assert forward["forward_scope"].isna().all()

    backward = kernels[kernels["name"] == "scale_back_kernel"]
    assert set(backward["backward"]) == {1}
    assert set(backward["forward_op"]) == {"demo::scale"}
    assert list(backward["module"]) == ["Net.rest.0", "Net.first"] * 3
    assert set(backward["line"]) == {line}
    assert set(backward["scope"]) == {"backward"}
    assert set(backward["forward_scope"]) == {"forward"}

    bare = kernels[kernels["name"] == "bare_kernel"]
    assert bare[["op", "module", "line", "backward"]].isna().all(axis=None)


@needs_standin
def test_threads_that_train_at_once_have_their_own_forward_operators():
    session, _, _ = run_labelled(
        """
together = threading.Barrier(2)
def work(number):
    for _ in range(3):
        with gpufl.Scope(f"forward {number}"):
            y = scale(torch.ones(2, requires_grad=True))
        together.wait()  # nodes of both have the same numbers
        with gpufl.Scope(f"backward {number}"):
            y.sum().backward()
        together.wait()
with session():
    gpufl.torch.attach()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
""",
        operators=True,
    )
    kernels = session.kernels
    backward = kernels[kernels["name"] == "scale_back_kernel"]
    assert len(backward) == 6
    assert set(backward["forward_op"]) == {"demo::scale"}
    for _, kernel in backward.iterrows():
        assert kernel["forward_scope"] == kernel["scope"].replace("backward", "forward")


@needs_standin
def test_functions_written_in_python_show_the_lines_inside():
    session, text, _ = run_labelled(
        """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        launch("own_kernel")
        return scale(x)  # line: inside
    @staticmethod
    def backward(ctx, grad):
        return scale_back(grad)
with session():
    gpufl.torch.attach()
    Twice.apply(torch.ones(2, requires_grad=True)).sum().backward()  # line: apply
""",
        operators=True,
    )
    kernels = session.kernels.set_index("name")
    assert kernels.loc["own_kernel", "op"] == "Twice"
    assert kernels.loc["own_kernel", "line"].startswith(line_of(text, "# line: apply"))
    assert kernels.loc["scale_kernel", "op"] == "demo::scale"
    assert kernels.loc["scale_kernel", "line"].startswith(line_of(text, "# line: inside"))
    assert kernels.loc["scale_back_kernel", "op"] == "demo::scale_back"
    assert kernels.loc["scale_back_kernel", "backward"] == 1


@needs_standin
def test_a_replayed_graph_is_labelled_by_its_replay():
    session, text, _ = run_labelled(
        """
torch.cuda.CUDAGraph.replay = lambda graph: launch("graph_kernel")
with session():
    gpufl.torch.attach()
    torch.cuda.CUDAGraph.replay(None)  # line: replay
    gpufl.torch.detach()
    torch.cuda.CUDAGraph.replay(None)
""",
        operators=True,
    )
    kernels = session.kernels
    assert kernels["op"][0] == "CUDAGraph.replay"
    assert kernels["line"][0].startswith(line_of(text, "# line: replay"))
    assert kernels["op"].isna()[1]
