# SPDX-License-Identifier: Apache-2.0
"""init() and what goes with it: which value wins, what is deprecated, what is a no-op."""

import ctypes
import inspect
import json
import os
import pathlib
import subprocess
import sys

import gpufl
import pytest
from conftest import events, run_python, sessions

QUIET = {"backend": gpufl.BackendKind.None_}


def header(logs):
    (event,) = events(logs, "session")
    return event


def test_every_field_of_the_options_is_a_keyword():
    parameters = set(inspect.signature(gpufl.init).parameters) - {"options", "others"}
    assert parameters == set(gpufl.InitOptions.__match_args__)


def test_the_first_three_may_be_positional(logs):
    assert gpufl.init("positional", logs, True, **QUIET)
    gpufl.shutdown()
    assert header(logs)["app_name"] == "positional"
    # Without a scope or system_start(), samples come from continuous sampling alone.
    assert len(events(logs, "host_metric")) > 0
    with pytest.raises(TypeError, match="positional"):
        gpufl.init("positional", logs, True, 50)


@pytest.mark.parametrize(
    ("asked", "variable", "got"),
    [
        ("Trace", "Monitor", "Monitor"),  # the cheaper one
        ("Monitor", "Trace", "Monitor"),
        (None, "Trace", "Trace"),
    ],
)
def test_the_engine_of_the_variable_turns_the_program_down(logs, monkeypatch, asked, variable, got):
    monkeypatch.setenv("GPUFL_BACKEND", "synthetic")
    monkeypatch.setenv("GPUFL_PROFILING_ENGINE", variable)
    given = {} if asked is None else {"profiling_engine": gpufl.ProfilingEngine[asked]}
    assert gpufl.init(log_path=logs, **given)
    gpufl.shutdown()
    assert header(logs)["engine"] == got


def test_pause_and_resume(logs, monkeypatch):
    monkeypatch.setenv("GPUFL_BACKEND", "synthetic")
    gpufl.init(log_path=logs, profiling_engine=gpufl.ProfilingEngine.Trace)
    gpufl.pause()
    gpufl.resume()
    gpufl.shutdown()
    names = [event["name"] for event in events(logs, "event")]
    assert [name for name in names if name.startswith("recording_")] == [
        "recording_paused", "recording_resumed",
    ]  # fmt: skip
    with pytest.raises(RuntimeError, match="the session has ended"):
        gpufl.pause()


def test_returns_whether_a_session_runs(logs):
    assert gpufl.init(log_path=logs, **QUIET) is True
    assert gpufl.init(log_path=logs / "other", **QUIET) is True
    gpufl.shutdown()
    gpufl.shutdown()
    assert len(sessions(logs)) == 1
    assert gpufl.init(log_path="/proc/nowhere", **QUIET) is False


def test_a_keyword_wins_over_the_environment_even_as_the_default(logs, monkeypatch):
    monkeypatch.setenv("GPUFL_APP_NAME", "from_variable")
    monkeypatch.setenv("GPUFL_LOG_PATH", str(logs))
    assert gpufl.init(app_name="gpufl", **QUIET)
    gpufl.shutdown()
    assert header(logs)["app_name"] == "gpufl"


def test_the_environment_holds_where_nothing_is_passed(logs, monkeypatch):
    monkeypatch.setenv("GPUFL_APP_NAME", "from_variable")
    assert gpufl.init(log_path=logs, **QUIET)
    gpufl.shutdown()
    assert header(logs)["app_name"] == "from_variable"


def test_override_lets_the_environment_win(logs, monkeypatch):
    monkeypatch.setenv("GPUFL_APP_NAME", "from_variable")
    monkeypatch.setenv("GPUFL_OVERRIDE", "1")
    assert gpufl.init(app_name="mine", log_path=logs, **QUIET)
    gpufl.shutdown()
    assert header(logs)["app_name"] == "from_variable"


def test_unset_is_as_not_passed(logs, monkeypatch):
    monkeypatch.setenv("GPUFL_APP_NAME", "from_variable")
    assert gpufl.init(app_name=gpufl.UNSET, log_path=logs, **QUIET)
    gpufl.shutdown()
    assert header(logs)["app_name"] == "from_variable"
    assert repr(gpufl.UNSET) == "UNSET"


def test_options_as_an_object(logs):
    options = gpufl.InitOptions(app_name="object", log_path=logs)
    options.backend = gpufl.BackendKind.None_
    assert gpufl.init(options=options)
    gpufl.shutdown()
    assert header(logs)["app_name"] == "object"


