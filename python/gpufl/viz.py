# SPDX-License-Identifier: Apache-2.0
"""A session as pictures.

    import gpufl.viz as viz

    viz.init("./logs")
    viz.show()

Every function of a picture returns a matplotlib Figure, or None where the session has nothing for
it. Figures come from the C++ core; pictures of millions of kernels are as quick as small ones.
"""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpufl._drawing import (
    COLORS,
    INK,
    REST_COLOR,
    Line,
    add_legend,
    annotate_bars,
    byte_unit,
    color_of_text,
    duration_text,
    end_of_text,
    label_block,
    new_figure,
    pyplot,
    series_figure,
    short_texts,
    time_unit,
)
from gpufl.analyzer import Diff, GpuFlightSession, find_sessions
from gpufl.analyzer._session import checked_rows, choose_session

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "compare",
    "figures",
    "init",
    "kernel_table",
    "memory",
    "scope_flame",
    "show",
    "stall_bars",
    "timeline",
    "utilization",
]

Source = GpuFlightSession | str | os.PathLike[str]

_MAX_BLOCKS = 6000  # of a timeline: more than a screen has columns
_MAX_ROWS = 40
_LEAST_EDGED = 1 / 200  # of a timeline: blocks of some pixels
_LONGEST_CHANGE_PCT = 200.0

_session: GpuFlightSession | None = None


def init(
    pattern: Source, log_prefix: str | None = None, session_id: str | None = None
) -> GpuFlightSession:
    """Chooses what is shown: a session, or the newest in a log folder or of a pattern ("./logs/*.log")."""
    global _session
    _session = _open(pattern, log_prefix, session_id)
    return _session


def _open(
    source: Source, log_prefix: str | None = None, session_id: str | None = None
) -> GpuFlightSession:
    if isinstance(source, GpuFlightSession):
        return source
    path = Path(source)
    if path.exists() or not glob.has_magic(str(path)):
        return GpuFlightSession(_folder_of(path), log_prefix, session_id)
    folders = {_folder_of(Path(match)) for match in glob.glob(str(path))}
    found = {s["path"]: s for folder in folders for s in find_sessions(folder)}
    if found:
        sessions = sorted(found.values(), key=lambda session: session["session_id"])
        return GpuFlightSession(choose_session(sessions, path, log_prefix, session_id))
    # "./logs/*.log" of sessions that are folders in ./logs.
    if path.suffix != ".log":
        raise FileNotFoundError(f"{source}: there is no session of that name")
    while glob.has_magic(str(path)):
        path = path.parent
    return GpuFlightSession(path, log_prefix, session_id)


def _folder_of(path: Path) -> Path:
    """Sessions are folders: a file stands for the folder that it is in."""
    return path.parent if path.is_file() else path


def _chosen(session: Source | None) -> GpuFlightSession:
    if session is not None:
        return _open(session)
    if _session is None:
        raise RuntimeError('call viz.init("./logs") first, or pass the session')
    return _session


def figures(session: Source | None = None) -> dict[str, Figure]:
    """Every picture that the session has something for, by the name of its function."""
    chosen = _chosen(session)
    made = {picture.__name__: picture(chosen) for picture in _PICTURES}
    return {name: figure for name, figure in made.items() if figure is not None}


def show(session: Source | None = None) -> dict[str, Figure]:
    """Shows these figures: in a notebook below the cell, else in windows where there is a display."""
    made = figures(session)
    if not made:
        print("There is nothing to show: the session has no GPU work, metrics, scopes or samples.")
        return made
    import matplotlib

    backend = matplotlib.get_backend().lower()
    if "inline" in backend or backend not in ("agg", "pdf", "ps", "svg", "template", "cairo"):
        pyplot().show()
    return made


# --- Pictures


