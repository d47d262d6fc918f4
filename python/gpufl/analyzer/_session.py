# SPDX-License-Identifier: Apache-2.0
"""A recorded session. Every figure comes from the C++ core: the same as `gpufl report` prints."""

from __future__ import annotations

import functools
import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpufl import _core
from gpufl.analyzer._frames import import_pandas, import_pyarrow, to_arrow, to_pandas
from gpufl.analyzer._insight import Insight

if TYPE_CHECKING:
    import pandas
    import pyarrow

PathLike = str | os.PathLike[str]


def page_width() -> int:
    """Columns of what is printed: the terminal's within reason, else 100."""
    if not sys.stdout.isatty():
        return 100
    return min(max(shutil.get_terminal_size().columns, 80), 140)


def checked_rows(top_n: int) -> int:
    """How many rows of a list are shown, as somebody asked for it; 0: all."""
    if top_n < 0:
        raise ValueError(f"top_n is {top_n}: how many rows to show, or 0 for all of them")
    return top_n


def find_sessions(log_dir: PathLike) -> list[dict[str, Any]]:
    """The sessions at or below a folder, oldest first: path, session_id, app_name and so on."""
    return _core.find_sessions(Path(log_dir))


def _find_session(log_dir: Path, log_prefix: str | None, session_id: str | None) -> Path:
    sessions = find_sessions(log_dir)
    if not sessions:
        raise FileNotFoundError(_core.why_no_session(log_dir))
    return choose_session(sessions, log_dir, log_prefix, session_id)


def choose_session(
    sessions: list[dict[str, Any]], where: Path, log_prefix: str | None, session_id: str | None
) -> Path:
    """The newest of these sessions, oldest first, that is as asked for.

    A session that recorded nothing, as `gpufl trace` writes it for a program without CUDA, is
    chosen only if all of them are like it. Of a program that ran in several passes it is the folder
    of all of them, unless `where` or `session_id` names one.
    """
    chosen = [
        session
        for session in sessions
        if (log_prefix is None or session["app_name"].startswith(log_prefix))
        and (session_id is None or session["session_id"] == session_id)
    ]
    if not chosen:
        asked = [f"app name that begins with {log_prefix!r}"] if log_prefix is not None else []
        asked += [f"id {session_id!r}"] if session_id is not None else []
        known = ", ".join(f"{s['app_name']!r} ({s['session_id']})" for s in sessions[-3:])
        raise FileNotFoundError(
            f"{where}: none of its {len(sessions)} sessions has an {' and the '.join(asked)}; "
            f"the newest: {known}"
        )
    newest_first = list(reversed(chosen))
    recorded = (session for session in newest_first if not _core.recorded_nothing(session["path"]))
    newest = next(recorded, newest_first[0])
    path = Path(newest["path"])
    is_whole = session_id is not None or path == where
    return path if is_whole or not newest["passes"] else path.parent


class _Table:
    """A table of the session as a DataFrame, made when it is first asked for."""

    def __init__(self, table: str, doc: str) -> None:
        self.table = table
        self.__doc__ = doc

    def __get__(self, session: GpuFlightSession | None, _owner: type) -> pandas.DataFrame:
        if session is None:
            return self  # type: ignore[return-value]  # of the class: for its documentation
        return session._frame(self.table)


class Diff:
    """What differs between two sides; printed, it is the text of `gpufl diff`."""

    def __init__(self, a: list[Path], b: list[Path], top_n: int) -> None:
        self._sides = (a, b)
        self._top_n = checked_rows(top_n)
        self._text = self._write("text")

    def _write(self, form: str) -> str:
        return _core.diff_sessions(*self._sides, form, self._top_n, page_width())

    @functools.cached_property
    def figures(self) -> dict[str, Any]:
        """Everything, also what is alike: docs/guide/compare-runs.md."""
        return json.loads(self._write("json"))

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return self._write("md")


