# SPDX-License-Identifier: Apache-2.0
"""How gpufl.viz draws: sizes, colours, labels. matplotlib is imported when something is drawn."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from gpufl import _core
from gpufl._optional import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH_IN = 11.0
INK, FAINT, REST_COLOR = "#1f2933", "#d7dde3", "#aab4bd"
# Told apart by most people with a colour vision deficiency too.
COLORS = (
    "#3b78b5", "#e8923a", "#4fa56b", "#c9504c", "#8a6fb8",
    "#8d6e5a", "#d487b8", "#7a8288", "#b3ae3c", "#3fafc1",
)  # fmt: skip
# A line of a picture: its unit, label, series of the report, and what its values are multiplied by.
Line = tuple[str, str, dict[str, Any], float]


def pyplot() -> Any:
    return optional("matplotlib.pyplot", "pictures", "viz")


def new_figure(title: str, height_in: float, rows: int = 1) -> tuple[Figure, Any]:
    """A figure on white, whatever style is in use, with `rows` axes that share time."""
    plt = pyplot()
    with plt.style.context("default"):
        figure, axes = plt.subplots(
            rows, 1, figsize=(_WIDTH_IN, height_in), layout="constrained", sharex=True
        )
    figure.patch.set_facecolor("white")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold", color=INK)
    for one in figure.axes:
        for side in ("top", "right"):
            one.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            one.spines[side].set_color(FAINT)
        one.tick_params(colors=INK, labelsize=9)
        one.grid(axis="x", color=FAINT, linewidth=0.6)
        one.set_axisbelow(True)
    return figure, axes


def add_legend(figure: Figure, entries: list[tuple[str, str]]) -> None:
    """Colours and what they stand for, below the axes."""
    from matplotlib.patches import Patch

    labels = short_texts((label for _, label in entries), 44)
    handles = [Patch(facecolor=color, label=label) for (color, _), label in zip(entries, labels)]
    if handles:
        figure.legend(handles=handles, loc="outside lower left", ncols=3, fontsize=8, frameon=False)


def annotate_bars(axes: Axes, ends: list[float], texts: list[str]) -> None:
    """A text at the end of each horizontal bar."""
    for row, (end, text) in enumerate(zip(ends, texts)):
        axes.annotate(
            text, (end, row), xytext=(5 if end >= 0 else -5, 0), textcoords="offset points",
            ha="left" if end >= 0 else "right", va="center", fontsize=8, color=INK,
        )  # fmt: skip


def label_block(
    axes: Axes, text: str, start: float, width: float, row: float, whole: float
) -> None:
    """The text inside a block, as much of it as fits; nothing where too little fits."""
    letters = int(width / whole * 150)
    if letters >= 4:
        axes.text(
            start + width / 2, row, short_text(text, letters), ha="center", va="center",
            fontsize=8, color="white",
        )  # fmt: skip


def series_figure(
    title: str, duration_ns: int, lines: list[Line], ceilings: dict[str, float]
) -> Figure | None:
    """Values over time, one axes for each unit; a band from the least to the greatest value."""
    lines = [line for line in lines if line[2]["points"]]
    if not lines:
        return None
    units = list(dict.fromkeys(unit for unit, *_ in lines))
    figure, _ = new_figure(title, 1.0 + 2.1 * len(units), len(units))
    factor, time_name = time_unit(duration_ns)
    for axes, unit in zip(figure.axes, units):
        of_unit = [line for line in lines if line[0] == unit]
        for color, (_, label, series, scale) in zip(COLORS * len(of_unit), of_unit):
            times, least, mean, most = zip(*series["points"])
            times = [time * factor for time in times]
            axes.plot(times, [value * scale for value in mean], color=color, label=label, lw=1.5)
            axes.fill_between(
                times, [value * scale for value in least], [value * scale for value in most],
                color=color, alpha=0.18, linewidth=0,
            )  # fmt: skip
        axes.set_ylabel(unit, color=INK)
        axes.set_ylim(0, max(axes.get_ylim()[1], ceilings.get(unit, 0) * 1.02))
        axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.axes[-1].set_xlim(0, duration_ns * factor)
    figure.axes[-1].set_xlabel(f"time since the session began ({time_name})")
    return figure


def time_unit(longest_ns: float) -> tuple[float, str]:
    """What nanoseconds are multiplied by, and the unit that they then have."""
    for limit, factor, name in ((2e3, 1.0, "ns"), (2e6, 1e-3, "µs"), (2e9, 1e-6, "ms")):
        if longest_ns < limit:
            return factor, name
    return 1e-9, "s"


def byte_unit(most_bytes: float) -> tuple[float, str]:
    """What bytes are multiplied by, and the unit that they then have."""
    for power, name in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if most_bytes >= 2**power:
            return 2.0**-power, name
    return 1.0, "B"


def duration_text(ns: float) -> str:
    factor, name = time_unit(2 * ns)  # from 1,000 of a unit on it is the next one's
    return f"{ns * factor:.4g} {name}"


def short_text(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def short_texts(texts: Iterable[str], most: int = 56) -> list[str]:
    """Cut as the report cuts them: those that differ still do."""
    return _core.cut_names(list(texts), most)


def end_of_text(text: str, most: int = 90) -> str:
    return text if len(text) <= most else "…" + text[-most + 1 :]


def color_of_text(text: str, taken: Collection[str]) -> str:
    """The same colour for the same text in every picture, unless it is taken."""
    first = zlib.crc32(text.encode()) % len(COLORS)
    colors = COLORS[first:] + COLORS[:first]
    return next((color for color in colors if color not in taken), colors[0])
