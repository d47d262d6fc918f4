# SPDX-License-Identifier: Apache-2.0
"""PyTorch: every kernel with the operator, the module and the line of the program behind it.

    import gpufl
    import gpufl.torch

    gpufl.init(app_name="training", profiling_engine=gpufl.ProfilingEngine.Trace)
    gpufl.torch.attach()
    for step in gpufl.torch.steps(loader, first=10, last=20):
        ...

Kernels of the backward pass have the line, the module and the scope of their forward operator.
docs/guide/pytorch.md shows what comes of it.
"""

from ._labels import attach, detach, is_attached
from ._steps import Steps, steps

__all__ = ["Steps", "attach", "detach", "is_attached", "steps"]
