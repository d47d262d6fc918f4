# SPDX-License-Identifier: Apache-2.0
"""Takes stacks in many situations and compares their Python frames with what the interpreter says.

usage: python_stacks.py LIBRARY        prints "ok" and the number of stacks compared, or, where
                                       Python frames cannot be read, "no" and the reason
"""

import asyncio
import concurrent.futures
import ctypes
import functools
import sys
import threading

LIBRARY = sys.argv[1]
HOLDS_LOCK = ctypes.PyDLL(LIBRARY)  # the GIL stays with the caller
GIVES_LOCK = ctypes.CDLL(LIBRARY)  # and here it is released meanwhile
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_uint32)
compared = 0


def frames(stack):
    buffer = ctypes.create_string_buffer(1 << 17)
    HOLDS_LOCK.probe_frames(stack, buffer, len(buffer))
    return buffer.value.decode().splitlines()


def truth(frame):
    """What the interpreter says of `frame` and its callers, as probe_frames writes it."""
    lines = []
    while frame is not None:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        lines.append(f"P {name}|{code.co_filename}|{frame.f_lineno}")
        frame = frame.f_back
    return lines


def python_part(lines):
    return [line for line in lines if line.startswith("P ")]


def check(lines, expected):
    global compared
    compared += 1
    got = python_part(lines)
    if got != expected:
        print("got:", *lines, "expected:", *expected, sep="\n  ")
        sys.exit(1)


def take(library=HOLDS_LOCK):
    """Compares the stack here; gives all of its lines."""
    stack, here = library.probe_record(), truth(sys._getframe())
    assert stack != 0
    lines = frames(stack)
    check(lines, here)
    return lines


def take_without_lock():
    return take(GIVES_LOCK)


def nested(depth):
    return take() if depth == 0 else nested(depth - 1)


class Shape:
    def method(self):
        return take()

    @classmethod
    def class_method(cls):
        return take()

    @staticmethod
    def static_method():
        return take()

    @property
    def value(self):
        return take()

    def __len__(self):  # called by C
        take()
        return 1

    def __lt__(self, other):  # called by C, from sorted()
        take()
        return False


def generator():
    yield take()
    yield from (take() for _ in range(2))


async def leaf():
    await asyncio.sleep(0)
    return take()


async def tree(depth):
    if depth == 0:
        return await leaf()
    results = await asyncio.gather(tree(depth - 1), tree(depth - 1))
    return results[0]


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@decorated
def through_a_decorator():
    return take()


def a_function_of_many_lines(
    first,
    second,
):
    values = [
        first,
        second,
    ]

    result = (
        len(values)
        and
        take()
    )
    return result


# Names of which the interpreter keeps one, two and four bytes a character.
def ünïcödé():
    return take()


def 名前():
    return ünïcödé()


def 𐌀𐌁():
    return 名前()


def interleaved():
    """Python, C, Python, C, Python: each C function must stand between its neighbours."""
    seen = []

    def inner():
        seen.append(take())
        return 0

    def middle():
        HOLDS_LOCK.probe_call(CALLBACK(inner))
        return 0

    GIVES_LOCK.probe_call(CALLBACK(middle))
    lines = seen[0]
    order = []
    for line in lines:
        if line.startswith("P "):
            order.append(line[2:].split("|")[0].rpartition(".")[2])
        elif line == "N " + LIBRARY and (not order or order[-1] != "probe"):
            order.append("probe")
    wanted = ["probe", "take", "inner", "probe", "middle", "probe", "interleaved"]
    assert order[: len(wanted)] == wanted, order
    # Since 3.11 one run of the interpreter's loop runs both: nothing stands between them.
    if sys.version_info >= (3, 11):
        python = [i for i, line in enumerate(lines) if line.startswith("P ")]
        assert python[1] - python[0] == 1, lines


def code_is_replaced():
    """Code objects come and go at the same address; stacks must not take one for another."""
    for i in range(3000):
        space = {"take": take}
        exec(compile(f"def made_{i}():\n{chr(10) * (i % 7)}  return take()\n", f"<made {i % 5}>", "exec"), space)
        space[f"made_{i}"]()


LIBRARY_CODE = """
def inner():
  return record(), truth(sys._getframe())

def outer():

  return inner()
"""


def line_of_the_program():
    """Python's frames alone, out to the innermost of the program's own file."""

    def check_line(stack, expected):
        lines = frames(stack)
        check(lines, expected)
        assert lines == python_part(lines), lines

    for library in (HOLDS_LOCK, GIVES_LOCK):
        record = library.probe_record_python_line
        stack, here = record(), truth(sys._getframe())
        check_line(stack, here[:1])
        names = {"record": record, "truth": truth, "sys": sys}
        exec(compile(LIBRARY_CODE, "/usr/lib/python3/dist-packages/library.py", "exec"), names)
        for name, depth in (("inner", 2), ("outer", 3)):
            stack, here = names[name]()
            check_line(stack, here[:depth])
        # Nothing of the program's own stands there.
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            stack, here = pool.submit(names["outer"]).result()
        check_line(stack, here)


def deep():
    def recurse(n):
        if n > 0:
            return recurse(n - 1)
        return frames(HOLDS_LOCK.probe_record())

    lines = recurse(700)
    assert lines[-1] == "N <cut>", lines[-3:]
    assert len(lines) == 257
    assert all("recurse|" in line for line in python_part(lines))


def thread_without_python():
    """A thread that never ran Python: only native frames."""
    libc = ctypes.CDLL(None)
    result = ctypes.c_void_p()
    thread = ctypes.c_ulong()

    def recorded(function):
        routine = ctypes.cast(function, ctypes.c_void_p)
        assert libc.pthread_create(ctypes.byref(thread), None, routine, None) == 0
        assert libc.pthread_join(thread, ctypes.byref(result)) == 0
        return (result.value or 0) & 0xFFFFFFFF

    lines = frames(recorded(GIVES_LOCK.probe_record))
    assert lines and not python_part(lines), lines
    assert recorded(GIVES_LOCK.probe_record_python_line) == 0


def limitations():
    buffer = ctypes.create_string_buffer(1 << 10)
    HOLDS_LOCK.probe_limitations(buffer, len(buffer))
    return buffer.value.decode().split()


def main():
    if limitations():
        assert not python_part(frames(HOLDS_LOCK.probe_record()))
        print("no", *limitations())
        return
    take()
    take_without_lock()
    nested(20)
    shape = Shape()
    shape.method()
    Shape.class_method()
    Shape.static_method()
    assert shape.value
    len(shape)
    sorted([Shape(), Shape(), Shape()])
    for _ in generator():
        pass
    (lambda: take())()
    [take() for _ in range(2)]
    list(map(lambda _: take(), range(2)))
    asyncio.run(tree(2))
    through_a_decorator()
    a_function_of_many_lines(1, 2)
    𐌀𐌁()
    interleaved()
    code_is_replaced()
    line_of_the_program()
    deep()
    thread_without_python()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: take_without_lock(), range(200)))
    threads = [threading.Thread(target=nested, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        raise ValueError
    except ValueError:
        take()
    exec(compile("take()", "<text>", "exec"), {"take": take})
    print("ok", compared)


main()
