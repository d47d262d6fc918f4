# SPDX-License-Identifier: Apache-2.0
"""Phrases to avoid in what users read, each with the better wording. check_text.py applies the list."""

import pathlib
import re

# The pages that people read most. A page is added here once it has no hits.
PAGES = [
    *("docs/README.md", "docs/guide/*.md"),
    *("docs/reference/configuration.md", "docs/reference/exit-codes.md"),
    *("docs/reference/insights.md", "docs/reference/trace-states.md"),
]
# Rooms whose string literals users see.
STRING_ROOMS = ("src/cli", "src/report", "src/analysis", "src/client")

PHRASES = [
    (re.compile(pattern, re.IGNORECASE), advice)
    for pattern, advice in [
        (r"\b(takes?|took|in) \d[\d.]* of (its|the) time\b", "write the ratio: takes 1.19x as long"),
        (r"\bof what it (does|did|takes|took)\b", "write the ratio: 1.10x as long as with Trace"),
        (r"\bof its time\b", "name the ratio or the share: 1.19x, 12% of the session"),
        (r"\b(is|are|was) no (error|fault|failure|zero)\b", "say what happens: exits 0, is shown as unknown"),
        (r"(?<!there )\b(is|are|was|were) none\b", "say what is there instead: 'is not a ...', 'there is no ...'"),
        (r"\b(tells?|telling|told)\b", "report, show, record, say or know"),
        (r"\bfor ever\b", "permanently, or until you stop it"),
        (r"\b(as )?it is (said|told)\b", "name who reports it"),
        (r"\bnobody\b", "say what happens without a person: was not counted, is not recorded"),
        (r"(?<!instead )\bof (its|their|one's|your) own\b", "its own ..., separate"),
        (r"\binside of\b", "inside"),
        (r"\bto be had\b|\bcan(not)? be had\b", "is (not) available"),
        (r"\bcannot be told\b|\bcan be told\b", "is not known, or cannot be determined"),
        (r"\bby hand\b", "manually, or name the tool"),
        (r"\b(goes|went|go) on\b", "continue"),
        (r"\bwhat it cost\b(?! the)", "the cost of"),
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

FENCE = re.compile(r"^ *```")
# A literal on one line. Raw strings of several lines are not looked into.
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')


def hits(line):
    """Each phrase of `line` that is on the list, with the advice for it."""
    for pattern, advice in PHRASES:
        for match in pattern.finditer(line):
            yield match[0], advice


def in_page(path, text):
    """Prose only: names in backquotes and blocks of code are what programs print and read."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code and not line.startswith("    "):
            for phrase, advice in hits(re.sub(r"`[^`]*`", "`", line)):
                yield f"{path}:{number}: avoid '{phrase}': {advice}"


def in_strings(path, text):
    """String literals of C++ that have words in them; what is included and commented is not looked at."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("#include", "//")):
            continue
        for literal in LITERAL.findall(line):
            for phrase, advice in hits(literal):
                yield f"{path}:{number}: avoid '{phrase}': {advice}"


def is_page(path):
    return any(pathlib.PurePosixPath(path).match(pattern) for pattern in PAGES)


def has_strings(path):
    in_room = any(str(path).startswith(room + "/") for room in STRING_ROOMS)
    return in_room and path.suffix in (".cpp", ".hpp") and "_test." not in path.name