def test_options_hold_what_was_set():
    options = gpufl.InitOptions()
    assert options.app_name == "gpufl"
    assert options.enabled is True
    assert options.profiling_engine is gpufl.ProfilingEngine.Monitor
    options.log_window_mb = 5
    assert options.log_window_mb == 5
    options.overhead_budget = 2
    assert options.overhead_budget == 2.0
    with pytest.raises(TypeError, match="log_window_mb must be an int"):
        options.log_window_mb = "5"
    with pytest.raises(TypeError, match="no option 'nonsense'"):
        gpufl.InitOptions(nonsense=1)


@pytest.mark.parametrize(
    ("keyword", "value", "wanted"),
    [
        ("app_name", 3, "a str or a path, not <class 'int'>"),
        ("enabled", "yes", "True or False, not 'yes'"),
        ("system_sample_rate_ms", 2.5, "an int from 0 to 3600000, not 2.5"),
        ("system_sample_rate_ms", 1 << 40, "an int from 0 to 3600000, not 1099511627776"),
        ("overhead_budget", "2%", "a float, not '2%'"),
        ("pc_sampling_period", 5.5, "an int"),
        ("profiling_engine", "Trace", "gpufl.ProfilingEngine"),
        ("backend", None, "gpufl.BackendKind"),
    ],
)
def test_values_of_another_type(keyword, value, wanted):
    with pytest.raises(TypeError, match=f"{keyword} must be .*{wanted}"):
        gpufl.init(**{keyword: value})


def test_enumerations():
    assert [engine.name for engine in gpufl.ProfilingEngine][:6] == [
        "Monitor", "Trace", "PcSampling", "SassMetrics", "RangeProfiler", "Deep",
    ]  # fmt: skip
    assert [kind.name for kind in gpufl.BackendKind] == ["Auto", "Nvidia", "Amd", "None_"]


def test_the_old_name_of_continuous_sampling(logs):
    with pytest.warns(DeprecationWarning, match="continuous_system_sampling") as caught:
        assert gpufl.init(log_path=logs, sampling_auto_start=True, **QUIET)
    assert caught[0].filename == __file__
    with pytest.raises(TypeError, match="old name"):
        gpufl.init(sampling_auto_start=True, continuous_system_sampling=True)


def test_warnings_name_the_line_of_the_program(logs):
    import gpufl.torch

    old = {"log_path": logs, "sampling_auto_start": True, **QUIET}
    with pytest.warns(DeprecationWarning) as caught:
        with gpufl.session(**old):
            pass
        for _ in gpufl.torch.steps(range(1), **old):
            pass
    assert [warning.filename for warning in caught] == [__file__] * 2


def test_kernel_sample_rate_is_accepted(logs):
    with pytest.warns(DeprecationWarning, match="no effect"):
        assert gpufl.init(log_path=logs, kernel_sample_rate_ms=5, **QUIET)


@pytest.mark.parametrize(
    ("dropped", "replacement"),
    [
        ("enable_profiling", "profiling_engine"),
        ("enable_perf_scope", "ProfilingEngine.RangeProfiler"),
        ("remote_config", "backend_url"),
    ],
)
def test_dropped_keywords_name_their_replacement(dropped, replacement):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{dropped}'.*{replacement}"):
        gpufl.init(**{dropped: True})


def test_unknown_keyword():
    with pytest.raises(TypeError, match="unexpected keyword argument 'app_nam'"):
        gpufl.init(app_nam="x")


@pytest.mark.parametrize("how", ["keyword", "variable"])
def test_remote_upload_uploads_at_exit(logs, how):
    keyword = ", remote_upload=True" if how == "keyword" else ""
    variables = {"GPUFL_REMOTE_UPLOAD": "1"} if how == "variable" else {}
    code = f"""
import gpufl, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert gpufl.init(log_path={str(logs)!r}, backend=gpufl.BackendKind.None_{keyword})
assert [w.category for w in caught] == [DeprecationWarning], caught
warnings.simplefilter("always")
warnings.showwarning = lambda text, kind, *rest: print(kind.__name__, text)
"""
    printed = run_python(code, **variables)
    assert printed.startswith("RuntimeWarning gpufl has not uploaded the session")
    assert "no server is named" in printed
    assert len(sessions(logs)) == 1


