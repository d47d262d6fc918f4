# SPDX-License-Identifier: Apache-2.0
"""What decoding gives: spans, instants, lanes, and everything that was wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, Optional, TextIO, Union

import numpy as np

from . import _chrome, _perfetto, _statistics, _svg
from ._problems import Problem
from ._rows import (
    LANE_DTYPE,
    SPAN_DTYPE,
    Instant,
    Span,
    from_instants,
    from_spans,
    to_instants,
    to_spans,
)
from ._side import Layout, Names, NamesById, names_by_id


class TraceResult:
    """A decoded capture. `spans` and `instants` are lists of objects, made when they are first
    asked for; spans_array() and instants_array() have the same without one object for each."""

    def __init__(
        self,
        num_blocks: int,
        num_groups: int,
        spans: Union[Iterable[Span], Any] = (),
        instants: Union[Iterable[Instant], Any] = (),
        event_names: Optional[NamesById] = None,
        group_names: Optional[NamesById] = None,
        *,
        unmatched: Optional[Any] = None,
        lanes: Optional[Any] = None,
        problems: Iterable[Problem] = (),
        names: Optional[Names] = None,
        layout: Optional[Layout] = None,
        origin_ns: Optional[int] = None,
    ) -> None:
        self.num_blocks = num_blocks
        self.num_groups = num_groups
        self.names = names if names is not None else Names()
        self.names.events.update(names_by_id(event_names))
        self.names.groups.update(names_by_id(group_names))
        self.problems = list(problems)
        self.layout = layout  # what the side block states, where there is one
        self.origin_ns = origin_ns  # %globaltimer at time zero, where lanes have anchors
        self._unmatched = unmatched if unmatched is not None else np.zeros(0, dtype=SPAN_DTYPE)
        self._lanes = lanes if lanes is not None else np.zeros(0, dtype=LANE_DTYPE)
        self._span_rows: Any = None
        self._instant_rows: Any = None
        self._span_list: Optional[list[Span]] = None
        self._instant_list: Optional[list[Instant]] = None
        if isinstance(spans, np.ndarray):
            self._span_rows = spans
        else:
            self._span_list = list(spans)
        if isinstance(instants, np.ndarray):
            self._instant_rows = instants
        else:
            self._instant_list = list(instants)

    def __repr__(self) -> str:
        return (
            f"TraceResult({self.num_blocks} blocks, {self.num_groups} groups, "
            f"{len(self.spans_array())} spans, {len(self.instants_array())} instants, "
            f"{len(self.problems)} problems)"
        )

    # Once a list was handed out it may have been changed, so from then on it is what counts.
    @property
    def spans(self) -> list[Span]:
        if self._span_list is None:
            self._span_list = to_spans(self._span_rows)
        return self._span_list

    @spans.setter
    def spans(self, spans: Iterable[Span]) -> None:
        self._span_list = list(spans)

    @property
    def instants(self) -> list[Instant]:
        if self._instant_list is None:
            self._instant_list = to_instants(self._instant_rows)
        return self._instant_list

    @instants.setter
    def instants(self, instants: Iterable[Instant]) -> None:
        self._instant_list = list(instants)

    @property
    def unmatched(self) -> list[Span]:
        """Begins without an end, up to the lane's last record, and ends without a begin."""
        return to_spans(self._unmatched)

    def spans_array(self) -> Any:
        """The spans as a structured array: lane by lane, each in the order of begins."""
        return self._span_rows if self._span_list is None else from_spans(self._span_list)

    def instants_array(self) -> Any:
        if self._instant_list is None:
            return self._instant_rows
        return from_instants(self._instant_list)

    def unmatched_array(self) -> Any:
        return self._unmatched

    def lanes_array(self) -> Any:
        """One entry for each (block, group) that recorded something or was initialised."""
        return self._lanes

    @property
    def event_cost_ns(self) -> Optional[float]:
        """What recording one event took, where the capture says so. Every span has about that much
        of it."""
        cost_ps = self.layout.event_cost_ps if self.layout is not None else 0
        return cost_ps / 1e3 if cost_ps else None

    def event_name(self, event_id: int) -> str:
        return self.names.events.get(event_id, f"event_{event_id}")

    def group_name(self, group: int) -> str:
        return self.names.groups.get(group, f"group_{group}")

    def durations(self, by: str = "block") -> Any:
        """Statistics of spans by (block, group, event), or with by="group" by (group, event)."""
        return _statistics.durations(self.spans_array(), by)

    def summary(self) -> _statistics.Summary:
        """{(group, event): {count, mean_ns, median_ns, p90_ns, p99_ns, min_ns, max_ns, total_ns}}.
        Keys are names; pairs of ids are understood as well."""
        return _statistics.Summary(self)

    def print_durations(self, file: Optional[TextIO] = None) -> None:
        """A table of the summary, what an event costs and every problem, to standard output or `file`."""
        out = sys.stdout if file is None else file
        print(_statistics.table(self), file=out)
        if self.event_cost_ns is not None:
            print(
                f"recording an event takes {self.event_cost_ns:.1f} ns here: every span includes "
                "about that much",
                file=out,
            )
        for problem in self.problems:
            print(f"note: {problem.text}", file=out)

    def to_chrome_trace(self, path: Union[str, os.PathLike[str]]) -> Union[str, os.PathLike[str]]:
        """Chrome's JSON: a process for each block, a thread for each group. Returns the path."""
        _chrome.write(self, path)
        return path

    def to_perfetto(self, path: Union[str, os.PathLike[str]]) -> Union[str, os.PathLike[str]]:
        """Perfetto's own format for .perfetto-trace and .pftrace, else Chrome's JSON, which its
        page opens as well. Returns the path."""
        if os.fspath(path).endswith((".perfetto-trace", ".pftrace")):
            _perfetto.write(self, path)
        else:
            _chrome.write(self, path)
        return path

    def to_svg(
        self,
        path: Union[str, os.PathLike[str]],
        blocks: Optional[Iterable[int]] = None,
        start_ns: Optional[int] = None,
        end_ns: Optional[int] = None,
    ) -> Union[str, os.PathLike[str]]:
        """A picture for a page, which needs no viewer: of some blocks, the first four by default,
        between two times. Returns the path."""
        _svg.write(self, path, blocks, start_ns, end_ns)
        return path
