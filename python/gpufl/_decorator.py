# SPDX-License-Identifier: Apache-2.0
"""Scopes as decorators.

A scope belongs to the thread that its code runs on. A generator or a coroutine leaves that thread to
others whenever it waits, so its scope is open while its own code runs: once for each stretch between
two waits, and never while somebody else's code runs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Generator
from typing import Any

from ._core import Scope


def decorate(scope: Scope, function: Any) -> Any:
    """`function` with every call of it inside a scope like `scope`."""
    if inspect.isclass(function) or not callable(function):
        raise TypeError("gpufl.Scope decorates functions")
    if inspect.isasyncgenfunction(function):
        wrapper = _async_generator(scope, function)
    elif inspect.iscoroutinefunction(function):
        wrapper = _coroutine(scope, function)
    elif inspect.isgeneratorfunction(function):
        wrapper = _generator(scope, function)
    else:
        wrapper = _plain(scope, function)
    return functools.wraps(function)(wrapper)


def _plain(scope: Scope, function: Any) -> Any:
    def wrapper(*args: Any, **keywords: Any) -> Any:
        with scope:
            return function(*args, **keywords)

    return wrapper


def _generator(scope: Scope, function: Any) -> Any:
    def wrapper(*args: Any, **keywords: Any) -> Any:
        return (yield from _stretches(scope, function(*args, **keywords)))

    return wrapper


def _coroutine(scope: Scope, function: Any) -> Any:
    async def wrapper(*args: Any, **keywords: Any) -> Any:
        return await _Awaitable(scope, function(*args, **keywords))

    return wrapper


def _async_generator(scope: Scope, function: Any) -> Any:
    async def wrapper(*args: Any, **keywords: Any) -> Any:
        inner = function(*args, **keywords)
        step = inner.asend(None)
        while True:
            try:
                value = await _Awaitable(scope, step)
            except StopAsyncIteration:
                return
            try:
                step = inner.asend((yield value))
            except GeneratorExit:
                await _Awaitable(scope, inner.aclose())
                raise
            except BaseException as error:
                step = inner.athrow(error)

    return wrapper


class _Awaitable:
    def __init__(self, scope: Scope, inner: Any) -> None:
        self._scope = scope
        self._inner = inner

    def __await__(self) -> Generator[Any, Any, Any]:
        return _stretches(self._scope, self._inner)


def _stretches(scope: Scope, inner: Any) -> Generator[Any, Any, Any]:
    """Runs a generator or coroutine, with the scope open whenever its code runs."""
    resume, argument = inner.send, None
    while True:
        try:
            with scope:
                value = resume(argument)
        except StopIteration as end:
            return end.value
        try:
            resume, argument = inner.send, (yield value)
        except GeneratorExit:
            with scope:
                inner.close()
            raise
        except BaseException as error:
            resume, argument = inner.throw, error