def test_a_forked_child_uploads_its_own_session_alone(logs):
    code = f"""
import gpufl, os, sys, warnings
warnings.simplefilter("always")
warnings.showwarning = lambda text, kind, *rest: print(os.getpid() == parent, kind.__name__, flush=True)
parent = os.getpid()
for start in (True, False):
    pid = os.fork()
    if pid == 0:
        if start:
            gpufl.init(log_path={str(logs)!r}, backend=gpufl.BackendKind.None_, remote_upload=True)
        sys.exit()
    os.waitpid(pid, 0)
    if start:
        gpufl.init(log_path={str(logs)!r}, backend=gpufl.BackendKind.None_, remote_upload=True)
        gpufl.shutdown()
"""
    lines = run_python(code).splitlines()
    kinds = ["DeprecationWarning", "RuntimeWarning"]
    assert [line.split()[1] for line in lines if line.startswith("False")] == kinds
    assert [line.split()[1] for line in lines if line.startswith("True")] == kinds


def test_status_has_the_reason(logs, tmp_path, capfd):
    (tmp_path / "file").write_text("no folder")
    assert gpufl.init(log_path=tmp_path / "file", enable_debug_output=True, **QUIET) is False
    failed = gpufl.status()
    assert not failed.recording
    assert str(tmp_path / "file") in failed.reason
    assert f"gpufl: no session: {failed.reason}\n" in capfd.readouterr().err
    assert gpufl.init(log_path=logs, **QUIET)
    assert (gpufl.status().recording, gpufl.status().reason) == (True, "")
    assert repr(gpufl.status()) == "<SessionStatus: recording>"
    gpufl.shutdown()
    assert repr(gpufl.status()) == "<SessionStatus: not recording: the session has ended>"


@pytest.mark.parametrize("how", ["keyword", "variable"])
def test_disabled_is_a_no_op(logs, monkeypatch, capfd, how):
    if how == "variable":
        monkeypatch.setenv("GPUFL_DISABLED", "yes")
    keywords = {"enabled": False} if how == "keyword" else {"enabled": True}
    assert gpufl.init(log_path=logs, **QUIET, **keywords) is False
    with gpufl.Scope("x"):
        assert list(gpufl.Scope("y", repeat=2, warmup=1)) == [-1, 0, 1]
    gpufl.system_start("s")
    gpufl.system_stop("s")
    result = gpufl.upload_logs(logs, backend_url="https://example.invalid")
    assert (result.success, result.events_uploaded) == (True, 0)
    gpufl.shutdown()
    gpufl.generate_report()
    assert capfd.readouterr() == ("", "")
    assert not logs.exists()


def test_disabled_by_variable_without_init(monkeypatch):
    monkeypatch.setenv("GPUFL_DISABLED", "1")
    code = "import gpufl; print(gpufl.upload_logs().success)"
    assert run_python(code) == "True\n"


def test_session_as_context_manager(logs):
    with gpufl.session(app_name="block", log_path=logs, **QUIET) as session:
        assert session.active
        assert session.log_dir.parent == logs
        with gpufl.session(log_path=logs / "inner") as inner:
            assert inner.log_dir == session.log_dir
        with gpufl.Scope("still recorded"):
            pass
    assert not session.active
    assert [event["name"] for event in events(logs, "scope")] == ["still recorded"]
    assert header(logs)["app_name"] == "block"


def test_session_ends_with_an_exception(logs):
    with pytest.raises(KeyError), gpufl.session(log_path=logs, **QUIET):
        raise KeyError
    assert len(events(logs, "end")) == 1


def test_session_with_a_server_that_cannot_be_used_warns(logs):
    with pytest.warns(RuntimeWarning, match="there is no key for https://example.invalid"):
        with gpufl.session(log_path=logs, backend_url="https://example.invalid", **QUIET):
            pass
    assert len(events(logs, "end")) == 1


def test_disabled_session(logs):
    with gpufl.session(log_path=logs, enabled=False, backend_url="https://a.invalid") as session:
        assert not session.active
        assert session.log_dir is None
    assert not logs.exists()


def test_counters(recording):
    gpufl.tick("tokens", 5)
    counter = gpufl.counter("tokens")
    before = counter.value
    counter.add()
    counter.add(n=2)
    gpufl.tick("tokens")
    assert gpufl.counter("tokens").value == before + 4
    gpufl.shutdown()
    assert {event["name"] for event in events(recording, "counter")} >= {"tokens"}


