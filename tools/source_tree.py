# SPDX-License-Identifier: Apache-2.0
"""What the checks in this folder share: which files they read, and how they report."""

import argparse
import pathlib
import subprocess
import sys

CXX_SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh"}
WEB_SUFFIXES = {".ts", ".tsx", ".mjs", ".css"}
# What programs write, for programs; nobody reads it line by line.
MADE = {"web/package-lock.json", "web/src/api/openapi.json", "web/src/api/wire.ts"}


def root_parser(description):
    """Takes the tree to check: --root, or the repository that this file is in."""
    parser = argparse.ArgumentParser(description=description)
    default = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=lambda path: pathlib.Path(path).resolve(), default=default)
    return parser


def parse_root(description):
    return root_parser(description).parse_args().root


def files(root):
    """Every file under root that git tracks or would track, relative to root, sorted."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = {pathlib.PurePosixPath(name) for name in listed.split("\0") if name}
    return sorted(path for path in paths if (root / path).is_file())


def finish(errors):
    """Prints the errors and ends with the exit code that CI understands."""
    for error in errors:
        print(error, file=sys.stderr)
    sys.exit(1 if errors else 0)
