# SPDX-License-Identifier: Apache-2.0
"""Figures of the Python benchmarks, printed and written as those of the others are."""

import json
import os
import pathlib
import platform
import statistics
import time


class Figures:
    def __init__(self):
        self.entries = []

    def add(self, figure, values, unit, at_most=None):
        """The middle of `values` with the 95% interval of the median; held by its upper end."""
        ranked = sorted(values)
        half = int(0.98 * len(ranked) ** 0.5) + 1
        middle = len(ranked) // 2
        low, high = ranked[max(middle - half, 0)], ranked[min(middle + half, len(ranked) - 1)]
        interval = {"low": low, "high": high, "pairs": len(ranked)}
        self._add(figure, statistics.median(ranked), unit, interval, high, at_most)

    def add_one(self, figure, value, unit, at_most=None, at_least=None):
        """What was measured once, such as a percentile of many requests."""
        self._add(figure, value, unit, {}, value, at_most, at_least)

    def _add(self, figure, value, unit, interval, judged, at_most, at_least=None):
        entry = {"figure": figure, "value": value, "unit": unit} | interval
        bar = ""
        if at_most is not None:
            entry |= {"at_most": at_most, "within": judged <= at_most}
            bar = f", at most {at_most}{'' if entry['within'] else ': MISSED'}"
        if at_least is not None:
            entry |= {"at_least": at_least, "within": judged >= at_least}
            bar = f", at least {at_least}{'' if entry['within'] else ': MISSED'}"
        self.entries.append(entry)
        spread = f" ({interval['low']:.2f} to {interval['high']:.2f})" if interval else ""
        print(f"{figure}: {value:.2f} {unit}{spread}{bar}")


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def write_result(benchmark, figures, path, **notes):
    """Into the file, where one was asked for; the program's exit code. `notes`: what the figures depend on."""
    run = {"cpu": cpu_name(), "cores": os.cpu_count(), "python": platform.python_version()}
    run["unix_time_s"] = int(time.time())
    run |= notes
    if path:
        result = {"benchmark": benchmark, "run": run, "figures": figures.entries}
        pathlib.Path(path).write_text(json.dumps(result, indent=1) + "\n")
    return 0 if all(entry.get("within", True) for entry in figures.entries) else 1
