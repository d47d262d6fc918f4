#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that ELF files may be given away: what they need, and what is linked into them.

Each needs glibc, no newer than said, and libgcc_s, and has nothing of elfutils, which is LGPL and is
opened at run time. What its linker took from static libraries, by the map that it wrote, is what
tools/third_party.py allows. A file's map has the name of its CMake target.

check_binaries.py --glibc 2.34 --maps FOLDER FILE ...
"""

import argparse
import pathlib
import re
import subprocess
import sys

import third_party

# What every Linux has with that glibc.
ALLOWED_LIBRARIES = re.compile(
    r"(lib(c|m|dl|rt|pthread)\.so\.\d|libgcc_s\.so\.1|ld-linux-x86-64\.so\.2|libgpufl\.so\.\S+)$"
)
ELFUTILS = re.compile(r"(dwarf|dwfl|dwelf|elf|elf32|elf64|gelf|ebl)_\w+$")
VERSION = re.compile(r"\b(GLIBC|GLIBCXX|CXXABI)_(\d+(?:\.\d+)*)\b")
MEMBER = re.compile(r"^(?:\S*/)?([^/\s(]+\.a)\(([^)]+)\)")
TARGETS = {
    "_core": "gpufl_core",
    "gpufl": "program_gpufl",
    "gpufl-agent": "program_gpufl-agent",
    "gpufl-monitor": "program_gpufl-monitor",
    "libgpufl": "gpufl",
    "libgpufl_inject": "gpufl_inject",
}


def is_elf(content):
    return content.startswith(b"\x7fELF")


def _readelf(path, *options):
    command = ["readelf", "--wide", *options, path]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _as_version(text):
    return tuple(int(number) for number in text.split("."))


def check_needs(path, glibc):
    """What the file asks of the system that it runs on."""
    dynamic = _readelf(path, "--dynamic")
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not ALLOWED_LIBRARIES.match(library):
            yield f"needs {library}"
    for run_path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
        if not all(part.startswith("$ORIGIN") for part in run_path.split(":")):
            yield f"looks for libraries in {run_path}"
    for kind, version in sorted(set(VERSION.findall(_readelf(path, "--version-info")))):
        if kind != "GLIBC":
            yield f"needs libstdc++ of the system ({kind}_{version})"
        elif _as_version(version) > _as_version(glibc):
            yield f"needs glibc {version}"
    for line in _readelf(path, "--symbols", "--dyn-syms").splitlines():
        symbol = line.split()[-1].partition("@")[0] if line.strip() else ""
        if ELFUTILS.match(symbol):
            yield f"has elfutils' {symbol}"


def linked_members(text):
    """Archive and member of all that the linker took from static libraries, by its map."""
    section = re.search(r"^Archive member included.*?(?=^\S[^\n]*\n\n)", text, re.M | re.S)
    return [match.groups() for line in (section[0] if section else "").splitlines() if (match := MEMBER.match(line))]


def check_linked(path):
    """That it holds our own rooms and what third_party.py lists, and nothing else."""
    allowed = {archive: part for part in third_party.PARTS for archive in part.archives}
    members = linked_members(path.read_text())
    if not members:
        yield f"has a map that shows nothing: {path}"
    for archive, member in members:
        if re.match(r"lib(gpufl_|nanobind)", archive):
            continue
        part = allowed.get(archive)
        if part is None:
            yield f"links {archive}, which tools/third_party.py does not list"
        elif part.members and member not in part.members:
            yield f"links {member} of {archive}, whose licence does not let it"


def check(path, name, glibc, maps):
    """All of it; `name` is the file's in what is given away. Without maps, what it links is not seen."""
    target = TARGETS.get(pathlib.PurePath(name).name.partition(".")[0])
    errors = list(check_needs(path, glibc))
    if target is None:
        errors.append("is not a file that we know")
    elif maps:
        errors += check_linked(maps / f"{target}.map")
    return [f"{name} {error}" for error in errors]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--glibc", required=True)
    parser.add_argument("--maps", type=pathlib.Path, required=True)
    parser.add_argument("file", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    errors = []
    for path in arguments.file:
        errors += check(path, path, arguments.glibc, arguments.maps)
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
