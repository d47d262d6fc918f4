# SPDX-License-Identifier: Apache-2.0
"""Holds estimated gains against measured ones: recordings/gains.json tells what mending the mistake
of each recorded program saved on the same machine, of runs that nobody traced and of traced ones.

usage: gains_test.py GPUFL
"""

import json
import pathlib
import statistics
import subprocess
import sys

RECORDINGS = pathlib.Path(__file__).parent / "recordings"
TOLERANCE = 0.30


def estimate_ns(gpufl, session, rule):
    printed = subprocess.run(
        [gpufl, "report", session, "--format", "json"], stdout=subprocess.PIPE, check=True
    ).stdout
    return sum(one["gain_ns"] for one in json.loads(printed)["insights"] if one["rule"] == rule)


def main():
    gpufl = sys.argv[1]
    wrong = 0
    for case, told in json.loads((RECORDINGS / "gains.json").read_text())["cases"].items():
        sessions = [RECORDINGS / name for name in told["sessions"]]
        estimate = statistics.mean(estimate_ns(gpufl, one, told["rule"]) for one in sessions)
        estimate *= told["steps"] / (told["steps"] + told["warm_steps"])
        for how in ("alone", "traced"):
            before, after = (statistics.median(told[how][when]) for when in ("before", "after"))
            ratio = estimate / (before - after)
            # A recorded run saves what recording took as well, which no estimate is to promise.
            is_right = ratio - 1 <= TOLERANCE and (how == "traced" or 1 - ratio <= TOLERANCE)
            wrong += not is_right
            print(
                f"{case}: estimate {estimate / 1e6:.3f} ms, {how} {(before - after) / 1e6:.3f} ms,"
                f" ratio {ratio:.2f}{'' if is_right else ': beyond 30%'}"
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
