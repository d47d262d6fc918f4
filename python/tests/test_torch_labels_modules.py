# SPDX-License-Identifier: Apache-2.0
"""gpufl.torch and calls of modules: what they are called, and that nothing of a call stays."""

import pytest
from torch_programs import check_all_ended, run_labelled, run_program

pytest.importorskip("torch")


def modules(session):
    """The names of ranges of modules in the order in which they began; all of them have ended."""
    check_all_ended()
    markers = session.markers
    found = markers[markers["domain"] == "torch.module"]
    return list(found.sort_values("start_ns", kind="stable")["name"])


def test_modules_become_ranges_with_their_paths():
    session, _, _ = run_labelled("""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.layers.add_module("long" * 80, nn.Identity())
    def forward(self, x):
        return nn.Tanh()(self.layers(x))
with session():
    gpufl.torch.attach()
    net = Net()
    for _ in range(2):
        net(torch.ones(1, 2))
""")
    below = ["Net", "Net.layers", "Net.layers.0", "Net.layers.1", f"Net.layers.{'long' * 80}"]
    assert modules(session) == [*below, "Net.Tanh"] * 2


def test_a_module_that_raises_ends_its_range():
    session, _, _ = run_labelled("""
class Bad(nn.Module):
    def forward(self, x):
        raise ValueError
with session():
    gpufl.torch.attach()
    try:
        nn.Sequential(Bad())(torch.ones(1))
    except ValueError:
        pass
    nn.Identity()(torch.ones(1))
""")
    assert modules(session) == ["Sequential", "Sequential.0", "Identity"]


def test_calls_are_what_they_are_without_labels():
    session, _, _ = run_labelled("""
class Echo(nn.Module):
    def forward(self, *args, **keywords):
        return args, keywords
def raised(*args, **keywords):
    try:
        return nn.Module.__call__(*args, **keywords)
    except TypeError as error:
        return str(error)
echo = Echo()
without = raised(), raised(a=1)
with session():
    gpufl.torch.attach()
    assert echo() == ((), {})
    assert echo(1, 2, b=3) == ((1, 2), {"b": 3})
    # None of these is a name of ours.
    names = {"module": 1, "args": 2, "keywords": 3}
    assert echo(**names) == ((), names)
    assert (raised(), raised(a=1)) == without
    run, _ = gpufl._core.torch_module_calls(Echo.forward, lambda module, path: [])
    for wrong in ((), ([echo], {}), ((echo,), []), ((echo,), {}, 1)):
        try:
            run(*wrong)
        except TypeError:
            continue
        raise AssertionError(wrong)
""")
    assert modules(session) == ["Echo"] * 3


# Counts of references, as far as a call could change them.
HELD = """
import gc
import weakref
class Raises(nn.Module):
    def forward(self, value, key):
        raise ValueError(value)
class Returns(nn.Module):
    def forward(self, value, key):
        return value, key
class Value:
    pass
modules = nn.Sequential(nn.Sequential(Returns(), Raises()))
value, key, path = Value(), Value(), "".join(["a ", "path"])
run, _ = gpufl._core.torch_module_calls(Returns.forward, lambda module, _: [(module, path)])
def calls(times):
    returns, raises = modules[0]
    for _ in range(times):
        assert returns(value, key=key) == (value, key)
        try:
            raises(value, key=key)
        except ValueError as error:
            assert error.args == (value,)
        assert run((returns, value), {"key": key}) == (value, key)
def held():
    gc.collect()
    objects = [value, key, path, *modules.modules(), nn.Module, nn.Module._call_impl]
    return [sys.getrefcount(one) for one in objects]
"""


@pytest.mark.parametrize("recording", ["session()", "contextlib.nullcontext()"])
def test_nothing_of_a_call_stays(recording):
    _, _, printed = run_labelled(HELD + f"""
import contextlib
with session():
    pass
with {recording}:
    gpufl.torch.attach()
    calls(10)
    before, objects, nones = held(), len(gc.get_objects()), sys.getrefcount(None)
    calls(3000)
    print(before == held(), before, held())
    # Of these others have some, too.
    assert abs(len(gc.get_objects()) - objects) < 100
    assert abs(sys.getrefcount(None) - nones) < 100
    alive = [weakref.ref(one) for one in (value, key, *modules.modules())]
    del value, key, modules
    gc.collect()
    assert [one() for one in alive] == [None] * len(alive)
""")
    assert printed.startswith("True "), printed