class GpuFlightSession:
    """A recorded session: its tables as DataFrames, and what they come to.

    `log_dir` is a session, a run's folder or a log folder; of several sessions the newest is taken
    whose app name begins with `log_prefix` and whose id is `session_id`, as far as these are given.
    `max_stack_depth`: how many frames of the program the columns of lines (`launched_at`, `line`,
    `captured_at`, `stack`) show, "train.py:90 in step() < train.py:120 in main()".
    Of a program that ran in several passes (`gpufl trace --passes`) the run's folder is one session:
    times are those of the cheapest pass, `pc_samples` and `sass_metrics` have rows of the passes
    that recorded them, timed as in those, and `passes` says where they differ.
    FileNotFoundError where there is none, ValueError where it cannot be read.
    """

    kernels = _Table("kernels", "Kernels, with times, launch configuration and occupancy.")
    memcpy = _Table("memcpy", "Memory copies.")
    memset = _Table("memset", "Memsets.")
    syncs = _Table("syncs", "Waits of the host for the GPU.")
    graphs = _Table("graphs", "Launches of CUDA graphs.")
    allocations = _Table("allocations", "Allocations and releases of GPU memory.")
    api_calls = _Table("api_calls", "API calls that allocate, release or failed.")
    scope_events = _Table("scope_events", "Scopes, each with its start and duration.")
    markers = _Table("markers", "NVTX marks and ranges.")
    counters = _Table("counters", "Values of the program's own counters.")
    device_metrics = _Table("device_metrics", "Samples of the GPUs: utilisation, power, memory.")
    host_metrics = _Table("host_metrics", "Samples of the host: CPU and memory.")
    pending = _Table("pending", "API calls and launches that had not ended after about 200 ms.")
    coverage = _Table("coverage", "Phases in which an engine was attached, and sampling windows.")
    deep_windows = _Table("deep_windows", "Deep windows: what opened and closed each.")
    processes = _Table("processes", "Processes seen on the GPUs.")
    perf = _Table("perf", "Hardware counters by range (RangeProfiler).")
    pm_samples = _Table("pm_samples", "Hardware counters sampled over time.")
    pc_samples = _Table("pc_samples", "Samples of program counters by stall (PcSampling, Deep).")
    sass_metrics = _Table("sass_metrics", "Metrics by instruction (SassMetrics, Deep).")
    profile_samples = _Table(
        "profile_samples", "Samples by instruction: stalls (PcSampling) and metrics (SassMetrics)."
    )
    warp_spans = _Table("warp_spans", "What warp groups did inside profiled kernels (warpscope).")
    scopes = _Table("profile_samples", "The same as profile_samples; for scopes: scope_events.")

    def __init__(
        self,
        log_dir: PathLike,
        log_prefix: str | None = None,
        session_id: str | None = None,
        max_stack_depth: int = 1,
    ) -> None:
        if max_stack_depth < 1:
            raise ValueError(f"max_stack_depth must be at least 1, not {max_stack_depth}")
        found = _find_session(Path(log_dir), log_prefix, session_id)
        self._core = _core.load_session(found, max_stack_depth)
        self.path = Path(self._core.header["path"])
        self._frames: dict[str, pandas.DataFrame] = {}

    @property
    def header(self) -> dict[str, Any]:
        """Who recorded it: session_id, run_id, app_name, engine, start_wall_ns, rank, path."""
        return self._core.header

    @property
    def passes(self) -> dict[str, Any] | None:
        """What each pass gave, and where they differ: docs/reference/report-json.md; None: it ran once."""
        return self.figures.get("passes")

    def __repr__(self) -> str:
        header = self.header
        return f"<GpuFlightSession {header['app_name']!r} {header['session_id']}>"

    # --- Tables

    @staticmethod
    def tables() -> tuple[str, ...]:
        """The names of all tables."""
        return (*_core.table_names, "ledger")

    if not TYPE_CHECKING:  # names that are none stay errors there

        def __getattr__(self, name: str) -> pandas.DataFrame:
            """Any table that has no separate attribute above."""
            if name not in _core.table_names:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return self._frame(name)

    def _frame(self, table: str) -> pandas.DataFrame:
        if table not in self._frames:
            self._frames[table] = to_pandas(self._core, table)
        return self._frames[table]

    @property
    def ledger(self) -> pandas.DataFrame:
        """What the session says about its completeness; a value that was not counted is missing."""
        if "ledger" not in self._frames:
            pd = import_pandas()
            names, values = self._ledger_columns()
            self._frames["ledger"] = pd.DataFrame(
                {"name": pd.Series(names, dtype=object), "value": pd.array(values, dtype="Int64")}
            )
        return self._frames["ledger"]

    def _ledger_columns(self) -> tuple[list[str], list[int | None]]:
        rows = list(_flatten(json.loads(self._core.ledger) or {}))
        return [name for name, _ in rows], [value for _, value in rows]

    def arrow(self, table: str) -> pyarrow.Table:
        """A table as Arrow's, without pandas. Texts are dictionaries, unknown values null."""
        if table == "ledger":
            pa = import_pyarrow()
            names, values = self._ledger_columns()
            return pa.table({"name": pa.array(names, pa.string()), "value": pa.array(values, pa.int64())})
        return to_arrow(self._core, "profile_samples" if table == "scopes" else table)

    # --- Figures

    @functools.cached_property
    def figures(self) -> dict[str, Any]:
        """Every figure of the report at full precision: docs/reference/report-json.md."""
        return json.loads(self.report("json"))

    def report(
        self, format: str = "text", top_n: int = 10, sort: str = "total", full: bool = False
    ) -> str:
        """The report of the session as "text", "md", "json" or "html".

        Text and Markdown fit on a screen, with five rows of a list at most, unless `full` is set.
        """
        return self._core.report(format, checked_rows(top_n), page_width(), sort, full)

    def kernel(self, name: str) -> dict[str, Any]:
        """Code, lines and samples of one kernel: docs/reference/report-json.md, "A kernel".

        `name` is a part of its name, or all of it with * and ?. KeyError: there is none; ValueError: several.
        """
        return json.loads(self._core.kernel(name, True, "json", 0, page_width()))

    def kernel_instructions(self, name: str) -> pandas.DataFrame:
        """The instructions of a kernel, one row each, with their line, samples and main stall."""
        pd = import_pandas()
        rows = [
            _instruction_row(image, entry)
            for image in self.kernel(name)["images"]
            for entry in image["instructions"]
        ]
        return pd.DataFrame(rows, columns=list(_INSTRUCTION_COLUMNS)).astype(_INSTRUCTION_COLUMNS)

    def insights(self) -> list[Insight]:
        """What somebody can act on, what saves most first."""
        return [Insight.of_report(entry) for entry in self.figures["insights"]]

    def diff(self, other: GpuFlightSession | PathLike, top_n: int = 10) -> Diff:
        """What differs from this session to another one, or to a folder of repeats."""
        path = other.path if isinstance(other, GpuFlightSession) else Path(other)
        return Diff([self.path], [path], top_n)

    # --- Printed

    def _print(self, section: str, top_n: int = 10, sort: str = "total") -> None:
        print(self._core.section(section, checked_rows(top_n), page_width(), sort), end="")

    def print_summary(self) -> None:
        """The session, its completeness, and what its GPUs were busy with."""
        self._print("summary")

    def inspect_scopes(self, top_n: int = 10) -> None:
        """Scopes with the time and the GPU work inside them."""
        self._print("scopes", top_n)

    def inspect_hotspots(self, top_n: int = 5, sort: str = "total") -> None:
        """Kernels with the most GPU time; `sort`: total, count, mean, median, p99, max, name."""
        self._print("hotspots", top_n, sort)

    def inspect_stalls(self, top_n: int = 10) -> None:
        """What warps waited for, by kernel."""
        self._print("stalls", top_n)

    def inspect_kernel(self, name: str, source: bool = False, top_n: int = 10) -> None:
        """Which lines and instructions of a kernel are slow; `source`: both side by side."""
        print(self._core.kernel(name, source, "text", checked_rows(top_n), page_width()), end="")

    def inspect_profile_samples(self, top_n: int = 10) -> None:
        """Stalls, divergence and counters of instructions, by kernel."""
        self._print("profile_samples", top_n)

    def inspect_perf_metrics(self, top_n: int = 20) -> None:
        """Hardware counters by range."""
        self._print("perf_metrics", top_n)

    def inspect_syncs(self, top_n: int = 10) -> None:
        """Where the host waited for the GPU, by call and by line."""
        self._print("syncs", top_n)

    def inspect_insights(self, top_n: int = 10) -> None:
        """What insights() returns, as text."""
        self._print("insights", top_n)


