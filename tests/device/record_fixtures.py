# SPDX-License-Identifier: Apache-2.0
"""record_fixtures.py FOLDER [NAME...]: records, on a machine with a GPU, what the tests replay
without one.

Every program below runs under `gpufl trace`, whose session becomes an example of a real one; the
first ones run under the recorder as well, which writes what CUPTI delivers (tests/trace).
FOLDER gets fixtures.tar.gz with recordings/NAME.cupti and sessions/NAME/, and fixtures.txt, which
says how large each is and how long it took. Ends with 1 when one failed, is not complete or is too
large to keep.

record_fixtures.py FOLDER --repeats N: runs one steady program N times instead, and writes how long
its kernels took in each run to FOLDER/noise.json: by how much runs of the same program differ.

Needs what `./dev gpu-test --build` makes."""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PORTABLE = pathlib.Path(os.environ.get("PORTABLE_BUILD", ROOT / "build" / "portable"))
GPUFL = PORTABLE / "bin" / "gpufl"
RECORDER = PORTABLE / "lib" / "libgpufl_cupti_recorder.so"
PYTORCH = ROOT / "tests" / "device" / "pytorch"
PREFIX = "h200_"
# What stays in the repository for good. One step of a GPT is 327 KiB of what CUPTI delivers and
# cannot be shorter: two thirds are the thousand variables of PyTorch's modules, which CUPTI reports
# as memory.
MOST_BYTES = {".cupti": 350 * 1024, "": 300 * 1024}
TIMEOUT_S = 60
KILLED = 128 + 9  # as `gpufl trace` tells it
STEADY_ROUNDS = 100


def program(name, *arguments):
    return [PORTABLE / "bin" / name, *arguments]


def python(script, *arguments):
    return [sys.executable, PYTORCH / script, *arguments]


def two_ranks(command):
    """One after the other, in one shell: the GPU is theirs alone."""
    words = " ".join(str(word) for word in command)
    ranks = [f"RANK={rank} LOCAL_RANK={rank} WORLD_SIZE=2 {words}" for rank in range(2)]
    return ["sh", "-c", " && ".join(ranks)]


def at_lower_clock(command):
    """Needs root. An H200 keeps its highest clock from one short burst to the next."""
    words = " ".join(str(word) for word in command)
    reset = "trap 'nvidia-smi --reset-gpu-clocks' EXIT"
    return ["sh", "-c", f"nvidia-smi --lock-gpu-clocks=900,900 && {reset} && {words}"]


@dataclasses.dataclass
class Scenario:
    command: list
    options: tuple = ()
    has_recording: bool = False  # of what CUPTI delivers, too
    sessions: int = 1  # several: the run's folder is kept
    ends_with: int = 0
    is_complete: bool = True  # so that `gpufl verify` has nothing to say
    dump: str = ""  # it writes this one, from which its session is imported


def mistake(name, *options, **how):
    return Scenario(program("mistakes", name), options, **how)


