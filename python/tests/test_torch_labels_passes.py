# SPDX-License-Identifier: Apache-2.0
"""gpufl.torch and backward passes: those after the first are told in another way than it, see
torch_passes.hpp. And what signals and sessions that begin or end inside of ranges leave behind."""

import pathlib
import shutil
import subprocess

import pytest
from torch_programs import check_all_ended, line_of, needs_standin, ops, run_labelled

pytest.importorskip("torch")

# Threads of _thread are those that Python does not count.
PASS = """
import _thread
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return inside(grad.exp())
inside = lambda grad: grad
before = None
def one_pass():
    y = torch.ones(4, requires_grad=True).sin()
    if before is not None:
        y.register_hook(before)
    (y.cos() + y.tan() + Twice.apply(y)).sum().backward()
def call_later(run):
    torch.autograd.Variable._execution_engine.queue_callback(run)
def probe():
    # Around all nodes nobody hears of operators in a quiet pass. Before it PyTorch is to notice that
    # the last one has ended.
    torch.ones(1)
    gpufl._core.torch_run_pass(lambda: torch.ones(1).lgamma(), True)
"""


def heard(session):
    """How often each operator was heard, and whether probe() found quiet passes."""
    names = ops(session)["name"]
    return names.value_counts(), "aten::lgamma" not in set(names)


def heard_in_four_passes(code, first=""):
    """The same of four passes, with `code` before the session and `first` in it."""
    session, _, _ = run_labelled(PASS + code + f"""
with session():
    gpufl.torch.attach()
    {first}
    for _ in range(4):
        one_pass()
    probe()
""")
    return heard(session)


