# SPDX-License-Identifier: Apache-2.0
"""GpuFlightSession against recordings; what `gpufl` itself says of them is the other opinion."""

import csv
import gc
import json
import pathlib
import re
import shutil
import threading

import pytest
from conftest import run_python
from recordings import CALLS_UNSEEN, COMPLETE, GOLDEN, GPT, MONITOR, ROOT, TORCH, gpufl

pd = pytest.importorskip("pandas")
import numpy as np  # noqa: E402: comes with pandas
from gpufl.analyzer import GpuFlightSession, find_sessions  # noqa: E402

SESSIONS = [GPT, MONITOR, COMPLETE]
# Our tables by the names of the files that `gpufl export --to csv` writes.
EXPORTED = {
    "kernels": "kernels",
    "memcpy": "memcpy",
    "memset": "memset",
    "sync": "syncs",
    "graphs": "graphs",
    "memory": "allocations",
    "api": "api_calls",
    "scopes": "scope_events",
    "markers": "markers",
    "counters": "counters",
    "device_metrics": "device_metrics",
    "host_metrics": "host_metrics",
    "process": "processes",
    "pc_sample": "pc_samples",
    "sass_metric": "sass_metrics",
    "range_metric": "perf",
    "pm_sample": "pm_samples",
    "warp_span": "warp_spans",
    "pending": "pending",
    "coverage": "coverage",
    "deep_windows": "deep_windows",
}


def documented_columns():
    """Column and dtype of every table, from the reference."""
    page = (ROOT / "docs" / "reference" / "python-dataframes.md").read_text(encoding="utf-8")
    tables = {}
    for line in page.splitlines():
        if line.startswith("## "):
            rows = tables[line[3:]] = []
        elif match := re.match(r"\| `(\w+)` \| (\w+) \|", line):
            rows.append(match.groups())
    return tables


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name)
def test_columns_are_as_documented(path):
    session = GpuFlightSession(path)
    found = {}
    for table in session.tables():
        frame = getattr(session, table)
        found[table] = [(name, str(dtype)) for name, dtype in frame.dtypes.items()]
    assert found == documented_columns()


def test_times_of_calls_that_nobody_saw_are_missing():
    kernels = GpuFlightSession(CALLS_UNSEEN).kernels
    began, took = kernels["api_start_ns"], kernels["api_duration_ns"]
    assert 0 < began.isna().sum() < len(kernels)
    assert began.isna().sum() < took.isna().sum() < len(kernels)
    assert began.min() >= 0
    assert took.min() >= 0


def test_units_are_documented():
    page = (ROOT / "docs" / "reference" / "python-dataframes.md").read_text(encoding="utf-8")
    units = re.findall(r"^\| `(\w+)` \| \w+ \| (.*?) ?\|", page, re.MULTILINE)
    assert len(units) == sum(map(len, documented_columns().values()))
    for column, unit in units:
        for ending, wanted in (("_ns", "ns"), ("bytes", "bytes")):
            if column.endswith(ending):
                assert unit == wanted, column


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name)
def test_values_are_those_of_the_csv_export(path, tmp_path):
    gpufl("export", path, "--to", "csv", "--output", tmp_path / "csv")
    session = GpuFlightSession(path)
    compared = 0
    for name, table in EXPORTED.items():
        file = tmp_path / "csv" / f"{name}.csv"
        frame = getattr(session, table)
        if not file.exists():
            assert len(frame) == 0
            continue
        with file.open(newline="", encoding="utf-8") as lines:
            expected = list(csv.DictReader(lines))
        assert len(frame) == len(expected)
        for column in frame.columns:
            if column == "scope" and "launched_at" not in expected[0]:
                continue  # the file has the scope's number, we its path
            if column == "value" and "exponent" in expected[0]:
                continue  # the file has it in two parts
            kind = {"category": str, "float64": float}.get(str(frame[column].dtype), int)
            cells = [None if pd.isna(value) else kind(value) for value in frame[column]]
            texts = [kind(row[column]) if row[column] else None for row in expected]
            assert cells == texts, (table, column)
            compared += 1
    assert compared >= 10


def test_whole_numbers_are_exact():
    nodes = GpuFlightSession(COMPLETE).kernels["graph_node"]
    assert nodes[0] == 2**64 - 1
    assert nodes[1] is pd.NA


def test_frames_are_made_once_and_without_a_copy():
    session = GpuFlightSession(GPT)
    kernels = session.kernels
    assert session.kernels is kernels
    again = {name: values for name, values, *_ in session._core.columns("kernels")}
    start = kernels["start_ns"].to_numpy()
    assert np.shares_memory(start, again["start_ns"])
    assert not start.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        start[0] = 0


