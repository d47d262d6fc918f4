# SPDX-License-Identifier: Apache-2.0
"""What gpufl.torch calls modules with, without PyTorch: for every CPython that there is."""

from conftest import run_python

CALLS = """
import gc
import sys
import threading
import weakref
from gpufl import _core

class Module:
    def __init__(self, act=lambda value, key: (value, key)):
        self.act = act
class Value:
    pass
def call(module, *args, **keywords):
    return module.act(*args, **keywords)
asked = []
def paths_below(module, path):
    asked.append(path)
    return [(module, paths.get(module) or "".join(["made ", "up"]))]
paths = weakref.WeakKeyDictionary()
run, remove = _core.torch_module_calls(call, paths_below)
"""


def test_a_call_returns_raises_and_holds_as_without():
    run_python(CALLS + """
class Stop(Exception):
    pass
def fail(value, key):
    raise Stop(value)
value, key, path = Value(), Value(), "".join(["a ", "path"])
returns, raises = Module(), Module(fail)
recurses = Module(lambda deep: run((recurses, deep - 1), {}) if deep else value)
for module in (returns, raises, recurses):
    paths[module] = path
def calls(times):
    for _ in range(times):
        assert run((returns, value), {"key": key}) == (value, key)
        assert run((recurses, 20), {}) is value
        try:
            run((raises, value, key), {})
            raise AssertionError
        except Stop as error:
            assert error.args == (value,)
def held():
    gc.collect()
    return [sys.getrefcount(one) for one in (value, key, path, returns, raises, recurses, call)]
calls(10)
before = held()
calls(2000)
assert held() == before, (before, held())
assert asked == ["Module"] * 3
dies = weakref.ref(returns)
del returns, module
gc.collect()
assert dies() is None
""")


def test_callers_are_of_their_thread_and_of_calls_under_way():
    run_python(CALLS + """
inner, outer, other = (Module(lambda: None) for _ in range(3))
outer.act = lambda: run((inner,), {})
paths[outer] = "outer"
run((outer,), {})
# The one outside is asked again: perhaps it holds the other one by now.
assert asked == ["Module", "outer", "outer.Module"]
thread = threading.Thread(target=lambda: run((other,), {}))
outer.act = lambda: (thread.start(), thread.join())
run((outer,), {})
assert asked[3:] == ["Module"]
def fail():
    raise ValueError
outer.act = fail
try:
    run((outer,), {})
except ValueError:
    pass
run((Module(lambda: None),), {})
assert asked[4:] == ["Module"]
""")


def test_modules_that_die_are_asked_for_again_and_removed_none_is():
    run_python(CALLS + """
where = set()
for _ in range(3000):
    module = Module(lambda: None)
    where.add(id(module))
    run((module,), {})
    del module
assert len(asked) == 3000 > len(where)
remove()
assert run((Module(lambda: 1),), {}) == 1
assert len(asked) == 3000
refers = sys.getrefcount(call)
del run, remove
assert sys.getrefcount(call) < refers
""")


def test_a_daemon_thread_that_is_in_a_call_when_the_program_ends():
    # CPython ends it in the middle of the call.
    run_python(CALLS + """
import time
inside = threading.Event()
waits = Module(lambda: (inside.set(), time.sleep(1000)))
threading.Thread(target=run, args=((waits,), {}), daemon=True).start()
assert inside.wait(60)
""")
