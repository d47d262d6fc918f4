#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over what a build folder compiles, several files at once.

A file that was clean is not looked at again until it, a project header it reaches, its compile
command, the configuration or clang-tidy itself changes: ~/.cache/gpufl/clang-tidy remembers.
"""

import argparse
import concurrent.futures
import hashlib
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(rb'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
INCLUDE_FOLDERS = [ROOT / "include", ROOT / "src", ROOT]
# What makes a compiler, gcc or clang, use a precompiled header.
PRECOMPILED = re.compile(
    r" (?:-fpch-preprocess|-Winvalid-pch|-Xclang -fno-pch-timestamp"
    r"|(?:-Xclang )?-include(?:-pch)? (?:-Xclang )?\S*/cmake_pch\.\S+)"
)
OUTPUT = re.compile(r" -o \S+")


def reached_files(source):
    """The source and the project's own headers that it includes, directly or not."""
    reached, waiting = set(), [source]
    while waiting:
        path = waiting.pop()
        if path in reached:
            continue
        reached.add(path)
        for name in INCLUDE.findall(path.read_bytes()):
            for folder in [path.parent, *INCLUDE_FOLDERS]:
                header = (folder / name.decode()).resolve()
                if header.is_file() and header.is_relative_to(ROOT):
                    waiting.append(header)
                    break
    return sorted(reached)


def fingerprint(entry, common):
    digest = hashlib.sha256(common)
    digest.update(entry["command"].replace(str(ROOT), "").encode())
    for path in reached_files(pathlib.Path(entry["file"])):
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def single_entries(entry):
    """An entry for each source: of those that are compiled at once the batch includes them."""
    batch = pathlib.Path(entry["file"])
    if batch.parent.name != "Unity":
        return [entry]
    sources = [name.decode() for name in INCLUDE.findall(batch.read_bytes())]
    command = entry["command"]
    return [{**entry, "file": name, "command": command.replace(str(batch), name)} for name in sources]


def project_entries(build):
    """One entry of the compilation database for each source of the project itself."""
    entries = {}
    database = json.loads((build / "compile_commands.json").read_text())
    for entry in itertools.chain.from_iterable(map(single_entries, database)):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(ROOT) and not path.is_relative_to(build.resolve()):
            # Without what is precompiled it reads what is included, and what is forgotten shows.
            entry["command"] = OUTPUT.sub("", PRECOMPILED.sub("", entry["command"]))
            entries.setdefault(entry["file"], entry)
    return [entries[name] for name in sorted(entries)]


def is_test(path):
    return path.stem.endswith("_test") or path.relative_to(ROOT).parts[0] in ("tests", "bench")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--clang-tidy", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--tests", choices=("with", "without"), default="with")
    arguments = parser.parse_args()

    version = subprocess.run([arguments.clang_tidy, "--version"], check=True, capture_output=True)
    common = version.stdout + (ROOT / ".clang-tidy").read_bytes()
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    cache = pathlib.Path(home) / "gpufl" / "clang-tidy"
    cache.mkdir(parents=True, exist_ok=True)

    def check(entry):
        clean = cache / fingerprint(entry, common)
        if clean.exists():
            return None
        command = [arguments.clang_tidy, "-p", database, "--quiet", entry["file"]]
        # The commands may be another compiler's, and .clang-tidy decides what is an error.
        command += ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-error"]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode == 0:
            clean.touch()
        return result

    entries = project_entries(arguments.build)
    database = arguments.build / "clang-tidy"
    database.mkdir(exist_ok=True)
    (database / "compile_commands.json").write_text(json.dumps(entries))
    if arguments.tests == "without":
        entries = [entry for entry in entries if not is_test(pathlib.Path(entry["file"]))]
    checked = failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(check, entries):
            checked += result is not None
            if result is not None and result.returncode != 0:
                failed += 1
                print(result.stdout, result.stderr, sep="", flush=True)
    print(f"clang-tidy: {len(entries)} files, {checked} looked at, {failed} with findings")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
