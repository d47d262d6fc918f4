#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom: the table of ARCHITECTURE.md, as code.

A room is a folder of src/, a folder within one that the table names, include/, apps/ or
python/bindings. Everything that the tables do not allow is an error. Unit tests (foo_test.cpp) may
also use the rooms in TEST_ROOMS. No files of two names may include each other, not even by way of
others: foo.hpp and foo.cpp are one name, tests do not count.
"""

import re

import source_tree

# In the order in which they may include each other: a later one the earlier ones.
ANALYSIS = [f"analysis/{stage}" for stage in (
    "math", "tables", "code", "summary", "session", "figures", "warp", "overview", "insights", "compare",
)]  # fmt: skip
BELOW_ANALYSIS = {"base", "text", "format", "symbols", "disassembly"}

ROOMS = {
    "include": set(),
    "base": set(),
    "text": {"base"},
    "format": {"base"},
    "format/warp": {"base", "format"},
    "backend": {"base", "format"},
    "backend/markers": {"backend", "format", "base"},
    "backend/tracing": {"backend", "format", "base"},
    "backend/nvidia": {
        "backend", "backend/nvidia/cuda", "backend/nvidia/cupti", "backend/nvidia/globaltimer",
        "backend/nvidia/nvml", "backend/nvidia/nvperf", "backend/nvidia/nvtx", "base",
    },
    "backend/nvidia/code": {"backend", "format", "base"},
    "backend/nvidia/cuda": {"backend/tracing", "base"},
    "backend/nvidia/cupti": {
        "backend", "backend/tracing", "backend/nvidia/code", "backend/nvidia/cuda", "format", "base",
    },
    "backend/nvidia/globaltimer": {"backend", "backend/nvidia/cuda", "backend/nvidia/cupti", "base"},
    "backend/nvidia/nvml": {"backend", "format", "base"},
    "backend/nvidia/nvperf": {"backend", "backend/nvidia/cuda", "backend/nvidia/cupti", "format", "base"},
    "backend/nvidia/nvtx": {"backend", "backend/markers", "base"},
    "backend/synthetic": {"backend", "format", "base"},
    "symbols": {"base", "format"},
    "disassembly": {"base", "format", "symbols"},
    "capture": {"base", "format", "format/warp", "backend", "backend/markers", "symbols", "include"},
    "client": {"base", "text", "format", "backend", "capture", *ANALYSIS, "report", "net", "include"},
    **{room: BELOW_ANALYSIS | set(ANALYSIS[:i]) for i, room in enumerate(ANALYSIS)},
    "timeline": BELOW_ANALYSIS | set(ANALYSIS),
    "report": BELOW_ANALYSIS | set(ANALYSIS),
    "report/html": {"report", "timeline"} | BELOW_ANALYSIS | set(ANALYSIS),
    "export": {"timeline"} | BELOW_ANALYSIS | set(ANALYSIS),
    "sqlite": {"base"},
    "import": {"base", "format", "format/warp", "sqlite"},
    "sql": {"timeline", "export"} | BELOW_ANALYSIS | set(ANALYSIS),
    "index": {"base", "format", "symbols", "analysis/math", "analysis/code"},
    "store": {"base", "format", "sqlite"},
    "net": {"base"},
    "agent": {"base", "format", "net"},
    "workbench": BELOW_ANALYSIS | {*ANALYSIS, "timeline", "report", "report/html", "export", "import", "sql"},
    "server": {
        "base", "text", "format", "symbols", "analysis/math", "analysis/code", "analysis/compare", "export",
        "workbench", "index", "net", "include",
    },
    "hosting": {"base", "text", "format", "store", "net", "server"},
    "cli": {
        *BELOW_ANALYSIS, *ANALYSIS, "format/warp", "backend", "backend/synthetic", "capture", "client", "timeline",
        "report", "report/html", "export", "sqlite", "import", "sql", "workbench", "index", "store", "net", "agent",
        "server", "hosting", "include",
    },
    "apps": {"cli", "client"},
    "bindings": {
        "include", "client", "backend/markers", "base", "format", *ANALYSIS, "text", "timeline", "export",
        "workbench",
    },
}  # fmt: skip
TEST_ROOMS = {"backend/synthetic", "include"}
# Rooms that may include warpscope's reader, which needs nothing else, but not gpufl's headers.
WARPSCOPE_ROOMS = {"format/warp", "import"}
# The one file that names vendors.
REGISTRY = "src/backend/registry.cpp"
REGISTRY_ROOMS = {"backend/nvidia", "backend/synthetic"}

# Third-party headers, by how their name begins. Anything else in <> has to be the standard
# library's or the system's, and in include/ the standard library's.
THIRD_PARTY = [
    ("fmt/", {"text", "format", "capture", "client", *ANALYSIS, "report", "report/html", "export",
              "import", "sql", "workbench", "net", "server", "hosting", "cli", "backend", "bindings"}),
    ("boost/", {"net"}),
    ("openssl/", {"net", "store", "hosting"}),
    ("zstd", {"format", "index", "net"}),
    ("zlib", {"export", "import", "net"}),
    ("sqlite3", {"sqlite"}),
    ("CLI/", {"cli"}),
    ("elfutils/", {"symbols"}),
    ("libelf", {"symbols"}),
    ("gelf", {"symbols"}),
    ("libiberty/", {"symbols"}),
    ("nvml", {"backend/nvidia/nvml"}),
    ("cuda", {"backend/nvidia/cuda", "backend/nvidia/cupti", "backend/nvidia/globaltimer"}),
    ("cupti", {"backend/nvidia/cupti"}),
    ("nvperf", {"backend/nvidia/nvperf"}),
    ("nvtx3/", {"backend/nvidia/nvtx", "bindings"}),
    ("nanobind/", {"bindings"}),
    ("Python.h", {"bindings"}),
]  # fmt: skip
TEST_THIRD_PARTY = ("gtest/", "gmock/")
POSIX_HEADER = re.compile(r"^[a-z0-9_]+(/[a-z0-9_]+)*\.h$")
# Used by public headers where the system has it: behind __has_include.
GUARDED_HEADERS = {"sys/mman.h"}
STANDARD_HEADER = re.compile(r"^[a-z0-9_]+$")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
MAX_APP_LINES = 40


def room_of(path):
    """The room that a path (relative to the repository, to src/ or to python/) belongs to, or None."""
    folders = list(path.parts[:-1])
    if folders[:1] in (["src"], ["python"]):
        folders.pop(0)
    if not folders:
        return None
    whole = "/".join(folders)
    # A folder of a vendor that the table does not know is an error, not a part of backend.
    depths = range(len(folders), 1 if folders[0] in ("backend", "analysis") and len(folders) > 1 else 0, -1)
    return next((room for n in depths if (room := "/".join(folders[:n])) in ROOMS), whole)


def angle_error(room, is_test, header):
    if header.startswith(("warpscope/", "warpscope_host.hpp")) and room in WARPSCOPE_ROOMS:
        return None
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
        allowed |= TEST_ROOMS | (set(ANALYSIS) if room in ANALYSIS else set())
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


def stem_of(path):
    return str(path.with_suffix("")).removeprefix("src/").removeprefix("python/")


def included_stems(root, path, stems):
    for line in (root / path).read_text().splitlines():
        found = INCLUDE.match(line)
        if not found:
            continue
        kind, header = found.groups()
        target = source_tree.pathlib.PurePosixPath(header if kind == '"' else f"include/{header}")
        if stem_of(target) in stems:
            yield stem_of(target)


def cycles(graph):
    """Groups of stems each of which reaches all others, as Tarjan finds them; sorted."""
    order, low, open_stems, found = {}, {}, [], []

    def visit(stem):
        order[stem] = low[stem] = len(order)
        open_stems.append(stem)
        for target in sorted(graph[stem]):
            if target not in order:
                visit(target)
                low[stem] = min(low[stem], low[target])
            elif target in open_stems:
                low[stem] = min(low[stem], order[target])
        if low[stem] == order[stem]:
            group = open_stems[open_stems.index(stem) :]
            del open_stems[open_stems.index(stem) :]
            if len(group) > 1:
                found.append(sorted(group))

    for stem in sorted(graph):
        if stem not in order:
            visit(stem)
    return sorted(found)


def check_cycles(root, paths):
    sources = [path for path in paths if not path.name.endswith("_test.cpp")]
    stems = {stem_of(path) for path in sources}
    graph = {stem: set() for stem in stems}
    for path in sources:
        graph[stem_of(path)] |= set(included_stems(root, path, stems)) - {stem_of(path)}
    return [f"these include each other: {', '.join(group)}" for group in cycles(graph)]


def main():
    root = source_tree.parse_root(__doc__)
    paths = [
        path
        for path in source_tree.files(root)
        if path.suffix in source_tree.CXX_SUFFIXES | {".def", ".inc"}
        and (path.parts[0] in ("include", "src", "apps") or path.parts[:2] == ("python", "bindings"))
    ]
    errors = [error for path in paths for error in check_file(root, path)]
    source_tree.finish(errors + check_cycles(root, paths))


if __name__ == "__main__":
    main()
