# SPDX-License-Identifier: Apache-2.0
"""Takes stacks at the bottom of 20 Python functions.

usage: python_stack_cost.py LIBRARY PAIRS COUNT

Prints how many Python frames a stack has, then a line for each pair: ns of ours and of backtrace().
"""

import ctypes
import sys

library = ctypes.PyDLL(sys.argv[1])
library.python_record_ns.restype = ctypes.c_double
library.python_backtrace_ns.restype = ctypes.c_double
pairs, count = int(sys.argv[2]), int(sys.argv[3])


def measure():
    library.python_record_ns(100)
    print(library.python_frames())
    for _ in range(pairs):
        print(library.python_record_ns(count), library.python_backtrace_ns(count // 10))


def make(depth):
    """Functions of their own: recursion would meet one place in the code again and again."""
    source = ["def f0(): measure()"]
    source += [f"def f{i}():\n  x = {i}\n  f{i - 1}()\n  return x" for i in range(1, depth)]
    space = {"measure": measure}
    exec(compile("\n".join(source), "<stack>", "exec"), space)
    return space[f"f{depth - 1}"]


make(18)()  # and measure() and this module