def test_frames_outlive_the_session():
    session = GpuFlightSession(GPT)
    kernels = session.kernels
    start, total = kernels["start_ns"].iloc[-1], int(kernels["duration_ns"].sum())
    del session
    gc.collect()
    GpuFlightSession(COMPLETE)
    assert kernels["start_ns"].iloc[-1] == start
    assert int(kernels["duration_ns"].sum()) == total


def test_frames_can_be_worked_with():
    session = GpuFlightSession(GPT)
    kernels = session.kernels
    by_name = kernels.groupby("name", observed=True)["duration_ns"].sum()
    best = session.figures["kernels"]["by_name"][0]
    assert by_name.max() == best["duration_ns"]["total"]
    assert by_name.idxmax() == best.get("full_name", best["label"])
    assert len(kernels[kernels["device"] == 0]) == len(kernels)
    changed = kernels.assign(end_ns=kernels["start_ns"] + kernels["duration_ns"])
    assert (changed["end_ns"] >= changed["start_ns"]).all()
    assert kernels["cluster_x"].isna().all()
    copy = kernels.head(3).copy()
    copy.loc[copy.index[0], "duration_ns"] = 1
    assert copy["duration_ns"].iloc[0] == 1


def test_categories_are_those_in_use():
    for table in ("kernels", "scope_events", "counters"):
        names = getattr(GpuFlightSession(COMPLETE), table)["name"]
        assert set(names.cat.categories) == set(names.dropna())


def test_scopes_are_profile_samples():
    session = GpuFlightSession(COMPLETE)
    assert session.scopes is session.profile_samples
    assert list(session.scopes["source"].unique()) == ["pc_sample", "sass_metric"]


def test_samples_have_stalls_and_coverage(capsys):
    session = GpuFlightSession(COMPLETE)
    stalls = session.figures["stalls"]
    assert stalls["samples"] == session.pc_samples["samples"].sum()
    session.inspect_stalls()
    printed = capsys.readouterr().out
    assert printed.startswith("STALLS: ")
    assert all(kernel["label"] in printed for kernel in stalls["kernels"])
    assert list(session.coverage["engine"].unique()) == ["engine_a", "engine_b"]


def test_warp_spans_tell_stage_and_phase():
    spans = GpuFlightSession(COMPLETE).warp_spans
    assert len(spans) == 6
    assert list(spans["stage"]) == list(spans["payload"] & 0xFFFF)
    assert list(spans["phase"]) == list(spans["payload"].floordiv(65536))
    assert list(spans["event"][:3]) == ["event_a", "event_a", "event_b"]
    assert list(spans["launch"][:3]) == [3, 4, 5]


def test_perf_has_values_with_their_exponent():
    assert list(GpuFlightSession(COMPLETE).perf["value"][:3]) == [6e7, 7e8, 8e9]


def test_ledger():
    ledger = GpuFlightSession(COMPLETE).ledger.set_index("name")["value"]
    assert ledger["launches_seen"] == ledger["kernel_records"] == ledger["rows.kernel"] == 6
    assert ledger["by_device.0.launches"] == 6
    assert ledger["kernels_overlapping"] == ledger["most_overlap_ns"] == 0
    assert ledger["uncounted.device_side_launches"] is pd.NA
    assert len(GpuFlightSession(GOLDEN / "crashed").ledger) == 0


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name)
def test_arrow_has_the_same_values(path):
    pytest.importorskip("pyarrow")
    session = GpuFlightSession(path)
    for table in (*session.tables(), "scopes"):
        frame = getattr(session, table)
        arrow = session.arrow(table).to_pydict()
        assert list(arrow) == list(frame.columns)
        for column, values in arrow.items():
            assert values == [None if pd.isna(value) else value for value in frame[column]]


# --- Which session


@pytest.fixture
def several(tmp_path):
    for source in (GPT, MONITOR, COMPLETE):
        shutil.copytree(source, tmp_path / "several" / source.name)
    return tmp_path / "several"


def test_newest_session_is_taken(several):
    newest = find_sessions(several)[-1]
    assert GpuFlightSession(several).header == newest
    assert newest["session_id"] == max(s["session_id"] for s in find_sessions(several))


def test_a_session_that_recorded_nothing_hides_no_other(several):
    before = GpuFlightSession(several).path
    newest = several / "nothing"
    newest.mkdir()
    session = {
        **{"type": "session", "format": 1, "session_id": "nothing", "app_name": "true"},
        **{"engine": "Monitor", "backend": "none"},
        **{"start_wall_ns": "9000000000000000000", "start_monotonic_ns": "1"},
    }
    event = {"type": "event", "time": 1, "name": "no_session_left", "text": "no process left one"}
    lines = [json.dumps(line, separators=(",", ":")) for line in (session, event)]
    (newest / "system.log").write_text("\n".join(lines) + "\n")
    assert find_sessions(several)[-1]["session_id"] == "nothing"
    assert GpuFlightSession(several).path == before
    assert GpuFlightSession(newest).path == newest


