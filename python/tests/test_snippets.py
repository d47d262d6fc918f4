# SPDX-License-Identifier: Apache-2.0
"""Programs as users write them: those of the guide, and uses that other documentation promises."""

import pathlib
import re
import textwrap

import pytest
from conftest import events, run_python, sessions

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "guide" / "python.md"
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS)
def test_the_guide(code):
    run_python(code, GPUFL_BACKEND="none")


def test_the_guide_has_programs():
    assert len(BLOCKS) >= 4


def run(code, **variables):
    return run_python(textwrap.dedent(code), **variables)


# What the programs below use and do not define.
STUBS = """
class Tensor:
    def backward(self): pass
loss = Tensor()
model = lambda x: x
input = 1
class Kernel:
    def __getitem__(self, config): return lambda *arguments: None
matmul_kernel, bpg, tpb, A, B, C = Kernel(), 1, 1, 0, 0, 0
"""


def test_scope_profiling(logs):
    run(
        STUBS
        + """
import gpufl

gpufl.init(
    app_name="my_training",
    log_path="./logs",
    continuous_system_sampling=True,
    system_sample_rate_ms=50,
    profiling_engine=gpufl.ProfilingEngine.PcSampling,
)

with gpufl.Scope("forward_pass"):
    output = model(input)

with gpufl.Scope("backward_pass", "batch_42"):
    loss.backward()

gpufl.shutdown()
"""
    )
    found = [(event["name"], event.get("tag", "")) for event in events(logs, "scope")]
    assert found == [("forward_pass", ""), ("backward_pass", "batch_42")]


def test_benchmark_loop(logs):
    printed = run(
        STUBS
        + """
import gpufl
gpufl.init(log_path="./logs")
for i in gpufl.Scope("matmul", "math", repeat=10, warmup=3):
    matmul_kernel[bpg, tpb](A, B, C)
    if i >= 0:
        print(i)
"""
    )
    assert printed.split() == [str(i) for i in range(10)]
    warm, measured = events(logs, "scope")
    assert (warm["name"], measured["name"]) == ("matmul_warmup", "matmul")
    assert (measured["repeat"], measured["warmup"]) == (10, 3)


def test_core_functions():
    run(
        """
        import gpufl as gfl

        gfl.init(
            app_name="my_app",
            continuous_system_sampling=True,
            system_sample_rate_ms=50,
            backend=gfl.BackendKind.Auto,
            profiling_engine=gfl.ProfilingEngine.PcSampling,
        )

        with gfl.Scope("phase_name"):
            # GPU work here
            pass

        gfl.system_start("sampling")
        gfl.system_stop("sampling")

        gfl.shutdown()
        """
    )
    assert [event["name"] for event in events(pathlib.Path("my_app"), "scope")] == ["phase_name"]


def test_turned_off():
    printed = run(
        """
        import gpufl as gfl
        print(gfl.init(app_name="my_app", enabled=False))
        with gfl.Scope("x"):
            pass
        result = gfl.upload_logs("./logs", backend_url="https://example.invalid", api_key="k")
        print(result.success, result.events_uploaded)
        """
    )
    assert printed.split() == ["False", "True", "0"]
    assert not pathlib.Path("my_app").exists()


@pytest.mark.parametrize("word", ["1", "true", "YES", "On"])
def test_turned_off_by_variable(word):
    code = 'import gpufl; print(gpufl.init(app_name="my_app", enabled=True))'
    assert run(code, GPUFL_DISABLED=word) == "False\n"
    assert not pathlib.Path("my_app").exists()


def test_engine_by_variable():
    run('import gpufl; assert gpufl.init(app_name="m")', GPUFL_PROFILING_ENGINE="Trace")
    # Where there is no GPU it falls back, and the session says from what.
    (header,) = events(pathlib.Path("m"), "session")
    asked = [event["asked"] for event in events(pathlib.Path("m"), "capability")]
    assert "Trace" in [header["engine"], *asked]


def test_no_backend():
    run('import gpufl as gfl; assert gfl.init(app_name="m", backend=gfl.BackendKind.None_)')
    (header,) = events(pathlib.Path("m"), "session")
    assert header["backend"] == "none"


def test_session_with_upload():
    printed = run(
        """
        import warnings
        import gpufl
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with gpufl.session(backend_url="https://example.invalid", api_key="gpfl_xxx"):
                with gpufl.Scope("inside"):
                    pass
        print(*[w.category.__name__ for w in caught])
        """
    )
    assert printed == "RuntimeWarning\n"
    assert len(sessions(pathlib.Path("gpufl"))) == 1


def test_analyzer_report_and_pictures():
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    printed = run(
        """
        import gpufl
        with gpufl.session(app_name="my_app", log_path="./logs", backend=gpufl.BackendKind.None_):
            with gpufl.Scope("phase_name"):
                pass

        log_dir = "./logs"
        from gpufl.analyzer import GpuFlightSession

        session = GpuFlightSession(log_dir, log_prefix="my_app", session_id=None)

        session.print_summary()
        session.inspect_scopes()
        session.inspect_hotspots(top_n=5)
        session.inspect_stalls()
        session.inspect_profile_samples()
        session.inspect_perf_metrics()
        for table in (session.kernels, session.memcpy, session.scopes, session.scope_events,
                      session.device_metrics, session.host_metrics, session.perf):
            table.describe(include="all")

        from gpufl.report import generate_report, TextReport

        text = generate_report(log_dir, log_prefix="my_app", top_n=10, output_path=None)
        report = TextReport(session, top_n=10)
        report.print()
        report.save("report.txt")
        assert text == report.generate()

        import gpufl.viz as viz

        viz.init("./logs/*.log")
        print(*viz.show())
        """,
        MPLBACKEND="agg",
    )
    assert printed.count("phase_name") >= 2
    assert printed.count("NOT RECORDED") >= 3
    assert "scope_flame" in printed.splitlines()[-1]
    assert "phase_name" in pathlib.Path("report.txt").read_text(encoding="utf-8")