SCENARIOS = {
    "tiny": Scenario(program("fixture_program", "tiny"), has_recording=True),
    "graphs": Scenario(program("fixture_program", "graphs"), ("--graphs",), has_recording=True),
    "streams": Scenario(program("fixture_program", "streams"), has_recording=True),
    "contexts": Scenario(program("fixture_program", "contexts"), ("--memory",), has_recording=True),
    "copies": Scenario(program("fixture_program", "copies"), ("--memory",), has_recording=True),
    "sync_in_loop": Scenario(
        program("fixture_program", "sync_in_loop"), ("--stacks",), has_recording=True
    ),
    "gpt_step": Scenario(python("one_step.py"), ("--stacks",), has_recording=True),
    # Real cases of the insights.
    "idle_host_code": mistake("idle_host_code", "--stacks"),
    "idle_after_wait": mistake("idle_after_wait", "--stacks"),
    "idle_queued": mistake("idle_queued", "--stacks"),
    "launch_bound": mistake("launch_bound"),
    "in_loop_sync": mistake("in_loop_sync", "--stacks"),
    "pageable_copies": mistake("pageable_copies", "--stacks"),
    "small_copies": mistake("small_copies"),
    "unoverlapped_copies": mistake("unoverlapped_copies"),
    "allocation_in_loop": mistake("allocation_in_loop", "--memory"),
    "low_occupancy": mistake("low_occupancy"),
    "register_spill": mistake("register_spill"),
    "tail_effect": mistake("tail_effect"),
    "partial_wave": mistake("partial_wave"),
    "memory_nearly_full": mistake("memory_nearly_full", "--interval", "50ms"),
    "clock_drop": Scenario(
        at_lower_clock(program("mistakes", "clock_drop")), ("--interval", "20ms")
    ),
    "rank_imbalance": Scenario(two_ranks(program("mistakes", "rank_imbalance")), sessions=2),
    "warp_group_bound": Scenario(
        program("warpscope_softmax", "--rows", 528, "--output", "."), dump="softmax.wscap"
    ),
    "warp_bubbles": Scenario(program("bubbles", "bubbles.wscap"), dump="bubbles.wscap"),
    "power_cap": Scenario(python("power_cap.py"), ("--interval", "50ms")),
    # A training run with everything on, for examples/sessions.
    "training": Scenario(
        python("training.py", 5, "nvtx"), ("--stacks", "--memory", "--interval", "50ms")
    ),
    # Those that end badly come last.
    "trace_losses": mistake("trace_losses", ends_with=KILLED, is_complete=False),
    "xid_errors": mistake("xid_errors", "--interval", "50ms", is_complete=False),
}