def timeline(session: Source | None = None) -> Figure | None:
    """What ran when, rows for each stream of a GPU and each thread of the host."""
    tracks = []
    labelled = None
    for group, name, rows in _chosen(session)._core.timeline(_MAX_BLOCKS):
        for row in filter(None, rows):
            # A stream or thread has a track for each kind of event; the first row names it.
            tracks.append((f"{group}\n{name}" if labelled != (group, name) else "", row))
            labelled = (group, name)
    if not tracks:
        return None
    all_rows = len(tracks)
    tracks = tracks[:_MAX_ROWS]
    end_ns = max(block[1] for _, row in tracks for block in row)
    factor, unit = time_unit(end_ns)
    time_by_label: dict[str, int] = {}
    for _, row in tracks:
        for start, end, label, _ in row:
            time_by_label[label] = time_by_label.get(label, 0) + end - start
    longest = sorted(time_by_label, key=lambda label: -time_by_label[label])
    color_of = {label: COLORS[i] for i, label in enumerate(longest[: len(COLORS) - 1])}
    title = "Timeline"
    if len(tracks) < all_rows:
        title += f" (the first {len(tracks)} of {all_rows} rows)"
    figure, axes = new_figure(title, 1.4 + 0.42 * len(tracks))
    for y, (_, row) in enumerate(tracks):
        # Where there are few, each is to be seen; where there are many, gaps are to be true.
        least = end_ns / 1000 if len(row) < 100 else 1
        widths = [max(end - start, least) for start, end, _, _ in row]
        axes.broken_barh(
            [(start * factor, width * factor) for (start, *_), width in zip(row, widths)],
            (y - 0.38, 0.76),
            facecolors=[color_of.get(label, REST_COLOR) for _, _, label, _ in row],
            # Those of one colour that follow each other are told apart; thin ones would vanish.
            edgecolors="white",
            linewidths=[1.0 if width > end_ns * _LEAST_EDGED else 0.0 for width in widths],
        )
    axes.set_yticks(range(len(tracks)), [label for label, _ in tracks], fontsize=8)
    axes.set_ylim(len(tracks) - 0.4, -0.6)
    axes.set_xlim(0, end_ns * factor * 1.01)  # so that the last one is not under the edge
    axes.set_xlabel(f"time since the session began ({unit})")
    add_legend(figure, [(color, label) for label, color in color_of.items()])
    return figure


def kernel_table(session: Source | None = None, top_n: int = 15) -> Figure | None:
    """Kernels with the most GPU time: total, share, number of launches and mean duration."""
    kernels = _known(_chosen(session).figures["kernels"])
    groups = (kernels or {}).get("by_name", [])[: checked_rows(top_n) or None]
    if not groups:
        return None
    figure, axes = new_figure("Kernels by GPU time", 1.2 + 0.34 * len(groups))
    totals = [group["duration_ns"]["total"] for group in groups]
    factor, unit = time_unit(max(totals))
    rows = range(len(groups))
    axes.barh(rows, [total * factor for total in totals], color=COLORS[0], height=0.62)
    axes.set_yticks(rows, short_texts(group["label"] for group in groups), fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, max(totals) * factor * 1.45)
    axes.set_xlabel(f"GPU time ({unit})")
    texts = [
        f"{group['share']:.1%}   {group['duration_ns']['count']:,} × "
        f"{duration_text(group['duration_ns']['mean'])}"
        for group in groups
    ]
    annotate_bars(axes, [total * factor for total in totals], texts)
    return figure


def utilization(session: Source | None = None) -> Figure | None:
    """How busy the GPUs and the host's processors were, and the power that the GPUs took."""
    chosen = _chosen(session).figures
    lines: list[Line] = []
    for device in chosen["gpu_time"]["devices"]:
        if _known(chosen["kernels"]) and device["busy_ns"] > 0:
            label = f"GPU {device['device']}: work was running"
            lines.append(("%", label, device["busy_series"], 100))
    metrics = {
        "gpu_util_pct": ("%", "utilisation by the driver", 1.0),
        "cpu_util_permille": ("%", "processors", 0.1),
        "power_mw": ("W", "power", 0.001),
        "temperature_c": ("°C", "temperature", 1.0),
    }
    for metric in chosen["metrics"]:
        if metric["metric"] in metrics:
            unit, what, factor = metrics[metric["metric"]]
            where = "host" if metric["device"] is None else f"GPU {metric['device']}"
            lines.append((unit, f"{where}: {what}", metric["series"], factor))
    return series_figure("Utilisation", chosen["session"]["duration_ns"], lines, {"%": 100})