def test_system_sampling_between_start_and_stop(recording):
    gpufl.system_start("phase")
    gpufl.system_stop("phase")
    gpufl.shutdown()
    assert any("phase" in json.dumps(event) for event in events(recording, "event"))


def test_report_goes_where_it_should(recording, capsys, tmp_path):
    with gpufl.Scope("seen"):
        pass
    gpufl.shutdown()
    gpufl.generate_report()
    printed = capsys.readouterr().out
    assert "seen" in printed
    gpufl.generate_report(tmp_path / "report.txt")
    assert (tmp_path / "report.txt").read_text() == printed


def test_clean_logs(logs):
    for _ in range(2):
        gpufl.init(log_path=logs, **QUIET)
        gpufl.shutdown()
    gpufl.init(log_path=logs, **QUIET)
    (logs / "notes.txt").write_text("mine")
    ended = sessions(logs)
    plan = gpufl.clean_logs(logs, dry_run=True)
    assert len(plan.deleted) == 2
    assert repr(plan) == f"<Cleanup: deleted 2, emptied 0, kept 1, {plan.bytes} bytes>"
    assert sessions(logs) == ended
    done = gpufl.clean_logs(str(logs))
    assert sorted(done.deleted) == sorted(plan.deleted)
    assert done.bytes == plan.bytes > 0
    assert [pathlib.Path(path) for path in done.kept] == sessions(logs)
    gpufl.shutdown()
    assert gpufl.clean_logs(logs).deleted == done.kept
    assert [path.name for path in logs.iterdir()] == ["notes.txt"]
    assert gpufl.clean_logs(logs / "nowhere").deleted == []


def test_the_session_of_a_program_that_just_ends(logs):
    code = f"import gpufl; gpufl.init(log_path={str(logs)!r}, backend=gpufl.BackendKind.None_)"
    run_python(code)
    assert len(events(logs, "end")) == 1


def test_a_forked_worker_has_no_session_and_may_have_its_own(recording, tmp_path):
    own = tmp_path / "own"
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            with gpufl.Scope("not recorded"):
                pass
            if gpufl.init(log_path=own, **QUIET):
                with gpufl.Scope("in the child"):
                    pass
                gpufl.shutdown()
                code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    with gpufl.Scope("in the parent"):
        pass
    gpufl.shutdown()
    assert [event["name"] for event in events(own, "scope")] == ["in the child"]
    assert [event["name"] for event in events(recording, "scope")] == ["in the parent"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_of_multiprocessing_that_just_ends_keeps_its_data(logs, tmp_path, method):
    program = tmp_path / "workers.py"
    program.write_text(f"""
import gpufl, multiprocessing

def work():
    assert gpufl.init(log_path={str(logs)!r}, backend=gpufl.BackendKind.None_)
    with gpufl.Scope("in the worker"):
        pass

if __name__ == "__main__":
    worker = multiprocessing.get_context({method!r}).Process(target=work)
    worker.start()
    worker.join()
    assert worker.exitcode == 0
""")
    subprocess.run([sys.executable, program], check=True)
    assert [event["name"] for event in events(logs, "scope")] == ["in the worker"]
    assert len(events(logs, "end")) == 1


def test_import_in_a_forked_worker_and_without_heavy_packages():
    code = """
import os, sys
pid = os.fork()
import gpufl
loaded = {"numpy", "pandas", "matplotlib"} & set(sys.modules)
assert not loaded, loaded
if pid == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert run_python(code) == "0\n"


def test_other_threads_run_while_init_and_shutdown_wait(logs):
    code = f"""
import gpufl, sys, threading, time
sys.setswitchinterval(1000)  # nobody gets a turn that is not given one
turns = 0
def work():
    global turns
    while True:
        turns += 1
        time.sleep(0.0002)
threading.Thread(target=work, daemon=True).start()
seen = [0, 0]
deadline = time.monotonic() + 60
while min(seen) == 0 and time.monotonic() < deadline:
    before = turns
    gpufl.init(log_path={str(logs)!r}, backend=gpufl.BackendKind.None_)
    between = turns
    gpufl.shutdown()
    seen[0] += between - before
    seen[1] += turns - between
print(min(seen) > 0)
"""
    assert run_python(code) == "True\n"


def test_what_cuda_and_nvtx_call_is_there():
    library = ctypes.CDLL(gpufl._core.__file__)
    assert library.InitializeInjection
    assert library.InitializeInjectionNvtx2
