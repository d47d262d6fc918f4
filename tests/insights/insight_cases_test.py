# SPDX-License-Identifier: Apache-2.0
"""Holds README.md against what there is: every rule in it, its tests in insights_test, and its
recorded sessions with the insight in the report.

usage: insight_cases_test.py GPUFL INSIGHTS_TEST PAGES SESSIONS...
PAGES: docs/reference/insights. SESSIONS: folders that hold sessions and runs.
"""

import json
import pathlib
import subprocess
import sys

TABLE = pathlib.Path(__file__).parent / "README.md"
NONE = "none: "


def rules_of_table():
    """Rule, test that fires it, test that does not, recordings."""
    rows = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] != "rule" and set(cells[0]) != {"-"}:
            rows.append(cells)
    return rows


def tests_in(program):
    listed = subprocess.run(
        [program, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    suite, tests = "", set()
    for line in listed.splitlines():
        if line.startswith(" "):
            tests.add(suite + line.split()[0])
        else:
            suite = line.split()[0]
    return tests


def insights_of(gpufl, session):
    printed = subprocess.run(
        [gpufl, "report", session, "--format", "json"], stdout=subprocess.PIPE, check=True
    ).stdout
    return {insight["rule"] for insight in json.loads(printed)["insights"]}


def mistakes(gpufl, insights_test, pages, folders):
    rows = rules_of_table()
    tests = tests_in(insights_test)
    yield from (f"{row}: four cells are wanted" for row in rows if len(row) != 4)
    told = [row[0] for row in rows]
    expected = {page.stem for page in pathlib.Path(pages).glob("*.md")}
    yield from (f"{rule}: not in the table" for rule in sorted(expected - set(told)))
    yield from (f"{rule}: is no rule" for rule in sorted(set(told) - expected))
    yield from (f"{rule}: more than once" for rule in sorted(expected) if told.count(rule) > 1)
    found = {}
    for rule, *of_tests, recording in rows:
        yield from (f"{rule}: there is no test {name}" for name in of_tests if name not in tests)
        if recording.startswith(NONE):
            continue
        for name in recording.split(", "):
            sessions = [folder / name for folder in folders if (folder / name).is_dir()]
            if len(sessions) != 1:
                yield f"{rule}: {len(sessions)} recordings of the name {name}"
                continue
            if name not in found:
                found[name] = insights_of(gpufl, sessions[0])
            if rule not in found[name]:
                yield f"{rule}: {name} has {sorted(found[name])}"


def main():
    gpufl, insights_test, pages, *folders = sys.argv[1:]
    wrong = list(mistakes(gpufl, insights_test, pages, [pathlib.Path(one) for one in folders]))
    print("\n".join(wrong) or f"{len(rules_of_table())} rules have their cases")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
