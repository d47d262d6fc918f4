# SPDX-License-Identifier: Apache-2.0
"""record_fixtures.py FOLDER: records, on a machine with a GPU, what the tests replay without one.

Every program below runs twice: once under the recorder, which writes what CUPTI delivers
(tests/trace/recordings), and once under `gpufl trace`, whose session becomes an example of a real
one. FOLDER gets fixtures.tar.gz with recordings/NAME.cupti and sessions/NAME/, and fixtures.txt,
which says how large each is. Ends with 1 when one failed, is not complete or is too large to keep.
Needs what `./dev gpu-test --build` makes."""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PORTABLE = pathlib.Path(os.environ.get("PORTABLE_BUILD", ROOT / "build" / "portable"))
GPUFL = PORTABLE / "bin" / "gpufl"
RECORDER = PORTABLE / "lib" / "libgpufl_cupti_recorder.so"
PROGRAM = PORTABLE / "bin" / "fixture_program"
PREFIX = "h200_"
MOST_BYTES = 300 * 1024
TIMEOUT_S = 120

SCENARIOS = {
    "tiny": ([PROGRAM, "tiny"], []),
    "graphs": ([PROGRAM, "graphs"], ["--graphs"]),
    "streams": ([PROGRAM, "streams"], []),
    "contexts": ([PROGRAM, "contexts"], ["--memory"]),
    "copies": ([PROGRAM, "copies"], ["--memory"]),
    "sync_in_loop": ([PROGRAM, "sync_in_loop"], ["--stacks"]),
    "gpt": ([sys.executable, ROOT / "tests" / "device" / "pytorch" / "one_step.py"], ["--stacks"]),
}


def run(command, **variables):
    """What was wrong with it; None: nothing."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "bench" / "gpu"), **variables)
    try:
        ran = subprocess.run(
            [str(word) for word in command],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if ran.returncode == 0 else f"ended with {ran.returncode}: {ran.stdout[-2000:]}"


def size_of(path):
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def record(name, command, folder):
    path = folder / "recordings" / f"{PREFIX}{name}.cupti"
    path.parent.mkdir(parents=True, exist_ok=True)
    wrong = run(command, CUDA_INJECTION64_PATH=str(RECORDER), GPUFL_CUPTI_RECORD=str(path))
    if wrong is None and not path.is_file():
        wrong = "nothing was recorded"
    return path, wrong


def trace(name, command, options, folder):
    path = folder / "sessions" / f"{PREFIX}{name}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gpufl-fixtures-") as logs:
        wrong = run([GPUFL, "trace", "--output", logs, "--name", name, *options, "--", *command])
        if wrong is not None:
            return path, wrong
        sessions = sorted({file.parent for file in pathlib.Path(logs).rglob("system*.log*")})
        if len(sessions) != 1:
            return path, f"{len(sessions)} sessions, not one"
        shutil.copytree(sessions[0], path)
    return path, run([GPUFL, "verify", path])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for needed in (GPUFL, RECORDER, PROGRAM):
        if not needed.is_file():
            sys.exit(f"record_fixtures: no {needed}: './dev gpu-test --build' makes it")
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    lines = []
    failed = False
    with tempfile.TemporaryDirectory(prefix="gpufl-fixtures-") as temporary:
        folder = pathlib.Path(temporary)
        for name, (command, options) in SCENARIOS.items():
            for path, wrong in (record(name, command, folder), trace(name, command, options, folder)):
                size = size_of(path) if path.exists() else 0
                if wrong is None and size > MOST_BYTES:
                    wrong = f"more than {MOST_BYTES} bytes"
                failed |= wrong is not None
                lines.append(f"{path.relative_to(folder)}: {size} bytes: {wrong or 'ok'}")
                print(lines[-1], flush=True)
        with tarfile.open(out / "fixtures.tar.gz", "w:gz") as archive:
            for part in sorted(folder.iterdir()):
                archive.add(part, arcname=part.name)
    (out / "fixtures.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