def test_session_by_prefix_and_id(several):
    assert GpuFlightSession(several, log_prefix="h200_g").header["app_name"] == "h200_gpt"
    wanted = find_sessions(several)[0]
    session = GpuFlightSession(several, session_id=wanted["session_id"])
    assert session.path == pathlib.Path(wanted["path"])
    with pytest.raises(FileNotFoundError, match="app name that begins with 'nobody'"):
        GpuFlightSession(several, log_prefix="nobody")


def test_no_session(tmp_path):
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path))):
        GpuFlightSession(tmp_path)
    with pytest.raises(FileNotFoundError):
        GpuFlightSession(tmp_path / "nothing")


def test_crashed_and_corrupt_sessions_are_read():
    for name in ("crashed", "corrupt", "newer_minor"):
        session = GpuFlightSession(GOLDEN / name)
        for table in session.tables():
            assert len(getattr(session, table)) >= 0
        assert session.header["session_id"] in session.report(full=True)


# --- What is told


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name)
@pytest.mark.parametrize("form", ["text", "md", "json", "html"])
def test_report_is_that_of_the_command(path, form):
    assert GpuFlightSession(path).report(form) == gpufl("report", path, "--format", form)


@pytest.mark.parametrize(
    "inspection", ["scopes", "hotspots", "stalls", "profile_samples", "syncs", "insights"]
)
def test_inspections_are_parts_of_the_report(inspection, capsys):
    session = GpuFlightSession(COMPLETE)
    getattr(session, f"inspect_{inspection}")(top_n=10)
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) > 1
    assert printed in session.report(full=True)


def test_inspections_take_top_n(capsys):
    session = GpuFlightSession(GPT)
    session.inspect_hotspots(top_n=2)
    assert "more" in capsys.readouterr().out
    session.inspect_hotspots(top_n=1, sort="count")
    most = session.kernels["name"].value_counts().iloc[0]
    assert f"{most:,}" in capsys.readouterr().out
    with pytest.raises(ValueError, match="beauty"):
        session.inspect_hotspots(sort="beauty")


@pytest.mark.parametrize("ask", ["inspect_hotspots", "report", "diff"])
def test_a_negative_number_of_rows_is_refused(ask):
    session = GpuFlightSession(GPT)
    arguments = [GPT] if ask == "diff" else []
    with pytest.raises(ValueError, match="top_n is -1: how many rows to show, or 0 for all"):
        getattr(session, ask)(*arguments, top_n=-1)


def test_perf_metrics(capsys):
    GpuFlightSession(COMPLETE).inspect_perf_metrics()
    assert re.search(r"range_a +metric_a +6e\+07\b", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("path", "inspection", "reason", "remedy"),
    [
        (MONITOR, "hotspots", "engine Monitor records no GPU work", "engine Trace"),
        (MONITOR, "syncs", "engine Monitor records no GPU work", "engine Trace"),
        (MONITOR, "insights", "engine Monitor records no GPU work", "engine Trace"),
        (MONITOR, "stalls", "engine Monitor records no stalls", "PcSampling or Deep (gpufl trace --engine PcSampling)"),
        (GPT, "stalls", "engine Trace records no stalls", "PcSampling or Deep (gpufl trace --engine PcSampling)"),
        (GPT, "profile_samples", "no profile samples", "or SassMetrics or Deep (gpufl trace"),
        (GPT, "perf_metrics", "no hardware counters", "engine RangeProfiler"),
        (GPT, "scopes", "the program opened no scopes", "gpufl.Scope"),
    ],
)
def test_empty_inspection_says_why(path, inspection, reason, remedy, capsys):
    getattr(GpuFlightSession(path), f"inspect_{inspection}")()
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("NOT RECORDED")
    assert reason in printed
    assert remedy in printed


def test_a_kernel_is_that_of_the_command(capsys):
    session = GpuFlightSession(GPT)
    name = session.kernels["name"].iloc[0]
    assert session.kernel(name) == json.loads(
        gpufl("report", GPT, "--kernel", name, "--source", "--format", "json")
    )
    session.inspect_kernel(name)
    shown = capsys.readouterr().out
    assert shown.startswith("KERNEL: ")
    assert "the session contains no code images" in shown
    assert session.kernel_instructions(name).empty
    with pytest.raises(KeyError, match="none of its kernels matches"):
        session.kernel("no such kernel")
    with pytest.raises(ValueError, match=r"matches \d+ kernels"):
        session.kernel("*")


def test_summary(capsys):
    GpuFlightSession(GPT).print_summary()
    printed = capsys.readouterr().out
    for heading in ("GPUFlight report: h200_gpt", "LEDGER", "GPU TIME", "INSIGHTS"):
        assert heading in printed