def test_what_labelled_calls_is_freed_when_labels_are_removed():
    run_labelled("""
import gc
import weakref
call = nn.Module._call_impl
counts = []
def wrapped(*args, **keywords):
    return call(*args, **keywords)
with session():
    for _ in range(5):
        nn.Module._call_impl = wrapped
        gpufl.torch.attach()
        nn.Sequential(nn.Identity())(1)
        ours = weakref.ref(nn.Module._call_impl)
        gpufl.torch.detach()
        assert nn.Module._call_impl is wrapped
        gc.collect()
        assert ours() is None
        counts.append((sys.getrefcount(wrapped), sys.getrefcount(call)))
assert len(set(counts)) == 1, counts
""")


def test_a_module_where_another_has_died_has_its_own_name():
    session, _, printed = run_labelled("""
import weakref
class First(nn.Module):
    def forward(self, x):
        return x
class Second(First):
    pass
with session():
    gpufl.torch.attach()
    died, same = [], 0
    for _ in range(1000):
        where = []
        for kind in (First, Second):
            module = kind()
            where.append(id(module))
            died.append(weakref.ref(module))
            module(1)
            del module
        same += where[0] == where[1]
    assert not any(one() for one in died)
    print(same)
""")
    assert int(printed) > 0, "no module came to lie where another was"
    assert modules(session) == ["First", "Second"] * 1000


def test_somebody_elses_function_around_ours():
    session, _, _ = run_labelled("""
class Counted(nn.Identity):
    pass
with session():
    gpufl.torch.attach()
    ours = nn.Module._call_impl
    calls = 0
    def theirs(module, *args, **keywords):
        global calls
        calls += 1
        return ours(module, *args, **keywords)
    nn.Module._call_impl = theirs
    Counted()(1)
    gpufl.torch.detach()
    assert nn.Module._call_impl is theirs
    nn.Identity()(1)
    gpufl.torch.attach()
    Counted()(1)
    gpufl.torch.detach()
    assert nn.Module._call_impl is theirs
    assert calls == 3
""")
    assert modules(session) == ["Counted"] * 2


def test_detached_and_attached_inside_of_modules():
    session, _, _ = run_labelled("""
class Inner(nn.Identity):
    pass
class Toggles(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def forward(self, *toggle):
        for act in toggle:
            act()
            self.inner(1)
with session():
    gpufl.torch.attach()
    toggles = Toggles()
    toggles(gpufl.torch.detach, gpufl.torch.attach)
    toggles(lambda: nn.Tanh()(torch.ones(1)))
""")
    inner = "Toggles.inner"
    assert modules(session) == ["Toggles", inner, "Toggles", "Toggles.Tanh", inner]


def test_whatever_named_modules_does_the_call_goes_on():
    session, _, _ = run_labelled("""
class Curious(nn.Sequential):
    def named_modules(self, *args, **keywords):
        nn.Tanh()(torch.ones(1))
        return super().named_modules(*args, **keywords)
class Broken(nn.Identity):
    def named_modules(self, *args, **keywords):
        raise LookupError
class Hides(nn.Identity):
    def named_modules(self, *args, **keywords):
        return iter(())
class Odd(nn.Identity):
    def named_modules(self, *args, **keywords):
        return [3]
class Interrupted(nn.Identity):
    def named_modules(self, *args, **keywords):
        raise KeyboardInterrupt
with session():
    gpufl.torch.attach()
    Curious(nn.Identity())(1)
    unspeakable = nn.Sequential()
    unspeakable.add_module("\\udc80", nn.Identity())
    for module in (Hides(), Broken(), Odd(), unspeakable):
        assert module(1) == 1
    try:
        Interrupted()(1)
        raise AssertionError
    except KeyboardInterrupt:
        pass
    nn.ReLU()(torch.ones(1))
""")
    odd = ["Hides", "Broken", "Odd", "Sequential", "Sequential.Identity"]
    assert modules(session) == ["Tanh", "Curious", "Curious.0", *odd, "ReLU"]


