# SPDX-License-Identifier: Apache-2.0
"""Phrases to avoid in what users read, each with the better wording. check_text.py applies the list."""

import pathlib
import re

# The pages that people read most. A page is added here once it has no hits.
PAGES = [
    *("README.md", "docs/README.md", "docs/guide/*.md"),
    *("docs/reference/configuration.md", "docs/reference/exit-codes.md"),
    "docs/reference/figures.md",
    *("docs/reference/insights.md", "docs/reference/trace-states.md"),
]
# Rooms whose string literals users see.
STRING_ROOMS = ("src/cli", "src/report", "src/analysis", "src/client")

# Between two words; a phrase may go over the end of a line, but not of a paragraph.
SPACE = r"(?: *\n *| +)"
PHRASES = [
    (re.compile(pattern.replace(" ", SPACE), re.IGNORECASE), advice)
    for pattern, advice in [
        (r"\b(takes?|took|in) \d[\d.]* of (its|the) time\b", "write the ratio: takes 1.19x as long"),
        (r"\bof what it (does|did|takes|took)\b", "write the ratio: 1.10x as long as with Trace"),
        (r"\bof its time\b", "name the ratio or the share: 1.19x, 12% of the session"),
        (r"\b(is|are|was) no (error|fault|failure|zero)\b", "say what happens: exits 0, is shown as unknown"),
        (r"(?<!there\s)\b(is|are|was|were) none\b", "say what is there instead: 'is not a ...', 'there is no ...'"),
        (r"\b(tells?|telling|told)\b", "report, show, record, say or know"),
        (r"\bfor ever\b", "permanently, or until you stop it"),
        (r"\b(as )?it is (said|told)\b", "name who reports it"),
        (r"\bnobody\b", "say what happens without a person: was not counted, is not recorded"),
        (r"(?<!instead\s)\bof (its|their|one's|your) own\b", "its own ..., separate"),
        (r"\binside of\b", "inside"),
        (r"\bto be had\b|\bcan(not)? be had\b", "is (not) available"),
        (r"\bcannot be told\b|\bcan be told\b", "is not known, or cannot be determined"),
        (r"\bby hand\b", "manually, or name the tool"),
        (r"\b(goes|went|go) on\b", "continue"),
        (r"\bwhat it cost\b(?!\sthe)", "the cost of"),
        (r"\bso as (not )?to\b", "to"),
        (r"\bthat which\b", "what"),
        (r"\bis not there\b", "does not exist, or was not found"),
        (r"\bin any case\b", "always"),
        (r"\bbeside it\b", "also"),
        (r"\bfalls? to\b", "falls back to"),
        (r"\banew\b", "again"),
        (r"\bknows nothing of\b", "does not use"),
        (r"\blies in\b|\blie in\b", "is in, are in"),
    ]
]

# Code in pages, in fences, indented or in backquotes: what programs print and read.
CODE = re.compile(r"^ *```.*?^ *```$|^ {4}.*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
# What is no string in C++, and the seam of two literals that are one. Raw strings are not looked into.
NO_STRING = re.compile(r"^\s*(?://|#include).*$|'(?:\\.|[^'\\])'", re.MULTILINE)
SEAM = re.compile(r'"(\s*\n\s*)"')
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')


def blank(match):
    """As many lines as before, without their text."""
    return "`" + "\n" * match[0].count("\n")


def hits(path, text, first=1):
    for pattern, advice in PHRASES:
        for match in pattern.finditer(text):
            line = first + text.count("\n", 0, match.start())
            yield f"{path}:{line}: avoid '{' '.join(match[0].split())}': {advice}"


def in_page(path, text):
    yield from hits(path, CODE.sub(blank, text))


def in_strings(path, text):
    text = SEAM.sub(r"\1", NO_STRING.sub(blank, text))
    for literal in LITERAL.finditer(text):
        yield from hits(path, literal[0], 1 + text.count("\n", 0, literal.start()))


def is_page(path):
    # From the root on: others of the name README.md lie elsewhere.
    return any(pathlib.PurePosixPath("/", path).match("/" + pattern) for pattern in PAGES)


def has_strings(path):
    in_room = any(str(path).startswith(room + "/") for room in STRING_ROOMS)
    return in_room and path.suffix in (".cpp", ".hpp") and "_test." not in path.name