def memory(session: Source | None = None) -> Figure | None:
    """Memory of the GPUs in use: by the driver's account, and what the program allocated."""
    chosen = _chosen(session).figures
    used = [
        (f"GPU {metric['device']}: in use", metric["series"])
        for metric in chosen["metrics"]
        if metric["metric"] == "memory_used_bytes"
    ] + [
        (f"GPU {usage['device']}: allocated ({usage['kind']} memory)", usage["live_bytes"])
        for usage in _known(chosen["memory"]) or []
    ]
    most = max((point[3] for _, series in used for point in series["points"]), default=0)
    factor, unit = byte_unit(most)
    lines = [(unit, label, series, factor) for label, series in used]
    return series_figure("GPU memory", chosen["session"]["duration_ns"], lines, {})


def scope_flame(session: Source | None = None) -> Figure | None:
    """Scopes inside scopes, as wide as the time in them; one block for all of the same path."""
    scopes = _chosen(session).figures["scopes"]
    times = [scope["duration_ns"]["total"] + scope["open_ns"] for scope in scopes]
    whole = sum(time for time, scope in zip(times, scopes) if scope["parent"] is None)
    if not whole:
        return None
    factor, unit = time_unit(whole)
    depth = max(scope["depth"] for scope in scopes) + 1
    colors = _scope_colors(scopes)
    figure, axes = new_figure("Time in scopes", 1.2 + 0.5 * depth)
    for scope, time, (start, width) in zip(scopes, times, _nested_spans(scopes, times)):
        start, width = start * factor, width * factor
        axes.barh(
            scope["depth"], width, left=start, height=0.92, edgecolor="white", linewidth=1,
            color=colors[scope["name"]],
        )  # fmt: skip
        text = f"{scope['name']}  {duration_text(time)}"
        label_block(axes, text, start, width, scope["depth"], whole * factor)
    axes.set_ylim(depth - 0.45, -0.55)
    axes.set_xlim(0, whole * factor)
    axes.set_yticks([])
    axes.set_xlabel(f"time in scopes ({unit})")
    return figure


def _scope_colors(scopes: list[dict[str, Any]]) -> dict[str, str]:
    """By name; siblings, and what is around them, differ as far as there are colours."""
    rows_of: dict[str, list[int]] = {}
    for row, scope in enumerate(scopes):
        rows_of.setdefault(scope["name"], []).append(row)
    inside: dict[int | None, set[str]] = {}  # colours of a scope and of those in it, by its row
    colors: dict[str, str] = {}
    for name, rows in rows_of.items():
        parents = {scopes[row]["parent"] for row in rows}
        taken = {color for row in (*parents, *rows) for color in inside.get(row, ())}
        colors[name] = color_of_text(name, taken)
        for row in (*parents, *rows):
            inside.setdefault(row, set()).add(colors[name])
    return colors


def _nested_spans(
    scopes: list[dict[str, Any]], times: list[float]
) -> list[tuple[float, float]]:
    """Start and width of each scope, inside the one around it. Parents come before children."""
    inside = [0.0] * len(scopes)
    for scope, time in zip(scopes, times):
        if scope["parent"] is not None:
            inside[scope["parent"]] += time
    spans: list[tuple[float, float]] = []
    ends: dict[int | None, float] = {None: 0.0}  # of what is laid out already, by parent
    for i, (scope, time) in enumerate(zip(scopes, times)):
        parent = scope["parent"]
        # Those of several threads may take more time than the one around them: they share its width.
        scale = 1.0 if parent is None else spans[parent][1] / max(inside[parent], times[parent], 1)
        spans.append((ends[parent], time * scale))
        ends[parent] += time * scale
        ends[i] = spans[i][0]
    return spans