def test_insights():
    session = GpuFlightSession(GPT)
    insights = session.insights()
    assert [i.rule for i in insights] == [i["rule"] for i in session.figures["insights"]]
    first = insights[0]
    assert first.severity == "HIGH"
    assert 0 < first.gain_share < 1
    assert first.evidence[0].device == 0
    assert first.title in str(first)
    assert first.advice in str(first)


def test_lines_with_their_callers():
    step = ROOT / "tests" / "replay" / "recordings" / "h200_gpt_step"
    line = "gpt_model.py:68 in Training.__init__()"
    assert line in set(GpuFlightSession(step).syncs["launched_at"])
    stacks = set(GpuFlightSession(step, max_stack_depth=2).syncs["launched_at"])
    assert line + " < one_step.py:8 in <module>" in stacks
    deepest = GpuFlightSession(step, max_stack_depth=3).kernels["launched_at"].dropna()
    assert max(text.count(" < ") for text in deepest) == 2
    with pytest.raises(ValueError, match="max_stack_depth must be at least 1"):
        GpuFlightSession(step, max_stack_depth=0)


def test_diff():
    session = GpuFlightSession(GPT)
    diff = session.diff(COMPLETE)
    assert str(diff) == gpufl("diff", GPT, COMPLETE)
    assert diff.figures["totals"][0]["a"] == session.figures["session"]["duration_ns"]
    assert str(session.diff(GpuFlightSession(COMPLETE))) == str(diff)
    with pytest.raises(FileNotFoundError):
        session.diff("/nowhere")


def test_diff_of_different_numbers_of_iterations():
    figures = GpuFlightSession(GPT).diff(TORCH).figures
    assert [figures["per_iteration"][side]["most"] for side in ("a", "b")] == [10, 5]
    assert [total["verdict"] for total in figures["totals"][1:]] == ["same"] * 3
    # Without scopes on one side kernels are compared whatever their scopes.
    apart = figures["scopes_apart"]
    assert (apart["has_scopes_a"], apart["has_scopes_b"]) == (False, True)
    assert apart["a"] == [] and "step" in apart["b"]
    assert "changed" not in {entry["verdict"] for entry in figures["findings"]}
    moved = [entry for entry in figures["alike"] if "launches_a" in entry]
    sides = [entry[side] for entry in moved for side in ("launches_a", "launches_b")]
    assert {launch["scope"] for launches in sides for launch in launches} == {""}


def test_threads_may_share_a_session():
    session = GpuFlightSession(GPT)
    told = []
    threads = [threading.Thread(target=lambda: told.append(session.report())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [session.report()] * 4


def test_pandas_is_imported_only_when_used():
    code = (
        "import sys; from gpufl.analyzer import GpuFlightSession; import gpufl.viz, gpufl.report\n"
        f"session = GpuFlightSession({str(GPT)!r}); session.insights(); session.report()\n"
        "print({'pandas', 'matplotlib', 'pyarrow'} & set(sys.modules))"
    )
    assert run_python(code) == "set()\n"


def test_passes_of_a_program_are_one_session(tmp_path):
    """As `gpufl trace --passes` runs it, on a made-up GPU."""
    engines = ["Trace", "PcSampling"]
    program = (
        "import gpufl, time\n"
        "assert gpufl.init(app_name='passes', log_path='logs')\n"
        "time.sleep(0.5)\n"
        "gpufl.shutdown()\n"
    )
    for number, engine in enumerate(engines, 1):
        run_python(
            program, GPUFL_BACKEND="synthetic", GPUFL_RUN_ID="run", GPUFL_PROFILING_ENGINE=engine,
            GPUFL_OVERRIDE="1", GPUFL_PASS=str(number), GPUFL_PASSES=",".join(engines),
            GPUFL_PC_SAMPLING_PAUSE_MS="20",
        )  # fmt: skip
    session = GpuFlightSession("logs")
    assert (session.header["pass"], session.header["passes"]) == (1, engines)
    assert session.path.parent == pathlib.Path("logs/run")
    passes = session.passes
    assert (passes["times"], passes["stalls"]) == (1, 2)
    assert passes["counts"]["unknown"] == "no pass was to record counts by instruction"
    assert [one["got"] for one in passes["list"]] == engines
    by_pass = {found["pass"]: GpuFlightSession(found["path"]) for found in find_sessions("logs")}
    assert len(session.kernels) == len(by_pass[1].kernels)
    assert session.pc_samples["samples"].sum() == by_pass[2].pc_samples["samples"].sum() > 0
    assert set(session.pc_samples["function"]) == set(by_pass[2].pc_samples["function"])
    assert session.figures["stalls"]["samples"] == by_pass[2].figures["stalls"]["samples"]
    assert by_pass[2].passes is None
    assert by_pass[1].pc_samples.empty
