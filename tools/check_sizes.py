#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no source file outgrows a reader: an error over the limit, a warning well before."""

import source_tree

MAX_LINES = 800
WARN_LINES = 500
MAX_HEADER_LINES = 400
SUFFIXES = source_tree.CXX_SUFFIXES | source_tree.WEB_SUFFIXES | {".py", ".sh", ".cmake"}


def main():
    root = source_tree.parse_root(__doc__)
    errors = []
    for path in source_tree.files(root):
        if str(path) in source_tree.MADE:
            continue
        if path.suffix not in SUFFIXES and path.name not in ("dev", "CMakeLists.txt"):
            continue
        lines = len((root / path).read_bytes().splitlines())
        limit = MAX_HEADER_LINES if path.suffix in (".hpp", ".cuh") else MAX_LINES
        if lines > limit:
            errors.append(f"{path}: {lines} lines, {limit} at most: split it by concern")
        elif lines > WARN_LINES:
            print(f"{path}: {lines} lines; over {WARN_LINES} needs a reason")
    source_tree.finish(errors)


if __name__ == "__main__":
    main()
