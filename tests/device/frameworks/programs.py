# SPDX-License-Identifier: Apache-2.0
"""programs.py FOLDER WHICH: ten launches of a kernel of its own in a scope `work`, with stacks, in
Triton, JAX, CuPy or Numba. Prints the number of the line that launches, and ends with 77 where the
framework cannot be used here."""

import inspect
import pathlib
import sys

import gpufl

folder, which = sys.argv[1:]
LAUNCHES = 10


def absent(error):
    print(f"{which}: {error}", file=sys.stderr)
    sys.exit(77)


def make_triton():
    try:
        import torch
        import triton
        import triton.language as tl
    except ImportError as error:
        absent(error)

    @triton.jit
    def gpufl_triton_kernel(pointer, size, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(pointer + at, tl.load(pointer + at, mask=at < size) + 1, mask=at < size)

    values = torch.zeros(4096, device="cuda")

    def launch():
        gpufl_triton_kernel[(4,)](values, 4096, BLOCK=1024)  # launches

    def check():
        assert values.sum().item() == 4096 * (LAUNCHES + 1)

    return launch, check


def make_jax():
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as error:
        absent(error)
    if jax.default_backend() != "gpu":
        absent("JAX sees no GPU")
    step = jax.jit(lambda values: jnp.sin(values) * 2 + 1)
    state = [jnp.zeros(4096)]

    def launch():
        state[0] = step(state[0]).block_until_ready()  # launches

    def check():
        assert state[0].shape == (4096,)

    return launch, check


def make_cupy():
    try:
        import cupy
    except ImportError as error:
        absent(error)
    kernel = cupy.RawKernel(
        'extern "C" __global__ void gpufl_cupy_kernel(float* v) '
        "{ v[blockIdx.x * blockDim.x + threadIdx.x] += 1; }",
        "gpufl_cupy_kernel",
    )
    values = cupy.zeros(4096, dtype=cupy.float32)

    def launch():
        kernel((16,), (256,), (values,))  # launches

    def check():
        assert float(values.sum()) == 4096 * (LAUNCHES + 1)

    return launch, check


def make_numba():
    try:
        import numpy

        # What Numba still looks for in a NumPy that has taken it out.
        removed = {"row_stack": "vstack", "in1d": "isin", "trapz": "trapezoid"}
        for name, successor in removed.items():
            if not hasattr(numpy, name):
                setattr(numpy, name, getattr(numpy, successor))
        from numba import cuda
    except ImportError as error:
        absent(error)

    @cuda.jit
    def gpufl_numba_kernel(values):
        values[cuda.grid(1)] += 1

    values = cuda.to_device(numpy.zeros(4096, numpy.float32))

    def launch():
        gpufl_numba_kernel[16, 256](values)  # launches

    def check():
        assert values.copy_to_host().sum() == 4096 * (LAUNCHES + 1)

    return launch, check


launch, check = globals()[f"make_{which}"]()
try:
    launch()  # compiles
except Exception as error:  # what a framework raises without a driver it likes is its own affair
    absent(error)
assert gpufl.init(
    app_name=which,
    log_path=folder,
    profiling_engine=gpufl.ProfilingEngine.Trace,
    enable_stack_trace=True,
)
for _ in range(LAUNCHES):
    with gpufl.Scope("work"):
        launch()
check()
gpufl.shutdown()
first = inspect.getsourcelines(launch)[1]
lines = pathlib.Path(__file__).read_text(encoding="utf-8").splitlines()
print(next(i for i, line in enumerate(lines, 1) if i > first and line.endswith("# launches")))
