#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a wheel may be given away and describes itself right.

Its ELF files pass check_binaries.py, with the glibc of its tag. Its name, tags and metadata agree;
every file is in RECORD with its sum; licences, notices and bill of materials are there.

check_wheel.py [--maps FOLDER] WHEEL ...
"""

import argparse
import base64
import csv
import email
import hashlib
import io
import json
import pathlib
import re
import sys
import tempfile
import zipfile

import check_binaries
import third_party


def check_record(wheel, folder):
    record = f"{folder}/RECORD"
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
    names = {name for name in wheel.namelist() if not name.endswith("/")}
    for name in sorted(names ^ set(rows)):
        yield f"{name} is in the wheel or in RECORD, not in both"
    for name in sorted(names & set(rows) - {record}):
        content = wheel.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        if rows[name] != [f"sha256={digest}", str(len(content))]:
            yield f"RECORD has another sum or size of {name}"


def check_metadata(wheel, folder, project, version, tag):
    metadata = email.message_from_bytes(wheel.read(f"{folder}/METADATA"))
    if (metadata["Name"], metadata["Version"]) != (project, version):
        yield f"METADATA is of {metadata['Name']} {metadata['Version']}"
    if metadata["License-Expression"] != "Apache-2.0":
        yield f"METADATA states the licence {metadata['License-Expression']}"
    for path in ["LICENSE", *metadata.get_all("License-File", [])]:
        if f"{folder}/licenses/{path}" not in wheel.namelist():
            yield f"the licence's file {path} is missing"
    stated = email.message_from_bytes(wheel.read(f"{folder}/WHEEL")).get_all("Tag", [])
    if stated != [tag]:
        yield f"WHEEL has the tags {stated}"


def check_third_party(wheel, folder):
    """Notices and bill of materials name every part, and have the texts that licences ask for."""
    names = f"{folder}/licenses/{third_party.NOTICES}", f"{folder}/sboms/{third_party.BILL}"
    if missing := [name for name in names if name not in wheel.namelist()]:
        yield from (f"{name} is missing" for name in missing)
        return
    notices, bill = wheel.read(names[0]).decode(), json.loads(wheel.read(names[1]))
    components = {component["name"]: component for component in bill["components"]}
    for part in third_party.parts_of(is_python=True):
        if "version" not in components.get(part.name, {}):
            yield f"the bill of materials has no {part.name} with a version"
        section = notices.partition(f"\n{part.name} ")[2].partition(third_party.RULE)[0]
        if part.notice and "Copyright" not in section:
            yield f"the notices have no text of {part.name}"


def check_binaries_of(wheel, python, abi, glibc, maps):
    suffix = "abi3" if abi == "abi3" else f"cpython-{python[2:]}-x86_64-linux-gnu"
    wanted = {f"gpufl/_core.{suffix}.so", "gpufl/bin/gpufl", "gpufl/lib/libgpufl_inject.so"}
    found = {name for name in wheel.namelist() if check_binaries.is_elf(wheel.read(name))}
    for name in sorted(wanted ^ found):
        yield f"{name} is {'missing' if name in wanted else 'not a binary that we know'}"
    with tempfile.TemporaryDirectory() as unpacked:
        for name in sorted(wanted & found):
            yield from check_binaries.check(wheel.extract(name, unpacked), name, glibc, maps)


def check(path, maps):
    project, version, python, abi, system = path.name.removesuffix(".whl").split("-")
    with zipfile.ZipFile(path) as wheel:
        folder = f"{project}-{version}.dist-info"
        yield from check_record(wheel, folder)
        yield from check_metadata(wheel, folder, project, version, f"{python}-{abi}-{system}")
        if system == "any":
            binaries = [name for name in wheel.namelist() if check_binaries.is_elf(wheel.read(name))]
            yield from (f"{name} is a binary in a pure wheel" for name in binaries)
        elif promise := re.fullmatch(r"manylinux_(\d+)_(\d+)_x86_64", system):
            yield from check_third_party(wheel, folder)
            yield from check_binaries_of(wheel, python, abi, f"{promise[1]}.{promise[2]}", maps)
        else:
            yield f"{system} is no tag that other machines install"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--maps", type=pathlib.Path, help="folder of the linker's maps")
    parser.add_argument("wheel", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    failed = False
    for path in arguments.wheel:
        for error in check(path, arguments.maps):
            print(f"{path.name}: {error}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
