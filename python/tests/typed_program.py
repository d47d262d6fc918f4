# SPDX-License-Identifier: Apache-2.0
"""For test_typing.py: what a type checker is to make of gpufl. Never run. Lines that end in an
expected error have to be errors, and no others may be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import gpufl
import gpufl.viz as viz
from gpufl.analyzer import GpuFlightSession, Insight
from gpufl.report import TextReport, generate_report

options = gpufl.InitOptions(app_name="x", log_path=Path("logs"), log_window_mb=3)
options.backend = gpufl.BackendKind.None_
options.log_path = Path("x")
name: str = options.app_name
rate: int = options.system_sample_rate_ms
enabled: bool = options.enabled
budget: float = options.overhead_budget
engine: gpufl.ProfilingEngine = options.profiling_engine
options.log_window_mb = "3"  # error
gpufl.InitOptions(nonsense=3)  # error

started: bool = gpufl.init(
    "x", Path("logs"), options=options, profiling_engine=gpufl.ProfilingEngine.Trace
)
gpufl.init(app_name=3)  # error
gpufl.init(profiling_engine="Trace")  # error
gpufl.init(backend=gpufl.BackendKind.Nobody)  # error

with gpufl.Scope("a", "b") as scope:
    scope_name: str = scope.name
for i in gpufl.Scope("bench", repeat=3, warmup=1):
    index: int = i
gpufl.Scope("deep", deep=True)
gpufl.Scope(3)  # error
with gpufl.deep_window(500, 100, cooldown_ms=1000, name="slow step") as window:
    was_opened: bool = window.opened
gpufl.deep_window("500")  # error
gpufl.deep_window_close()
is_open: bool = gpufl.deep_window_active()


@gpufl.Scope("f")
def function(value: int) -> str:
    return str(value)


@gpufl.scope("g", "tag")
def generator() -> Iterator[int]:
    yield 1


@gpufl.scope("h")
async def coroutine(value: float) -> float:
    return value


@gpufl.scope("i")
async def asynchronous_generator() -> AsyncIterator[int]:
    yield 1


text: str = function(3)
function("3")  # error
total: int = sum(generator())
number: float = asyncio.run(coroutine(2.0))
stream: AsyncIterator[int] = asynchronous_generator()

with gpufl.session(app_name="y", enabled=False) as session:
    active: bool = session.active
    folder: Path | None = session.log_dir

gpufl.counter("tokens").add(3)
gpufl.tick("x", 2)
success: bool = gpufl.upload_logs("x").success
cleaned = gpufl.clean_logs("logs", dry_run=True)
size: int = cleaned.bytes
paths: list[Path] = cleaned.deleted
gpufl.system_start("a")
gpufl.system_stop("a")
gpufl.pause()
gpufl.resume()
gpufl.shutdown()
gpufl.generate_report(Path("x.txt"))

recorded = GpuFlightSession("logs", log_prefix="x", session_id=None)
rows: int = len(recorded.kernels)
insights: list[Insight] = recorded.insights()
TextReport(recorded, top_n=3).print()
report: str = generate_report("logs", log_prefix="x", top_n=10, output_path=None)
viz.init("logs/*.log")
for figure in viz.show().values():
    figure.savefig("x.png")