def test_every_backward_pass_tells_the_same():
    session, _, _ = run_labelled(PASS + """
with session():
    gpufl.torch.attach()
    for _ in range(4):
        one_pass()
    probe()
    torch.ones(1).erfc()
""")
    _, is_quiet = heard(session)
    assert is_quiet
    names = list(ops(session)["name"])
    assert names[-3:] == ["aten::ones", "aten::ones", "aten::erfc"]
    names = names[:-3]
    assert names == names[: len(names) // 4] * 4
    assert names.count("aten::exp") == 4, "an operator of a node written in Python"
    # Two of the engine's own, between nodes.
    assert sum(name.startswith("aten::add") for name in names) == 4 * 4


def test_the_first_pass_after_attaching_is_looked_at():
    session, _, _ = run_labelled(PASS + """
with session():
    gpufl.torch.attach()
    one_pass()
    gpufl.torch.detach()
    gpufl.torch.attach()
    probe()
""")
    _, is_quiet = heard(session)
    assert not is_quiet


def test_hooks_before_nodes_are_heard_in_every_pass():
    count, is_quiet = heard_in_four_passes("""
before = lambda grad: grad.erf()
""")
    assert count["aten::erf"] == 4
    assert not is_quiet


def test_what_is_called_after_all_nodes_is_heard_in_every_pass():
    count, is_quiet = heard_in_four_passes("""
def inside(grad):
    call_later(lambda: torch.ones(1).erf())
    return grad
""")
    assert count["aten::erf"] == 4
    assert not is_quiet


def test_what_is_called_after_a_pass_inside_of_another_is_heard():
    count, is_quiet = heard_in_four_passes("""
def inside(grad):
    with torch.enable_grad():
        y = torch.ones(4, requires_grad=True).sin()
        y.register_hook(lambda _: call_later(lambda: torch.ones(1).erf()))
        y.sum().backward()
    return grad
""")
    assert count["aten::erf"] == 4
    assert not is_quiet


def test_a_node_is_heard_after_a_pass_inside_of_it():
    count, is_quiet = heard_in_four_passes("""
def inside(grad):
    with torch.enable_grad():
        torch.ones(4, requires_grad=True).cosh().sum().backward()
    return grad.erf()
""")
    assert count["aten::erf"] == count["CoshBackward0"] == 4
    assert is_quiet


def test_other_threads_are_heard_while_one_runs_a_backward_pass():
    threads = """
turn = threading.Barrier(2, timeout=60)
def work():
    while True:
        turn.wait()
        torch.ones(1).erfc()
        turn.wait()
def inside(grad):
    turn.wait()
    turn.wait()
    return grad
"""
    count, is_quiet = heard_in_four_passes(threads, "_thread.start_new_thread(work, ())")
    assert count["aten::erfc"] == 4
    assert not is_quiet


def test_threads_that_were_there_before_are_heard_from_their_first_operator_on():
    session, _, _ = run_labelled(PASS + """
from concurrent.futures import ThreadPoolExecutor
with session(), ThreadPoolExecutor(1) as pool:
    gpufl.torch.attach()
    pool.submit(int).result()
    one_pass()
    inside = lambda grad: pool.submit(grad.erfc).result()
    one_pass()
""")
    count, _ = heard(session)
    assert count["aten::erfc"] == 1


def test_the_program_is_heard_while_another_thread_runs_nothing_but_backward_passes():
    session, _, _ = run_labelled(PASS + """
turn = threading.Barrier(2, timeout=60)
def inside(grad):
    turn.wait()
    turn.wait()
    return grad
with session():
    gpufl.torch.attach()
    roots = [Twice.apply(torch.ones(4, requires_grad=True)) for _ in range(4)]
    ones = torch.ones(4)
    def work():
        for root in roots:
            root.backward(gradient=ones)
        turn.wait()
    _thread.start_new_thread(work, ())
    for _ in roots:
        turn.wait()
        ones.erfc()
        turn.wait()
    turn.wait()
    probe()
""")
    count, is_quiet = heard(session)
    assert count["aten::erfc"] == 4
    assert not is_quiet


def test_a_pass_that_raises_ends():
    session, _, _ = run_labelled(PASS + """
def inside(grad):
    raise ValueError
with session():
    gpufl.torch.attach()
    for _ in range(3):
        try:
            one_pass()
        except ValueError:
            pass
        torch.ones(1).erf()
    probe()
""")
    count, is_quiet = heard(session)
    assert count["aten::erf"] == 3
    assert is_quiet


# Raises as a signal's handler does, at each instruction of a function in turn.
INTERRUPTED = """
class Interrupted(Exception):
    pass
def interrupted_everywhere(function, run):
    def trace(frame, event, _):
        if frame.f_code.co_name != function:
            return None
        frame.f_trace_opcodes = True
        def trace_inside(frame, event, _):
            nonlocal left
            if event == "opcode":
                left -= 1
                if left == 0:
                    raise Interrupted
            return trace_inside
        return trace_inside
    # CPython 3.12 looks at who wants instructions when tracing begins.
    sys._getframe().f_trace_opcodes = True
    instruction = 0
    while True:
        instruction += 1
        left = instruction
        sys.settrace(trace)
        try:
            run()
            sys.settrace(None)
            return
        except Interrupted:
            yield
"""


def test_a_signal_that_raises_where_a_pass_begins_leaves_nothing_behind():
    session, _, printed = run_labelled(PASS + INTERRUPTED + """
with session():
    gpufl.torch.attach()
    one_pass()
    times = 0
    for _ in interrupted_everywhere("labelled_run", one_pass):
        torch.ones(1).erf()
        times += 1
    probe()
    print(times)
""")
    count, is_quiet = heard(session)
    assert count["aten::erf"] == int(printed) > 5
    assert is_quiet


def test_a_signal_that_raises_where_a_module_is_called_leaves_nothing_behind():
    session, _, printed = run_labelled(INTERRUPTED + """
outer = nn.Sequential(nn.ReLU())
with session():
    gpufl.torch.attach()
    times = 0
    for _ in interrupted_everywhere("labelled_call", lambda: outer(torch.ones(1))):
        nn.Identity()(torch.ones(1))
        times += 1
    print(times)
""")
    names = session.markers["name"].value_counts()
    assert names["Identity"] == int(printed) > 5
    check_all_ended()


# A tool that NVTX loads: how many ranges are open, in all domains.
TOOL = """
#include <stddef.h>
int open_ranges = 0;
static int push(void* domain, const void* attributes) { return open_ranges++; }
static int pop(void* domain) { return --open_ranges; }
struct Callbacks {
  size_t struct_size;
  int (*functions_of)(int module, void*** functions[], unsigned* count);
};
int InitializeInjectionNvtx2(const void* (*export_table)(unsigned)) {
  const struct Callbacks* callbacks = export_table(1);
  void*** functions;
  unsigned count;
  if (!callbacks->functions_of(5, (void****)&functions, &count)) return 0;
  *functions[4] = (void*)push;
  *functions[5] = (void*)pop;
  return 1;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_sessions_that_begin_and_end_inside_of_ranges():
    pathlib.Path("tool.c").write_text(TOOL, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "tool.so", "tool.c"], check=True)
    session, _, _ = run_labelled("""
import ctypes
import pathlib
tool = pathlib.Path("tool.so").resolve()
os.environ["NVTX_INJECTION64_PATH"] = str(tool)
gpufl.torch.attach()
del os.environ["NVTX_INJECTION64_PATH"]
open_ranges = ctypes.c_int.in_dll(ctypes.CDLL(str(tool)), "open_ranges")
class Calls(nn.Module):
    def forward(self, run):
        assert open_ranges.value == was_open + self.is_tools
        run()
def check(run, is_tools):
    global was_open
    was_open = open_ranges.value
    calls = Calls()
    calls.is_tools = is_tools
    calls(run)
    assert open_ranges.value == was_open
recording = session()
check(recording.__enter__, True)
with torch.profiler.record_function("before the end"):
    check(lambda: recording.__exit__(None, None, None), False)
assert open_ranges.value == 0
recording = session()
with torch.profiler.record_function("before the begin"):
    recording.__enter__()
    torch.ones(1).erf()
assert open_ranges.value == 0
recording.__exit__(None, None, None)
""")
    assert "aten::erf" in set(session.markers["name"])
    for path in pathlib.Path("logs").iterdir():
        shutil.rmtree(path)


@needs_standin
def test_code_of_a_library_that_was_freed_lends_its_lines_to_nobody():
    session, text, printed = run_labelled(
        """
import gc
# The same instructions at the same address, first as a library's code and then as the program's.
def run(file, skipped):
    names = {"scale": scale, "ones": torch.ones(2)}
    code = "\\n" * skipped + "def inner():\\n    return scale(ones)\\n"
    exec(compile(code, file, "exec"), names)
    names["inner"]()  # line: call
    return id(names["inner"].__code__)
library = "/usr/lib/python3/dist-packages/generated.py"
with session():
    gpufl.torch.attach()
    same = 0
    for _ in range(10):
        first = run(library, 0)
        gc.collect()
        same += first == run(os.path.abspath("own.py"), 40)
        gc.collect()
    print(same)
""",
        operators=True,
    )
    assert int(printed) > 0, "no code came to lie where other code was"
    kernels = session.kernels
    lines = list(kernels[kernels["name"] == "scale_kernel"]["line"])
    assert len(lines) == 20
    assert set(lines[1::2]) == {"own.py:42 in inner()"}
    assert all(line.startswith(line_of(text, "# line: call")) for line in lines[::2])
