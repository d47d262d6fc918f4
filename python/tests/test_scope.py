# SPDX-License-Identifier: Apache-2.0
"""What a Scope does, in every form, with a session and without."""

import asyncio
import inspect
import threading

import gpufl
import pytest
from conftest import events
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

COUNTS = st.integers(min_value=0, max_value=12)


def names(logs):
    return [event["name"] for event in in_order(logs)]


def in_order(logs):
    """The scopes of the session, by their begin; shuts down."""
    gpufl.shutdown()
    found = sorted(events(logs, "scope"), key=lambda event: event["id"])
    for event in found:
        event["end_ns"] = event["start_ns"] + event["duration_ns"]
    return found


def test_context_manager_records_name_tag_and_nesting(recording):
    with gpufl.Scope("outer"), gpufl.Scope("inner", "batch_42"):
        pass
    outer, inner = in_order(recording)
    assert (outer["name"], inner["name"], inner["tag"]) == ("outer", "inner", "batch_42")
    assert inner["depth"] == outer["depth"] + 1
    assert outer["start_ns"] <= inner["start_ns"] <= inner["end_ns"] <= outer["end_ns"]


def test_enter_gives_the_scope_and_exit_swallows_nothing():
    scope = gpufl.Scope("x", tag="y")
    with pytest.raises(ZeroDivisionError), scope as entered:
        assert entered is scope
        raise ZeroDivisionError
    assert (scope.name, scope.tag) == ("x", "y")


def test_exception_ends_the_scope(recording):
    with pytest.raises(KeyError), gpufl.Scope("fails"):
        raise KeyError
    assert names(recording) == ["fails"]


def test_one_object_may_be_entered_again(recording):
    scope = gpufl.Scope("again")
    with scope, scope:
        pass
    with scope:
        pass
    first, second, third = in_order(recording)
    assert second["end_ns"] <= first["end_ns"] <= third["start_ns"]


def test_one_object_on_several_threads(recording):
    scope = gpufl.Scope("shared")
    inside = threading.Barrier(4)

    def work():
        with scope:
            inside.wait()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = in_order(recording)
    assert len(found) == len({event["thread"] for event in found}) == 4


def test_exit_without_enter():
    with pytest.raises(RuntimeError, match="without enter"):
        gpufl.Scope("x").__exit__(None, None, None)


def test_names_of_any_text(recording):
    texts = ["", "é世界", "a\0b", 'quote " and \\', "x" * 3000]
    for text in texts:
        with gpufl.Scope(text, text):
            pass
    with gpufl.Scope("lone \udc80 surrogate"):
        pass
    found = names(recording)
    assert found[0] == "<unnamed>" or found[0] == ""
    assert found[1:4] == texts[1:4]
    assert found[5] == "lone ? surrogate"


@pytest.mark.parametrize("arguments", [(), (1,), (None,), ("x", 3)])
def test_wrong_types(arguments):
    with pytest.raises(TypeError):
        gpufl.Scope(*arguments)


@pytest.mark.parametrize(
    "counts", [{"repeat": -1}, {"repeat": 1, "warmup": -1}, {"repeat": 2**40}, {"warmup": 1}]
)
def test_impossible_counts(counts):
    with pytest.raises(ValueError, match="repeat|warmup"):
        gpufl.Scope("x", **counts)


def test_deep_is_a_keyword_that_is_true_or_false():
    with gpufl.Scope("x", deep=True), gpufl.Scope("y", repeat=1, deep=False):
        pass
    for wrong in ("yes", None):
        with pytest.raises(TypeError):
            gpufl.Scope("x", deep=wrong)
    with pytest.raises(TypeError):
        gpufl.Scope("x", "tag", True)


def test_a_scope_without_repeat_is_no_loop():
    with pytest.raises(TypeError, match="repeat=N"):
        iter(gpufl.Scope("x"))


@given(repeat=COUNTS, warmup=COUNTS)
def test_rounds_when_disabled(repeat, warmup):
    rounds = list(gpufl.Scope("x", repeat=repeat, warmup=warmup))
    assert rounds == list(range(-warmup, repeat))


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(repeat=COUNTS, warmup=COUNTS, leave_at=st.none() | st.integers(0, 24))
def test_rounds_are_two_scopes(tmp_path_factory, repeat, warmup, leave_at):
    logs = tmp_path_factory.mktemp("rounds")
    assert gpufl.init(log_path=logs, backend=gpufl.BackendKind.None_)
    seen = []
    for i in gpufl.Scope("bench", "math", repeat=repeat, warmup=warmup):
        seen.append(i)
        with gpufl.Scope("body"):
            pass
        if len(seen) - 1 == leave_at:
            break
    with gpufl.Scope("after"):
        pass
    found = in_order(logs)
    assert seen == list(range(-warmup, repeat))[: len(seen)]
    outer = [event for event in found if event["depth"] == found[-1]["depth"]]
    wanted = ["bench_warmup"] * any(i < 0 for i in seen) + ["bench"] * any(i >= 0 for i in seen)
    assert [event["name"] for event in outer] == [*wanted, "after"]
    for event in outer:
        if event["name"] == "bench":
            assert (event["tag"], event["repeat"], event["warmup"]) == ("math", repeat, warmup)
    assert sum(event["name"] == "body" for event in found) == len(seen)


