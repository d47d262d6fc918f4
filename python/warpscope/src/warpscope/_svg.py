# SPDX-License-Identifier: Apache-2.0
"""A picture of lanes that needs no viewer: one SVG file, in light and in dark colours, whose size is
bounded by its width, whatever the capture holds."""

from __future__ import annotations

import html
import math
import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from ._drawing import Line, block_name, details, lines, sms, span_name
from ._rows import Span

if TYPE_CHECKING:
    from ._result import TraceResult

DEFAULT_BLOCKS = 4
_WIDTH, _LABELS, _MARGIN = 960, 130, 10
_ROW, _ROW_GAP, _BLOCK, _AXIS, _TITLE, _LEGEND = 18, 3, 22, 20, 24, 22
_NESTED = 3  # each level is drawn this much smaller on either side
_SMALLEST = 0.5  # pixels of what would be narrower
_CHARACTER = 6.3  # about as wide as one of 11 pixels is
_TICKS = 8
# Fills by event, for light and dark paper: told apart by those who see few colours, too.
_FILLS = (
    ("#8ab8e6", "#3d75ad"), ("#f2b266", "#b3691a"), ("#7fc9a4", "#2b8a5e"), ("#d9a3cf", "#96538a"),
    ("#ece07a", "#8f8420"), ("#e89a8c", "#b04f3d"), ("#a3d5e6", "#3d8aa3"), ("#c2b4ea", "#6a58a8"),
)  # fmt: skip
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_WAIT = ("#dfe3e8", "#3a434d")  # waiting is drawn as what it is: nothing much


def write(
    result: TraceResult,
    path: Union[str, os.PathLike[str]],
    blocks: Optional[Iterable[int]],
    start_ns: Optional[int],
    end_ns: Optional[int],
) -> None:
    picture = _Picture(result, blocks, start_ns, end_ns)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(picture.elements()) + "\n")


