# SPDX-License-Identifier: Apache-2.0
import triton
import triton.language as tl


@triton.jit
def scale(x, factor):
    return x * factor


@triton.jit
def softmax_rows(out, inp, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(inp + row * columns + at, mask=at < columns, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    top = tl.exp(scale(x, 0.5))
    tl.store(out + row * columns + at, top / tl.sum(top, axis=0), mask=at < columns)