# A program of nested scopes, as lists in lists.
PROGRAMS = st.recursive(st.just([]), lambda inner: st.lists(inner, max_size=4), max_leaves=25)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(program=PROGRAMS)
def test_nesting_comes_out_as_it_went_in(tmp_path_factory, program):
    logs = tmp_path_factory.mktemp("nesting")
    assert gpufl.init(log_path=logs, backend=gpufl.BackendKind.None_)
    went_in = []

    def run(parts, depth):
        for number, inner in enumerate(parts):
            name = f"{depth}.{number}"
            went_in.append((name, depth))
            with gpufl.Scope(name):
                run(inner, depth + 1)

    run([program], 0)
    found = in_order(logs)
    base = found[0]["depth"]
    assert [(event["name"], event["depth"] - base) for event in found] == went_in


def test_decorated_function(recording):
    @gpufl.Scope("fib", "recursive")
    def fib(n: int) -> int:
        """Doc."""
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    assert fib(4) == 3
    assert (fib.__name__, fib.__doc__) == ("fib", "Doc.")
    assert inspect.signature(fib).parameters.keys() == {"n"}
    assert names(recording) == ["fib"] * 9


def test_lower_case_decorator_and_methods(recording):
    class Model:
        @gpufl.scope("forward")
        def forward(self, x):
            return x + 1

        @staticmethod
        @gpufl.scope("load")
        def load():
            return 7

    assert Model().forward(1) == 2
    assert Model.load() == 7
    assert names(recording) == ["forward", "load"]


def test_decorated_function_that_raises(recording):
    @gpufl.scope("fails")
    def fails():
        raise ValueError("as before")

    with pytest.raises(ValueError, match="as before"):
        fails()
    assert names(recording) == ["fails"]


@pytest.mark.parametrize("what", [int, 3, "name"])
def test_only_functions_are_decorated(what):
    with pytest.raises(TypeError, match="decorates functions"):
        gpufl.scope("x")(what)


def test_decorated_generator_is_open_only_while_it_runs(recording):
    @gpufl.scope("produce")
    def produce():
        try:
            received = yield 1
            assert received == "sent"
            yield 2
        except KeyError:
            yield 3
        return 4

    def consume():
        return (yield from generator)

    assert inspect.isgeneratorfunction(produce)
    generator = produce()
    assert next(generator) == 1
    with gpufl.Scope("consumer"):
        pass
    assert generator.send("sent") == 2
    assert generator.throw(KeyError()) == 3
    with pytest.raises(StopIteration) as stop:
        next(consume())
    assert stop.value.value == 4
    found = in_order(recording)
    assert [event["name"] for event in found] == ["produce", "consumer"] + ["produce"] * 3
    assert len({event["depth"] for event in found}) == 1


def test_closing_a_decorated_generator_closes_the_inner_one():
    log = []

    @gpufl.scope("produce")
    def produce():
        try:
            yield 1
        finally:
            log.append("closed")

    generator = produce()
    next(generator)
    generator.close()
    assert log == ["closed"]


def test_decorated_coroutines_interleave(recording):
    @gpufl.scope("task")
    async def task(number):
        for _ in range(3):
            await asyncio.sleep(0)
        if number == 2:
            raise LookupError
        return number

    async def main():
        return await asyncio.gather(*(task(i) for i in range(3)), return_exceptions=True)

    assert inspect.iscoroutinefunction(task)
    first, second, third = asyncio.run(main())
    assert (first, second, type(third)) == (0, 1, LookupError)
    found = in_order(recording)
    assert [event["name"] for event in found] == ["task"] * 12
    # Never one inside of another: each is open while its own code runs.
    assert len({event["depth"] for event in found}) == 1
    assert all(a["end_ns"] <= b["start_ns"] for a, b in zip(found, found[1:], strict=False))


def test_decorated_coroutine_is_cancelled():
    log = []

    @gpufl.scope("task")
    async def task():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    async def main():
        running = asyncio.ensure_future(task())
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    assert log == ["cancelled"]


def test_decorated_async_generator(recording):
    log = []

    @gpufl.scope("stream")
    async def stream(n):
        try:
            for i in range(n):
                await asyncio.sleep(0)
                try:
                    log.append((yield i))
                except KeyError:
                    log.append("thrown")
        finally:
            log.append("closed")

    async def main():
        assert [i async for i in stream(3)] == [0, 1, 2]
        generator = stream(5)
        assert await generator.asend(None) == 0
        assert await generator.asend("sent") == 1
        assert await generator.athrow(KeyError()) == 2
        await generator.aclose()

    assert inspect.isasyncgenfunction(stream)
    asyncio.run(main())
    assert log == [None, None, None, "closed", "sent", "thrown", "closed"]
    assert set(names(recording)) == {"stream"}


@given(values=st.lists(st.integers(), max_size=8))
def test_decorators_change_no_result(values):
    def plain(items):
        total = 0
        for item in items:
            total += yield item
        return total

    def drive(generator):
        seen = []
        try:
            seen.append(next(generator))
            while True:
                seen.append(generator.send(seen[-1] + 1))
        except StopIteration as stop:
            return seen, stop.value

    assert drive(gpufl.scope("x")(plain)(values)) == drive(plain(values))