class _Picture:
    def __init__(
        self,
        result: TraceResult,
        blocks: Optional[Iterable[int]],
        start_ns: Optional[int],
        end_ns: Optional[int],
    ) -> None:
        self.result = result
        recorded = np.unique(result.lanes_array()["block"]).tolist()
        if not recorded:  # a result that was made by hand has no lanes
            recorded = np.unique(result.spans_array()["block"]).tolist()
        wanted = recorded[:DEFAULT_BLOCKS] if blocks is None else list(blocks)
        missing = sorted(set(wanted) - set(recorded))
        if missing:
            there = f"{len(recorded)} blocks, {recorded[0]} to {recorded[-1]}" if recorded else "none"
            raise ValueError(f"block {missing[0]} is not in the capture, which has {there}")
        self.lines = list(lines(result, wanted, apart=True))
        times = [
            *((span.begin_ns, span.end_ns) for line in self.lines for span in line.spans),
            *((mark.ts_ns, mark.ts_ns) for line in self.lines for mark in line.instants),
        ]
        if not times:
            raise ValueError(_nothing_recorded(result, wanted))
        first, last = min(begin for begin, _ in times), max(end for _, end in times)
        self.start_ns = start_ns if start_ns is not None else first
        if end_ns is not None and end_ns <= self.start_ns:
            raise ValueError(f"a picture that ends at {end_ns} ns begins before {self.start_ns} ns")
        self.end_ns = max(end_ns if end_ns is not None else last, self.start_ns + 1)
        if not any(self.shows(begin, end) for begin, end in times):
            before = max((end for _, end in times if end < self.start_ns), default=None)
            after = min((begin for begin, _ in times if begin > self.start_ns), default=None)
            gap = f", with nothing between {before} and {after} ns"
            raise ValueError(
                f"nothing was recorded from {self.start_ns} ns on"
                + (f" to {end_ns} ns" if end_ns is not None else "")
                + f": these blocks go from {first} to {last} ns"
                + (gap if before is not None and after is not None else "")
            )
        self.events: set[int] = set()

    def shows(self, begin_ns: int, end_ns: int) -> bool:
        return begin_ns <= self.end_ns and end_ns >= self.start_ns

    def x(self, ns: float) -> float:
        room = _WIDTH - _LABELS - _MARGIN
        return _LABELS + (ns - self.start_ns) / (self.end_ns - self.start_ns) * room

    def elements(self) -> Iterator[str]:
        body, height = self.body()
        legend = list(self.legend(height))
        height += _LEGEND + _MARGIN
        name = _text(self.result.names.kernel or "kernel")
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
            f'width="{_WIDTH}" height="{height}" role="img" aria-label="{name}, by warp group">'
        )
        yield f"<style>{self.style()}</style>"
        yield f'<rect class="paper" width="{_WIDTH}" height="{height}"/>'
        yield f'<text class="title" x="{_MARGIN}" y="17">{name}</text>'
        yield from self.axis(height - _LEGEND - _MARGIN)
        yield from body
        yield from legend
        yield "</svg>"

    def body(self) -> tuple[list[str], int]:
        found = []
        y, block = _TITLE + _AXIS, -1
        sm_of_block = sms(self.result)
        for line in self.lines:
            if line.block != block:
                block = line.block
                text = _text(block_name(block, sm_of_block.get(block)))
                found.append(f'<text class="block" x="{_MARGIN}" y="{y + 15}">{text}</text>')
                y += _BLOCK
            if line.number == 0:
                name = _fitted(self.result.group_name(line.group), _LABELS - 2 * _MARGIN)
                found.append(f'<text x="{2 * _MARGIN}" y="{y + 13}">{_text(name)}</text>')
            found += self.draw(line, y)
            y += _ROW + _ROW_GAP
        return found, y

    def draw(self, line: Line, y: int) -> Iterator[str]:
        around: list[Span] = []
        narrow: dict[tuple[int, int], int] = {}  # the last one by event and depth, in half pixels
        for span in line.spans:
            while around and around[-1].end_ns <= span.begin_ns:
                around.pop()
            depth = min(len(around), (_ROW // 2 - 1) // _NESTED)
            around.append(span)
            if not self.shows(span.begin_ns, span.end_ns):
                continue
            left = self.x(max(span.begin_ns, self.start_ns))
            width = self.x(min(span.end_ns, self.end_ns)) - left
            if width < _SMALLEST:
                place = math.floor(left / _SMALLEST)
                if narrow.get((span.event_id, depth)) == place:
                    continue
                narrow[span.event_id, depth] = place
                width = _SMALLEST
            yield from self.bar(span, left, width, y + depth * _NESTED, _ROW - 2 * depth * _NESTED)
        for instant in line.instants:
            if self.shows(instant.ts_ns, instant.ts_ns):
                at = self.x(instant.ts_ns)
                name = _text(self.result.event_name(instant.event_id))
                yield (
                    f'<path class="mark" d="M{at:.1f} {y}v{_ROW}"><title>{name} at '
                    f"{_time(instant.ts_ns)}{_notes(instant)}</title></path>"
                )

    def bar(self, span: Span, left: float, width: float, y: int, height: int) -> Iterator[str]:
        self.events.add(span.event_id)
        name = _text(span_name(self.result, span))
        yield (
            f'<rect class="e{span.event_id}" x="{left:.1f}" y="{y}" width="{width:.1f}" '
            f'height="{height}"><title>{name}: {_time(span.dur_ns)} at {_time(span.begin_ns)}'
            f"{_notes(span)}</title></rect>"
        )
        text = self.result.event_name(span.event_id)
        if width >= len(text) * _CHARACTER + 8:
            text = _text(text)
            yield f'<text class="in" x="{left + 4:.1f}" y="{y + height // 2 + 4}">{text}</text>'

    def axis(self, bottom: int) -> Iterator[str]:
        step = _round_step((self.end_ns - self.start_ns) / _TICKS)
        for n in range(math.ceil(self.start_ns / step), math.floor(self.end_ns / step) + 1):
            x = self.x(n * step)
            yield f'<path class="grid" d="M{x:.1f} {_TITLE + _AXIS - 4}V{bottom}"/>'
            anchor = ' text-anchor="end"' if x > _WIDTH - 60 else ""
            yield f'<text class="tick" x="{x:.1f}" y="{_TITLE + 11}"{anchor}>{_time(n * step)}</text>'

    def legend(self, y: int) -> Iterator[str]:
        x = float(_LABELS)
        for event in sorted(self.events):
            name = self.result.event_name(event)
            wide = 22 + len(name) * _CHARACTER
            if x + wide > _WIDTH - _MARGIN:
                break
            yield f'<rect class="e{event}" x="{x:.0f}" y="{y + 8}" width="12" height="12"/>'
            yield f'<text x="{x + 16:.0f}" y="{y + 18}">{_text(name)}</text>'
            x += wide + 12

    def style(self) -> str:
        waits = set(self.result.names.waits)
        working = [event for event in sorted(self.events) if event not in waits]
        fills = {event: _FILLS[i % len(_FILLS)] for i, event in enumerate(working)}

        def colors(which: int) -> str:
            return "".join(
                f".e{event}{{fill:{fills.get(event, _WAIT)[which]}}}"
                for event in sorted(self.events)
            )

        return (
            "text{font:11px system-ui,sans-serif;fill:#3d4650}.title{font-size:13px;font-weight:600}"
            ".block{font-weight:600}.tick{fill:#6b7580}.grid{stroke:#e3e7eb}.in{fill:#10141a}"
            ".paper{fill:#fff}.mark{stroke:#c2410c;stroke-width:1.5}"
            + colors(0)
            + "@media(prefers-color-scheme:dark){text{fill:#c3ccd5}.tick{fill:#8b96a1}"
            ".grid{stroke:#2a323b}.in{fill:#fff}.paper{fill:#14181d}.mark{stroke:#ff9b63}"
            + colors(1)
            + "}"
        )


def _nothing_recorded(result: TraceResult, blocks: list[int]) -> str:
    rows = (result.spans_array(), result.unmatched_array(), result.instants_array())
    recorded = sorted({block for part in rows for block in np.unique(part["block"]).tolist()})
    if recorded:
        named = ", ".join(map(str, blocks[:DEFAULT_BLOCKS])) or "none"
        return (
            f"the chosen blocks ({named}{', …' if len(blocks) > DEFAULT_BLOCKS else ''}) have no "
            f"record to draw: choose others, such as block {recorded[0]}"
        )
    return (
        "the capture has no record to draw: launch the kernel with its buffer, and read it when the "
        "kernel has ended"
    )


def _round_step(wanted: float) -> int:
    power = 10 ** math.floor(math.log10(max(wanted, 1)))
    return int(next(n * power for n in (1, 2, 5, 10) if n * power >= wanted))


def _time(ns: int) -> str:
    for size, unit in ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")):
        if abs(ns) >= size:
            return f"{ns / size:.4g} {unit}"
    return f"{ns} ns"


def _fitted(text: str, width: float) -> str:
    room = int(width / _CHARACTER)
    return text if len(text) <= room else text[: room - 1] + "…"


def _text(text: str) -> str:
    return html.escape(_NOT_XML.sub("\ufffd", text))


def _notes(row: Any) -> str:
    return "".join(f", {name} {value}" for name, value in details(row).items())
