# SPDX-License-Identifier: Apache-2.0
"""Phrases to avoid in what users read, each with the better wording. check_text.py applies the list."""

import ast
import inspect
import pathlib
import re

# The pages that people read most. A page is added here once it has no hits.
PAGES = [
    *("README.md", "docs/README.md", "docs/guide/*.md", "docs/reference/insights/*.md"),
    *(
        f"docs/reference/{name}.md"
        for name in (
            *("cli", "configuration", "control-protocol", "cpp-api", "exit-codes", "figures", "http-api", "insights"),
            *("metrics", "prometheus", "python", "python-dataframes", "sql", "trace-states"),
            *("warpscope-cpp", "warpscope-device", "warpscope-format", "warpscope-python"),
        )
    ),
    "python/warpscope/README.md",
]
# Folders with string literals that users see.
STRING_FOLDERS = ("apps", "include", "python/bindings", "python/gpufl", "python/warpscope/src", "src")

# Between two words; a phrase may go over the end of a line, but not of a paragraph.
SPACE = r"(?: *\n *| +)"
# "There is none" is fine, over the end of a line, too.
NOT_THERE = r"(?<!there\s)(?<!there\s\n)(?<!there\n\s\s)"
# Comparisons, and what has better advice.
FINE_AFTER_NO = r"(longer|more|less|fewer|larger|smaller|faster|slower|later|earlier|error|fault|failure|zero)\b"
PHRASES = [
    (re.compile(pattern.replace(" ", SPACE), re.IGNORECASE), advice)
    for pattern, advice in [
        (r"\b(takes?|took|in) \d[\d.]* of (its|the) time\b", "write the ratio: takes 1.19x as long"),
        (r"\bof what it (does|did|takes|took)\b", "write the ratio: 1.10x as long as with Trace"),
        (r"\bof its time\b", "name the ratio or the share: 1.19x, 12% of the session"),
        (r"\b(is|are|was) no (error|fault|failure|zero)\b", "say what happens: exits 0, is shown as unknown"),
        (NOT_THERE + r"\b(is|are|was|were) (?-i:none)\b", "say what is there instead: 'is not a ...', 'there is no ...'"),
        (r"\b(tells?|telling|told)\b", "report, show, record, say or know"),
        (r"\bfor ever\b", "permanently, or until you stop it"),
        (r"\b(as )?it is (said|told)\b", "name who reports it"),
        (r"\bnobody\b", "say what happens without a person: was not counted, is not recorded"),
        (r"(?<!instead\s)\bof (its|their|one's|your) own\b", "its own ..., separate"),
        (r"\binside of\b", "inside"),
        (r"\b(to|can|cannot|could|not) be had\b", "is (not) available"),
        (rf"{NOT_THERE}\b(is|are) no (?!{FINE_AFTER_NO})\w+", "'is not a ...', or 'there is no ...'"),
        (r"\bthere already\b", "already exists"),
        (r"\b(of|for) so (long|many|much)\b", "that long, that many"),
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
    yield from (in_python if path.suffix == ".py" else in_cxx)(path, text)


def in_python(path, text):
    nodes = list(ast.walk(ast.parse(text)))
    # help() shows a string that is a statement, and the reader sees prose with code in it.
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_prose = id(node) in documentation
            words = CODE.sub(blank, inspect.cleandoc(node.value)) if is_prose else node.value
            yield from hits(path, words, node.lineno)


def in_cxx(path, text):
    text = SEAM.sub(lambda seam: "\n" * seam[1].count("\n"), NO_STRING.sub(blank, text))
    for literal in LITERAL.finditer(text):
        yield from hits(path, literal[0], 1 + text.count("\n", 0, literal.start()))


def is_page(path):
    # From the root on: others of the name README.md lie elsewhere.
    return any(pathlib.PurePosixPath("/", path).match("/" + pattern) for pattern in PAGES)


def has_strings(path):
    in_folder = any(str(path).startswith(folder + "/") for folder in STRING_FOLDERS)
    return in_folder and path.suffix in (".cpp", ".hpp", ".py") and "_test." not in path.name