_INSTRUCTION_COLUMNS = {
    "image": "object",
    "offset": "int64",
    "text": "object",
    "file": "object",
    "line": "Int64",
    "live_registers": "Int64",
    "samples": "int64",
    "stall": "object",
}


def _instruction_row(image: dict[str, Any], entry: dict[str, Any]) -> tuple[Any, ...]:
    """As _INSTRUCTION_COLUMNS; the line is that of the innermost function."""
    place = entry["places"][0] if entry["places"] else {"file": None, "line": None}
    stalls = entry["stalls"]
    stall = max(stalls, key=lambda reason: stalls[reason]["samples"], default=None)
    return (
        image["hash"],
        entry["offset"],
        entry["text"],
        place["file"],
        place["line"],
        entry["live_registers"],
        entry["samples"],
        stall,
    )


def _flatten(numbers: Any, prefix: str = "") -> Any:
    """("rows.kernel", 10611) of {"rows": {"kernel": 10611}}; lists of devices by their number."""
    for name, value in numbers.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            for entry in value:
                if isinstance(entry, dict):
                    counts = {key: count for key, count in entry.items() if key != "device"}
                    yield from _flatten(counts, f"{prefix}{name}.{entry.get('device')}.")
                else:
                    yield f"{prefix}{name}.{entry}", None
        else:
            yield prefix + name, value
