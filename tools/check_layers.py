#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom: the table of ARCHITECTURE.md, as code.

A room is a folder of src/, or include/ or apps/. Everything that the tables do not allow is an
error. Unit tests (foo_test.cpp) may also use the rooms in TEST_ROOMS.
"""

import re

import source_tree

ROOMS = {
    "include": set(),
    "base": set(),
    "format": {"base"},
    "backend": {"base", "format"},
    "backend/nvidia": {"backend", "format", "base"},
    "backend/synthetic": {"backend", "format", "base"},
    "symbols": {"base", "format"},
    "capture": {"base", "format", "backend", "symbols", "include"},
    "client": {"base", "format", "capture", "analysis", "report", "net", "include"},
    "analysis": {"base", "format", "symbols"},
    "report": {"base", "format", "analysis"},
    "report/html": {"report", "base", "format", "analysis", "export"},
    "export": {"base", "format", "symbols", "analysis"},
    "import": {"base", "format", "backend", "symbols", "capture", "include"},
    "net": {"base"},
    "cli": {
        "base", "format", "backend", "backend/synthetic", "symbols", "capture", "client",
        "analysis", "report", "report/html", "export", "import", "net", "include",
    },
    "apps": {"cli", "client"},
}  # fmt: skip
TEST_ROOMS = {"backend/synthetic", "include"}
# The one file that names vendors.
REGISTRY = "src/backend/registry.cpp"
REGISTRY_ROOMS = {"backend/nvidia", "backend/synthetic"}

# Third-party headers, by how their name begins. Anything else in <> has to be the standard
# library's or the system's, and in include/ the standard library's.
THIRD_PARTY = [
    ("fmt/", {"format", "capture", "client", "analysis", "report", "report/html", "export",
              "import", "net", "cli", "backend", "backend/nvidia", "backend/synthetic"}),
    ("boost/", {"net"}),
    ("zstd", {"format"}),
    ("zlib", {"export", "import"}),
    ("sqlite3", {"import"}),
    ("CLI/", {"cli"}),
    ("elfutils/", {"symbols"}),
    ("libelf", {"symbols"}),
    ("gelf", {"symbols"}),
    ("libiberty/", {"symbols"}),
    ("nvml", {"backend/nvidia"}),
    ("cuda", {"backend/nvidia"}),
    ("cupti", {"backend/nvidia"}),
    ("nvperf", {"backend/nvidia"}),
    ("nvtx3/", {"backend/nvidia"}),
]  # fmt: skip
TEST_THIRD_PARTY = ("gtest/", "gmock/")
POSIX_HEADER = re.compile(r"^[a-z0-9_]+(/[a-z0-9_]+)*\.h$")
# Used by public headers where the system has it: behind __has_include.
GUARDED_HEADERS = {"sys/mman.h"}
STANDARD_HEADER = re.compile(r"^[a-z0-9_]+$")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
MAX_APP_LINES = 40


def room_of(path):
    """The room that a path (relative to the repository, or to src/) belongs to, or None."""
    parts = [part for part in path.parts if part != "src"]
    if len(parts) < 2:
        return None
    inner = "/".join(parts[:2])
    return inner if len(parts) > 2 and (inner in ROOMS or parts[0] == "backend") else parts[0]


def angle_error(room, is_test, header):
    if header.startswith(("gpufl/", "warpscope/", "warpscope_host.hpp")):
        allowed = room == "include" or "include" in ROOMS[room] or (is_test and "include" in TEST_ROOMS)
        return None if allowed else "may not include the public headers"
    if is_test and header.startswith(TEST_THIRD_PARTY):
        return None
    for prefix, rooms in THIRD_PARTY:
        if header.startswith(prefix):
            return None if room in rooms else f"may not include <{header}>"
    if STANDARD_HEADER.match(header):
        return None
    if POSIX_HEADER.match(header) and (room != "include" or header in GUARDED_HEADERS):
        return None
    return f"may not include <{header}>"


def quote_error(path, room, is_test, header):
    target = room_of(source_tree.pathlib.PurePosixPath(header))
    if target is None:
        return f'writes "{header}" without its room'
    allowed = {room} | ROOMS[room]
    if is_test:
        allowed |= TEST_ROOMS
    if str(path) == REGISTRY:
        allowed |= REGISTRY_ROOMS
    return None if target in allowed else f'may not include "{header}"'


def check_file(root, path):
    room = room_of(path)
    if room not in ROOMS:
        return [f"{path}: the room '{room}' is not in the table of tools/check_layers.py"]
    errors = []
    is_test = path.name.endswith("_test.cpp")
    lines = (root / path).read_text().splitlines()
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        kind, header = found.groups()
        if kind == "<":
            error = angle_error(room, is_test, header)
        else:
            error = quote_error(path, room, is_test, header)
        if error:
            errors.append(f"{path}:{number}: {room} {error}")
    if room == "apps" and len(lines) > MAX_APP_LINES:
        errors.append(f"{path}: {len(lines)} lines; apps/ holds main() only, {MAX_APP_LINES} at most")
    return errors


def main():
    root = source_tree.parse_root(__doc__)
    errors = []
    for path in source_tree.files(root):
        if path.suffix in source_tree.CXX_SUFFIXES and path.parts[0] in ("include", "src", "apps"):
            errors += check_file(root, path)
    source_tree.finish(errors)


if __name__ == "__main__":
    main()