def test_paths_are_those_of_the_outermost_module_whatever_was_called_first():
    session, _, _ = run_labelled("""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Identity())
        self.head, self.tail = nn.Identity(), nn.Identity()
    def forward(self, x):
        return self.tail(self.head(self.encoder(x)))
class Parallel(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
    def forward(self, x):
        return self.module(x)
with session():
    gpufl.torch.attach()
    net = Net()
    net.encoder(1)
    net(1)
    net.head, net.tail = nn.Identity(), nn.Identity()
    net(1)
    Parallel(net)(1)
""")
    net = ["Net", "Net.encoder", "Net.encoder.0", "Net.head", "Net.tail"]
    parallel = ["Parallel", *(name.replace("Net", "Parallel.module") for name in net)]
    assert modules(session) == ["Sequential", "Sequential.0", *net, *net, *parallel]


def test_pytorchs_profiler_tells_modules_as_without():
    # It looks once in a process at how modules are called.
    profiled = """
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
def tell():
    with torch.profiler.profile(with_stack=True, acc_events=True) as profile:
        net(torch.ones(1, 2))
    print(sorted({event.name for event in profile.events() if "nn.Module" in event.name}))
"""
    without = run_program(profiled + "tell()")
    session, _, labelled = run_labelled(profiled + """
with session():
    gpufl.torch.attach()
    tell()
    gpufl.torch.detach()
    tell()
""")
    assert labelled == without * 2
    assert modules(session) == ["Sequential", "Sequential.0", "Sequential.1"]


def test_threads_have_their_own_callers():
    session, _, _ = run_labelled("""
together = threading.Barrier(2, timeout=60)
class First(nn.Module):
    def forward(self):
        together.wait()
        nn.Identity()(1)
        together.wait()
class Second(First):
    pass
with session():
    gpufl.torch.attach()
    threads = [threading.Thread(target=kind()) for kind in (First, Second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    nn.Identity()(1)
""")
    names = modules(session)
    assert sorted(names[:2]) == ["First", "Second"]
    assert sorted(names[2:4]) == ["First.Identity", "Second.Identity"]
    assert names[4:] == ["Identity"]


def test_compiled_models_are_compiled_as_without():
    session, _, printed = run_labelled("""
import torch._dynamo as dynamo
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
    def forward(self, x, module=1):
        return self.inner.__call__(x) + module
with session():
    gpufl.torch.attach()
    for model in (nn.Sequential(nn.Linear(4, 4), nn.ReLU()), Net()):
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
        for _ in range(3):
            compiled(torch.ones(2, 4)).sum().backward()
    print(dynamo.utils.counters["stats"]["unique_graphs"], dict(dynamo.utils.counters["graph_break"]))
    for strict in (False, True):
        exported = torch.export.export(Net(), (torch.ones(2, 4),), {"module": 2}, strict=strict)
        operators = [str(node.target) for node in exported.graph.nodes if node.op == "call_function"]
        assert operators == ["aten.linear.default", "aten.add.Tensor"], operators
""")
    assert printed.split() == ["2", "{}"]
    assert "CompiledFunctionBackward" in set(session.markers["name"])
    assert modules(session).count("OptimizedModule") == 6


def test_attached_after_compiling_nothing_is_compiled_again():
    run_labelled("""
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
    def __call__(self, *args, **keywords):  # as layers of transformers have it
        return super().__call__(*args, **keywords)
    def forward(self, x):
        return self.inner(x)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(Layer(), Layer())
    def forward(self, x):
        torch._dynamo.graph_break()
        return self.layers(x)
import warnings
warnings.simplefilter("ignore")  # PyTorch's own, of a break
def compiled_frames():
    return torch._dynamo.utils.counters["frames"]["total"]
compiled = torch.compile(nn.Sequential(Net(), Layer()), backend="eager")
compiled(torch.ones(2, 4))
frames = compiled_frames()
torch.compiler.set_stance("fail_on_recompile")
with session():
    gpufl.torch.attach()
    compiled(torch.ones(2, 4))
    assert compiled_frames() == frames
    gpufl.torch.detach()
    compiled(torch.ones(2, 4))
    assert compiled_frames() == frames
""")
