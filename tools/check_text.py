#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what clang-format and the compiler do not see in the text of sources and scripts."""

import re

import phrases
import source_tree

SOURCE_SUFFIXES = source_tree.CXX_SUFFIXES | source_tree.WEB_SUFFIXES | {".py", ".sh"}
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".md", ".cmake", ".txt", ".json", ".in", ".html"}
SPDX = "SPDX-License-Identifier: Apache-2.0"
UNFINISHED = (re.compile(r"\b(TODO|FIXME|XXX)\b"), "finish it, or open an issue")
SLASHES = (re.compile(r"^\s*/\*"), "comments are written with //")
# What is forbidden in C++, and why.
FORBIDDEN = [
    (re.compile(r"\brandom_device\b"), "needs glibc 2.36: use getrandom(2)"),
    SLASHES,
    UNFINISHED,
]
# The same for the dashboard, whose policy lets no markup in strings become part of a page.
FORBIDDEN_IN_WEB = [
    (re.compile(r"\bdangerouslySetInnerHTML\b|\.innerHTML\b"), "names of programs are data: let React write them"),
    (re.compile(r"\bconsole\.log\b"), "the console is for nobody: show it on the page"),
    SLASHES,
    UNFINISHED,
]
VAGUE_NAME = re.compile(r"(manager|helper|util)s?(_|\.|$)")


def check_cxx(path, lines):
    for number, line in enumerate(lines, 1):
        for pattern, reason in FORBIDDEN:
            if pattern.search(line):
                yield f"{path}:{number}: {reason}"
    if path.suffix in (".hpp", ".cuh") and "#pragma once" not in lines[:3]:
        yield f"{path}: a header begins with the licence line and #pragma once"


def check_web(path, lines):
    for number, line in enumerate(lines, 1):
        for pattern, reason in FORBIDDEN_IN_WEB if path.suffix in (".ts", ".tsx") else [UNFINISHED]:
            if pattern.search(line):
                yield f"{path}:{number}: {reason}"


def check_file(root, path):
    text = (root / path).read_bytes()
    if not text:
        return
    if not text.endswith(b"\n") or text.endswith(b"\n\n"):
        yield f"{path}: ends in one newline"
    lines = text.decode(errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield f"{path}:{number}: trailing space"
        if "\t" in line:
            yield f"{path}:{number}: tab"
    if path.suffix not in SOURCE_SUFFIXES and path.name != "dev":
        return
    is_web = path.suffix in source_tree.WEB_SUFFIXES
    if is_web and path.parts[0] != "web":
        return  # a part of pages that we write, which say it once
    if not any(SPDX in line for line in lines[:3]):
        yield f"{path}: lacks the line '{SPDX}'"
    if VAGUE_NAME.search(path.name):
        yield f"{path}: say in the name what is inside"
    if path.suffix in source_tree.CXX_SUFFIXES:
        yield from check_cxx(path, lines)
    if is_web:
        yield from check_web(path, lines)


def check_phrases(root, path):
    if phrases.is_page(path):
        yield from phrases.in_page(path, (root / path).read_text())
    if phrases.has_strings(path):
        yield from phrases.in_strings(path, (root / path).read_text())


def main():
    root = source_tree.root_parser(__doc__).parse_args().root
    errors = []
    for path in source_tree.files(root):
        errors += check_phrases(root, path)
        is_data = "golden" in path.parts or "data" in path.parts or str(path) in source_tree.MADE
        if not is_data and (path.suffix in TEXT_SUFFIXES or path.name == "dev"):
            errors += check_file(root, path)
    source_tree.finish(errors)


if __name__ == "__main__":
    main()
