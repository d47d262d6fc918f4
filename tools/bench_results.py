#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps what benchmarks measured, and makes the page that shows it.

keep FOLDER --machine NAME [--commit HASH] [--driver VERSION]
    copies FOLDER/*.json, as `./dev bench` left them in build/bench, to bench/results/NAME/, with the
    commit that they were measured at
page
    writes docs/reference/performance.md from bench/results/
page --check
    fails when that page is not what `page` would write
"""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = pathlib.PurePosixPath("bench/results")
PAGE = pathlib.PurePosixPath("docs/reference/performance.md")

INTRODUCTION = """\
# Performance

What recording costs, measured by the programs in bench/ on named machines.
"""

# What most people want to know: machine, benchmark, figure, and the question that it answers.
HEADLINES = [
    ("nvidia-h200", "gpt_overhead", "Trace / off", "A launch-bound PyTorch training step under Trace"),
    ("nvidia-h200", "gpt_overhead", "Trace / bare CUPTI", "The same step, compared with CUPTI alone"),
    (
        "nvidia-h200",
        "gpt_overhead",
        "Trace with stacks / Trace",
        "Native and Python stacks of every launch, on top of Trace",
    ),
    (
        "nvidia-h200",
        "gpt_idle",
        "injected and dormant / not injected",
        "The same step with the recorder injected and dormant",
    ),
    ("nvidia-h200", "gpt_overhead", "log, sealed", "Disk space for each kernel in the log"),
    ("nvidia-h200", "graph_soak", "missing", "Kernels missing after 30 million in CUDA graphs"),
    (
        "nvidia-h200",
        "kill_bench",
        "age of the newest readable scope, worst run",
        "The most that `kill -9` loses",
    ),
    (
        "nvidia-h200",
        "sampling_truth",
        "barrier_bound: furthest share",
        "Largest difference between a stall share and that of `ncu`",
    ),
    ("nvidia-h200", "scope_bench", "scope pair / two clock reads", "A scope, compared with two clock reads"),
    (
        "nvidia-h200",
        "warpscope_gemm",
        "fast path / none",
        "A matrix product at 98% of the speed of cuBLAS, profiled inside by warpscope",
    ),
]

HOW_TO_READ = """\
`tools/bench_results.py page` writes this page from bench/results/; do not edit it. `./dev bench` repeats the
measurements.

A ratio compares two ways to do the same work. The two alternate, in one process or as processes that take turns.
The interval is the 95% interval of the median of all pairs, and its worse end must meet the bar. Figures from
different machines or runs cannot be compared.
"""


def number(value):
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def figure_cells(figure):
    if "ratio" in figure:
        measured = f"{figure['ratio']:.3f}"
        spread = f"{figure['low']:.3f} to {figure['high']:.3f}, {figure['pairs']} pairs"
    else:
        measured = f"{number(figure['value'])} {figure['unit']}".strip()
        spread = ""
        if "pairs" in figure:
            spread = f"{number(figure['low'])} to {number(figure['high'])}, {figure['pairs']} pairs"
    bar = ""
    for key, words in (("at_most", "at most"), ("at_least", "at least")):
        if key in figure:
            bar = f"{words} {number(figure[key])}" + ("" if figure["within"] else " (missed)")
    return figure["figure"], measured, spread, bar


def benchmark_lines(result):
    run = dict(result["run"])
    day = datetime.datetime.fromtimestamp(run.pop("unix_time_s"), datetime.timezone.utc)
    facts = [f"{day:%Y-%m-%d}", f"commit {run.pop('commit')}"]
    facts += [f"{key.replace('_', ' ')} {value}" for key, value in run.items()]
    lines = [f"### {result['benchmark']}", "", "; ".join(facts) + ".", ""]
    lines += ["| figure | measured | 95% interval | bar |", "|---|---|---|---|"]
    lines += ["| " + " | ".join(figure_cells(figure)) + " |" for figure in result["figures"]]
    return lines + [""]


def headline_lines(root):
    lines = ["| what | measured |", "|---|---|"]
    for machine, benchmark, wanted, question in HEADLINES:
        path = root / RESULTS / machine / f"{benchmark}.json"
        figures = json.loads(path.read_text())["figures"]
        figure = next((one for one in figures if one["figure"] == wanted), None)
        if figure is None:
            sys.exit(f"bench_results: {path} has no '{wanted}', which the page begins with")
        _, measured, _, _ = figure_cells(figure)
        lines.append(f"| {question} | {measured}{'×' if 'ratio' in figure else ''} |")
    return lines + [""]


def make_page(root):
    lines = [INTRODUCTION]
    if (root / RESULTS / HEADLINES[0][0]).is_dir():
        lines += headline_lines(root)
    lines += [HOW_TO_READ]
    for machine in sorted(path for path in (root / RESULTS).glob("*") if path.is_dir()):
        lines += [f"## {machine.name}", ""]
        for path in sorted(machine.glob("*.json")):
            lines += benchmark_lines(json.loads(path.read_text()))
    return "\n".join(lines).rstrip() + "\n"


def keep(root, folder, machine, commit, driver):
    if commit is None:
        git = ["git", "-C", root, "rev-parse", "--short=12", "HEAD"]
        commit = subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip()
    paths = sorted(folder.glob("*.json"))
    if not paths:
        sys.exit(f"bench_results: no .json in {folder}: run ./dev bench first")
    target = root / RESULTS / machine
    target.mkdir(parents=True, exist_ok=True)
    for path in paths:
        result = json.loads(path.read_text())
        result["run"]["commit"] = commit
        if driver:
            result["run"]["driver"] = driver
        (target / path.name).write_text(json.dumps(result, indent=1) + "\n")
        print(target / path.name)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help=argparse.SUPPRESS)
    verbs = parser.add_subparsers(dest="verb", required=True)
    keep_verb = verbs.add_parser("keep")
    keep_verb.add_argument("folder", type=pathlib.Path)
    keep_verb.add_argument("--machine", required=True)
    keep_verb.add_argument("--commit")
    keep_verb.add_argument("--driver")
    page_verb = verbs.add_parser("page")
    page_verb.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.verb == "keep":
        keep(arguments.root, arguments.folder, arguments.machine, arguments.commit, arguments.driver)
        return
    text = make_page(arguments.root)
    page = arguments.root / PAGE
    if not arguments.check:
        page.write_text(text)
    elif not page.is_file() or page.read_text() != text:
        sys.exit(f"{PAGE} does not show bench/results: run tools/bench_results.py page")


if __name__ == "__main__":
    main()
