# SPDX-License-Identifier: Apache-2.0
"""Sessions that gpufl recorded, as DataFrames and as answers."""

from gpufl.analyzer._insight import Evidence, Insight
from gpufl.analyzer._session import Diff, GpuFlightSession, find_sessions

__all__ = ["Diff", "Evidence", "GpuFlightSession", "Insight", "find_sessions"]
