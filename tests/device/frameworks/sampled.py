# SPDX-License-Identifier: Apache-2.0
"""sampled.py WHICH SECONDS [LOGS]: kernels for so long: PyTorch (plain, compiled, beside torch.profiler),
Triton, JAX or CuPy, without a word about GPUFlight; Triton beside Proton, with a session of its own in LOGS.
Prints "done" in the end; ends with 77 where the framework cannot be used here."""

import contextlib
import sys
import tempfile
import time

which, seconds = sys.argv[1], float(sys.argv[2])


def absent(error):
    print(f"{which}: {error}", file=sys.stderr)
    sys.exit(77)


def make_torch():
    import torch

    layers = torch.nn.Sequential(
        torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)
    ).cuda()
    optimizer = torch.optim.AdamW(layers.parameters())
    batch = torch.randn(512, 1024, device="cuda")

    def step():
        optimizer.zero_grad()
        layers(batch).square().mean().backward()
        optimizer.step()
        torch.cuda.synchronize()

    return step


def make_compiled():
    import torch

    @torch.compile
    def gelu_of_sum(a, b):
        return torch.nn.functional.gelu(a + b).sin() * a

    a, b = (torch.randn(4096, 4096, device="cuda") for _ in range(2))

    def step():
        gelu_of_sum(a, b)
        torch.cuda.synchronize()

    return step


def make_triton():
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def sampled_triton_kernel(pointer, size, rounds, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        values = tl.load(pointer + at, mask=at < size)
        for _ in range(rounds):
            values = tl.sqrt(values * values + 1.0)  # the hot line
        tl.store(pointer + at, values, mask=at < size)

    values = torch.zeros(1 << 22, device="cuda")

    def step():
        sampled_triton_kernel[(values.numel() // 1024,)](values, values.numel(), 50, BLOCK=1024)
        torch.cuda.synchronize()

    return step


def make_jax():
    import jax
    import jax.numpy as jnp

    if jax.default_backend() != "gpu":
        absent("JAX sees no GPU")
    compute = jax.jit(lambda values: jnp.sin(values @ values) * 2 + 1)
    values = jnp.ones((2048, 2048))
    return lambda: compute(values).block_until_ready()


def make_cupy():
    import cupy

    kernel = cupy.RawKernel(
        'extern "C" __global__ void sampled_cupy_kernel(float* v, int rounds) '
        "{ float x = v[threadIdx.x]; for (int i = 0; i < rounds; ++i) x = sqrtf(x * x + 1); "
        "v[threadIdx.x] = x; }",
        "sampled_cupy_kernel",
    )
    values = cupy.zeros(256, dtype=cupy.float32)

    def step():
        kernel((264,), (256,), (values, cupy.int32(2000)))
        cupy.cuda.get_current_stream().synchronize()

    return step


@contextlib.contextmanager
def torch_profiler():
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]):
        yield


@contextlib.contextmanager
def proton():
    try:
        import gpufl
        import triton.profiler
    except ImportError as error:
        absent(error)
    with tempfile.TemporaryDirectory() as folder:
        # CUPTI takes one subscriber, and Proton raises where it comes second.
        triton.profiler.start(f"{folder}/proton")
        engine = gpufl.ProfilingEngine.PcSampling
        with gpufl.session(app_name="proton", log_path=sys.argv[3], profiling_engine=engine):
            yield
        triton.profiler.finalize()


# By name: what makes the step, and what else is there while it runs.
PROGRAMS = {
    "torch": (make_torch, contextlib.nullcontext),
    "compiled": (make_compiled, contextlib.nullcontext),
    "triton": (make_triton, contextlib.nullcontext),
    "jax": (make_jax, contextlib.nullcontext),
    "cupy": (make_cupy, contextlib.nullcontext),
    "torch_profiler": (make_torch, torch_profiler),
    "proton": (make_triton, proton),
}

make, beside = PROGRAMS[which]
try:
    step = make()
except ImportError as error:
    absent(error)
with beside():
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        step()
print("done")
