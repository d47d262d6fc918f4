# SPDX-License-Identifier: Apache-2.0
"""orders.py FOLDER ORDER: a session of its own and PyTorch, in one order or another, with or without
PyTorch's own profiler. Prints how many kernels that profiler saw, and how many it launched while the
session ran."""

import sys

folder, order = sys.argv[1:]

if order == "gpufl_first":
    import torch_session

    session = torch_session.Session(folder).__enter__()
    import torch
else:
    import torch
    import torch_session


def work(steps):
    values = torch.ones(4096, device="cuda")
    for _ in range(steps):
        values = values * 1.5
    torch.cuda.synchronize()


def profiled(body):
    """How many kernels torch.profiler saw while `body` ran."""
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profiler:
        body()
    return sum(
        event.device_type == torch.autograd.DeviceType.CUDA and "elementwise" in event.name
        for event in profiler.events()
    )


def traced(body):
    with torch_session.Session(folder):
        body()


seen = 0
if order == "gpufl_first":
    work(100)
    session.__exit__()
elif order == "torch_first":
    work(10)
    traced(lambda: work(100))
elif order == "profiler_before":
    seen = profiled(lambda: work(50))
    traced(lambda: work(100))
elif order == "profiler_after":
    traced(lambda: work(100))
    seen = profiled(lambda: work(50))
elif order == "profiler_inside":  # the profiler begins while a session runs
    results = []
    traced(lambda: (work(100), results.append(profiled(lambda: work(50))), work(30)))
    seen = results[0]
elif order == "profiler_around":  # a session begins while the profiler runs
    seen = profiled(lambda: traced(lambda: work(50)))
else:
    sys.exit(f"no such order: {order}")
work(10)
print(seen)
