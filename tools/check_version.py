#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that places which state a version agree (docs/releasing.md has the scheme).

--tag v1.2.3: also that the tag is this version's, and that CHANGELOG.md has its section.
--notes: prints that section, for the release's page.
"""

import argparse
import pathlib
import re
import sys

NUMBER = r"\d+\.\d+\.\d+"


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def gpufl_version(root):
    text = (root / "include/gpufl/version.hpp").read_text()
    return re.search(r'define GPUFL_VERSION "(.*)"', text)[1]


def check_macros(root):
    """Programs compare the parts, people read the whole."""
    text = (root / "include/gpufl/version.hpp").read_text()
    parts = [re.search(rf"define GPUFL_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    if ".".join(parts) != gpufl_version(root):
        yield f"include/gpufl/version.hpp: the parts are {'.'.join(parts)}, the whole is {gpufl_version(root)}"


def check_warpscope(root):
    path = "python/warpscope/src/warpscope/_version.py"
    if not re.search(rf'^__version__ = "{NUMBER}"$', (root / path).read_text(), re.MULTILINE):
        yield f"{path}: no version of three numbers"


def check_format(root):
    """The log's own number, which only a change of meaning moves."""
    stated = re.search(r"major version of this format: (\d+)", (root / "format/SPEC.md").read_text())[1]
    written = re.search(r"kFormatMajor = (\d+);", (root / "src/format/schema.hpp").read_text())[1]
    if stated != written:
        yield f"format/SPEC.md describes format {stated}, src/format/schema.hpp writes {written}"


def sections(root):
    """Titles of CHANGELOG.md's sections, newest first, and their texts."""
    parts = re.split(r"^## (.*)\n", (root / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2]))


def check_changelog(root):
    titles = [title for title, _ in sections(root)]
    if titles[:1] != ["Unreleased"]:
        yield 'CHANGELOG.md: the first section is "Unreleased"'
    for title in titles[1:]:
        if not re.fullmatch(rf"{NUMBER} \(\d{{4}}-\d\d-\d\d\)", title):
            yield f'CHANGELOG.md: "{title}" is no version with its day: 1.2.3 (2026-01-31)'
            return
    versions = [numbers(title.split()[0]) for title in titles[1:]]
    if versions != sorted(set(versions), reverse=True):
        yield "CHANGELOG.md: the newest version comes first"
    elif versions and versions[0] > numbers(gpufl_version(root)):
        yield "CHANGELOG.md: it has a newer version than include/gpufl/version.hpp"


def release_notes(root):
    version = gpufl_version(root)
    return next((text.strip() for title, text in sections(root) if title.split()[0] == version), "")


def check_tag(root, tag):
    if tag != f"v{gpufl_version(root)}":
        yield f"the tag {tag} is not that of version {gpufl_version(root)}"
    if not release_notes(root):
        yield f"CHANGELOG.md: no section of version {gpufl_version(root)}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=pathlib.Path, default=default)
    parser.add_argument("--tag")
    parser.add_argument("--notes", action="store_true")
    arguments = parser.parse_args()
    root = arguments.root
    errors = [error for check in (check_macros, check_warpscope, check_format, check_changelog) for error in check(root)]
    if arguments.tag:
        errors += check_tag(root, arguments.tag)
    for error in errors:
        print(error, file=sys.stderr)
    if arguments.notes and not errors:
        print(release_notes(root))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
