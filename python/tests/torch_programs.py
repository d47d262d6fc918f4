# SPDX-License-Identifier: Apache-2.0
"""Programs with PyTorch that tests run with labels, and what their sessions say."""

import os
import pathlib

import pytest
from conftest import events, run_python
from gpufl.analyzer import GpuFlightSession

STANDIN = os.environ.get("STANDIN_CUPTI", "")
HERE = str(pathlib.Path(__file__).parent)

PRELUDE = f"""
import os
import sys
sys.path.insert(0, {HERE!r})
import threading
import gpufl

def session():
    # Ranges need no engine, kernels the stand-in.
    engine = "Trace" if "GPUFL_CUPTI_LIBRARY" in os.environ else "Monitor"
    return gpufl.session(app_name="t", log_path="logs", backend=gpufl.BackendKind.Nvidia,
                         profiling_engine=getattr(gpufl.ProfilingEngine, engine))

if "GPUFL_CUPTI_LIBRARY" in os.environ:
    # Before PyTorch brings a libcupti of its own.
    from standin_cupti import launcher
    session().__enter__()
    launch = launcher(os.environ["GPUFL_CUPTI_LIBRARY"])
import gpufl.torch
import torch
from torch import nn
"""

# An operator whose forward and backward pass each launch a kernel.
OPERATOR = """
@torch.library.custom_op("demo::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    launch("scale_kernel")
    return x * 2

@torch.library.custom_op("demo::scale_back", mutates_args=())
def scale_back(grad: torch.Tensor) -> torch.Tensor:
    launch("scale_back_kernel")
    return grad * 2

scale.register_autograd(lambda ctx, grad: torch.ops.demo.scale_back(grad))
scale, scale_back = torch.ops.demo.scale, torch.ops.demo.scale_back

class Block(nn.Module):
    def forward(self, x):
        return scale(x)  # line: scale

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block()
        self.rest = nn.ModuleList([Block()])

    def forward(self, x):
        return self.rest[0](self.first(x)) + 1
"""


def run_program(code, **variables):
    """Runs a program in a file, whose lines are the program's own; what it printed."""
    path = pathlib.Path("program.py")
    path.write_text(PRELUDE + code, encoding="utf-8")
    return run_python(f"import runpy; runpy.run_path({str(path)!r})", **variables)


def run_labelled(code, operators=False):
    """run_program() of one with a session: that, the lines of the program, what it printed."""
    code = (OPERATOR if operators else "") + code
    printed = run_program(code, **({"GPUFL_CUPTI_LIBRARY": STANDIN} if operators else {}))
    return GpuFlightSession("logs"), (PRELUDE + code).splitlines(), printed


def check_all_ended():
    """Of the ranges of the one session, each that began."""
    (ledger,) = events(pathlib.Path("logs"), "ledger")
    assert ledger["markers_unclosed"] == 0
    assert ledger["markers_unmatched"] == 0


def line_of(text, mark):
    (number,) = [i for i, line in enumerate(text, 1) if mark in line]
    return f"program.py:{number} in "


def ops(session):
    markers = session.markers
    return markers[markers["domain"] == "torch.op"].sort_values("start_ns", kind="stable")


needs_standin = pytest.mark.skipif(not STANDIN, reason="STANDIN_CUPTI names no library")