def run(command, ends_with=0, folder=None, **variables):
    """What was wrong with it; None: nothing."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "bench" / "gpu"), **variables)
    try:
        ran = subprocess.run(
            [str(word) for word in command],
            env=environment,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if ran.returncode == ends_with:
        return None
    return f"ended with {ran.returncode}: {ran.stdout[-2000:]}"


def rows(session, kind):
    printed = subprocess.run(
        [GPUFL, "cat", session, kind], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    return [json.loads(line) for line in printed.splitlines()]


def size_of(path):
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def sessions_in(folder):
    return sorted({file.parent for file in pathlib.Path(folder).rglob("system*.log*")})


def record(scenario, path):
    """What CUPTI delivers, into the file `path`."""
    wrong = run(
        scenario.command, CUDA_INJECTION64_PATH=str(RECORDER), GPUFL_CUPTI_RECORD=str(path)
    )
    return "nothing was recorded" if wrong is None and not path.is_file() else wrong


def trace(name, scenario, path):
    """A session, or a run of several, into the folder `path`."""
    with tempfile.TemporaryDirectory(prefix="gpufl-fixtures-") as temporary:
        logs = pathlib.Path(temporary) / "logs"
        if scenario.dump:
            wrong = run(scenario.command, folder=temporary) or run(
                [GPUFL, "import", scenario.dump, "--output", logs, "--name", name], folder=temporary
            )
        else:
            traced = [GPUFL, "trace", "--output", logs, "--name", name, *scenario.options, "--"]
            wrong = run([*traced, *scenario.command], scenario.ends_with)
        if wrong is not None:
            return wrong
        sessions = sessions_in(logs)
        if len(sessions) != scenario.sessions:
            return f"{len(sessions)} sessions, not {scenario.sessions}"
        shutil.copytree(sessions[0] if len(sessions) == 1 else sessions[0].parent, path)
    if not scenario.is_complete or scenario.dump:
        return None
    wrong = [run([GPUFL, "verify", session]) for session in sessions_in(path)]
    return next(filter(None, wrong), None)


def record_all(names, out):
    lines = []
    failed = False

    def tell(path, folder, wrong, began):
        nonlocal failed
        size = size_of(path) if path.exists() else 0
        most = MOST_BYTES[path.suffix]
        if wrong is None and size > most:
            wrong = f"more than {most} bytes"
        failed |= wrong is not None
        took = time.monotonic() - began
        lines.append(f"{path.relative_to(folder)}: {size} bytes, {took:.1f} s: {wrong or 'ok'}")
        print(lines[-1], flush=True)

    with tempfile.TemporaryDirectory(prefix="gpufl-fixtures-") as temporary:
        folder = pathlib.Path(temporary)
        for part in ("recordings", "sessions"):
            (folder / part).mkdir()
        for name in names:
            scenario = SCENARIOS[name]
            if scenario.has_recording:
                began = time.monotonic()
                path = folder / "recordings" / f"{PREFIX}{name}.cupti"
                tell(path, folder, record(scenario, path), began)
            began = time.monotonic()
            path = folder / "sessions" / f"{PREFIX}{name}"
            tell(path, folder, trace(name, scenario, path), began)
        with tarfile.open(out / "fixtures.tar.gz", "w:gz") as archive:
            for part in sorted(folder.iterdir()):
                archive.add(part, arcname=part.name)
    (out / "fixtures.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if failed else 0


def figures(session):
    """How long the kernels of one run took: medians of the whole run and of its quarters."""
    kernels = sorted(rows(session, "kernel"), key=lambda row: row["start_ns"])
    durations = collections.defaultdict(list)
    for row in kernels:
        name = row["name"][: row["name"].rindex("(")].split("::")[-1]
        durations[name].append(row["duration_ns"])
    quarters = {
        name: [
            statistics.median(all_of[len(all_of) * i // 4 : len(all_of) * (i + 1) // 4])
            for i in range(4)
        ]
        for name, all_of in durations.items()
    }
    last = kernels[-1]
    return {
        "span_ns": last["start_ns"] + last["duration_ns"] - kernels[0]["start_ns"],
        "busy_ns": sum(row["duration_ns"] for row in kernels),
        "median_ns": {name: statistics.median(all_of) for name, all_of in durations.items()},
        "mean_ns": {name: round(statistics.mean(all_of), 1) for name, all_of in durations.items()},
        "quarter_median_ns": quarters,
    }


def measure_noise(repeats, out):
    command = program("steady", STEADY_ROUNDS)
    runs, device = [], {}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gpufl-noise-") as temporary:
        for i in range(repeats):
            logs = pathlib.Path(temporary) / str(i)
            wrong = run([GPUFL, "trace", "--output", logs, "--", *command])
            if wrong is not None:
                print(f"run {i}: {wrong}")
                return 1
            (session,) = sessions_in(logs)
            runs.append(figures(session))
            device = rows(session, "device")[0]
    result = {
        "program": f"tests/device/steady.cu, {STEADY_ROUNDS} rounds",
        "gpu": device.get("name"),
        "driver": device.get("driver"),
        "runs": runs,
    }
    (out / "noise.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for name in runs[0]["median_ns"]:
        medians = [one["median_ns"][name] for one in runs]
        spread = statistics.stdev(medians) / statistics.mean(medians) if repeats > 1 else 0
        print(f"{name}: {statistics.mean(medians) / 1e3:.2f} us, {spread:.2%} between runs")
    print(f"noise.json: {repeats} runs in {time.monotonic() - began:.1f} s")
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SCENARIOS))
    parser.add_argument("--repeats", type=int, default=0)
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in SCENARIOS]:
        parser.error(f"there is no {', '.join(unknown)}")
    for needed in (GPUFL, RECORDER, *program("mistakes"), *program("steady")):
        if not needed.is_file():
            sys.exit(f"record_fixtures: no {needed}: './dev gpu-test --build' makes it")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.repeats:
        return measure_noise(arguments.repeats, arguments.folder)
    return record_all(arguments.names or list(SCENARIOS), arguments.folder)


if __name__ == "__main__":
    sys.exit(main())