def stall_bars(session: Source | None = None, top_n: int = 10) -> Figure | None:
    """What the warps of each kernel waited for, as shares of its samples."""
    samples = _chosen(session).figures["samples"]
    kernels = [kernel for kernel in samples if kernel["samples"]][: checked_rows(top_n) or None]
    if not kernels:
        return None
    totals: dict[str, int] = {}
    for kernel in kernels:
        for reason, count in kernel["stalls"].items():
            totals[reason] = totals.get(reason, 0) + count
    reasons = sorted(totals, key=lambda reason: -totals[reason])
    shown = reasons[: len(COLORS) - 1]
    figure, axes = new_figure("Stalls by kernel", 1.6 + 0.42 * len(kernels))
    offsets = [0.0] * len(kernels)
    entries = []
    for i, reason in enumerate([*shown, "other"]):
        counted = [reason] if reason in totals else reasons[len(shown) :]
        widths = [
            100 * sum(kernel["stalls"].get(name, 0) for name in counted) / kernel["samples"]
            for kernel in kernels
        ]
        if not any(widths):
            continue
        color = COLORS[i]
        axes.barh(range(len(kernels)), widths, left=offsets, color=color, height=0.66)
        offsets = [offset + width for offset, width in zip(offsets, widths)]
        entries.append((color, reason.replace("_", " ")))
    axes.set_yticks(range(len(kernels)), short_texts(kernel["label"] for kernel in kernels))
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of samples (%)")
    add_legend(figure, entries)
    return figure


def compare(a: Source, b: Source, top_n: int = 15) -> Figure:
    """What differs from A to B: the totals, and the kernels and scopes that differ most."""
    sides = [_open(a), _open(b)]
    diff = Diff([sides[0].path], [sides[1].path], top_n).figures
    entries = diff["totals"] + diff["findings"][: top_n or None]
    # What is on one side only has no change in percent.
    entries = [entry for entry in entries if entry["change"] is not None]
    title = "From A to B"
    if "per_iteration" in diff:
        title += ", per iteration"
    if diff["proof"] == "none":
        title += ": too few repeats to separate from noise"
    figure, axes = new_figure(title, 1.9 + 0.4 * len(entries))
    paths = [f"{side.upper()}  {end_of_text(diff[side]['label'])}" for side in ("a", "b")]
    axes.set_title("\n".join(paths), loc="left", fontsize=9, color=INK)
    rows = range(len(entries))
    changes = [100 * entry["change"] for entry in entries]
    colors = [COLORS[3] if change > 0 else COLORS[2] for change in changes]
    # What is many times more would make all others invisible: the text beside the bar tells it.
    ends = [min(change, _LONGEST_CHANGE_PCT) for change in changes]
    axes.barh(rows, ends, color=colors, height=0.62)
    axes.axvline(0, color=INK, linewidth=0.8)
    labels = _compared_labels(entries, _kernel_labels(sides), "per_iteration" in diff)
    axes.set_yticks(rows, labels, fontsize=8)
    axes.invert_yaxis()
    reach = 1.3 * max([abs(end) for end in ends] + [1])
    axes.set_xlim(-reach, reach)
    axes.set_xlabel("change (%)")
    annotate_bars(axes, ends, [f"{change:+.1f}%" for change in changes])
    return figure


def _kernel_labels(sessions: list[GpuFlightSession]) -> dict[str, str]:
    """The report's short name of every kernel."""
    groups = [_known(session.figures["kernels"]) or {} for session in sessions]
    return {
        group["full_name"]: group["label"]
        for kernels in groups
        for group in kernels.get("by_name", [])
        if "full_name" in group
    }


def _compared_labels(
    entries: list[dict[str, Any]], names: dict[str, str], is_per_iteration: bool
) -> list[str]:
    time = "time" if is_per_iteration else "session time"
    totals = {"time": time, "busy": "GPU busy time", "total": "kernel time"}
    whats = [entry.get("kernel") or entry.get("scope") or entry["subject"] for entry in entries]
    labels = []
    for entry, what in zip(entries, short_texts(names.get(what, what) for what in whats)):
        config = "changed launch" if "launches_a" in entry else entry.get("config")
        detail = ", ".join(filter(None, (entry["metric"], config)))
        is_total = entry["subject"] == "total"
        labels.append(totals.get(entry["metric"], "kernels") if is_total else f"{what}\n{detail}")
    return labels


def _known(figure: Any) -> Any:
    """The figure, or None where the report calls it unknown."""
    return None if isinstance(figure, dict) and "unknown" in figure else figure


_PICTURES = (timeline, kernel_table, utilization, memory, scope_flame, stall_bars)
