# SPDX-License-Identifier: Apache-2.0
"""Every export of every recorded session, read by readers that are not ours: the same kernels, each as
long as `gpufl cat` tells; joined with their calls where those are known, and only there; of timelines
and tables also the same operators, modules and lines. Of the page that `gpufl report --format html`
writes: that it needs nothing from anywhere else and stays small.

usage: recordings_test.py GPUFL SESSION...
"""

import csv
import gzip
import html.parser
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

import export_test  # first: it looks for Perfetto's definitions

MOST_PAGE_BYTES = 5_000_000
LABELS = ("name", "op", "module", "line", "forward_op", "launched_at")
# What a recording is known to have, by its folder: kernels of a forward and of a backward pass.
KNOWN_LABELS = {
    "h200_torch": (
        {
            "op": "aten::embedding",
            "module": "SmallGpt.embedding",
            "line": "gpt_model.py:56 in SmallGpt.forward()",
        },
        {
            "forward_op": "aten::layer_norm",
            "module": "SmallGpt.blocks.0.attention_norm",
            "line": "gpt_model.py:44 in Block.forward()",
        },
    )
}


def gather(pairs):
    """Names and durations in nanoseconds, as sorted durations by name."""
    found = defaultdict(list)
    for name, duration in pairs:
        found[name].append(int(duration))
    return {name: sorted(durations) for name, durations in found.items()}


def label(name, arguments):
    return (name, *(arguments.get(one) or "" for one in LABELS[1:]))


def kernels_of_perfetto(path):
    trace = export_test.Perfetto(path.read_bytes())
    return [one for one in trace.slices if one["cat"] == "kernel"]


def of_perfetto(path):
    kernels = kernels_of_perfetto(path)
    return gather((one["name"], one["end"] - one["start"]) for one in kernels)


def labels_of_perfetto(path):
    return Counter(label(one["name"], one["args"]) for one in kernels_of_perfetto(path))


def kernels_of_chrome(path):
    events = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)["traceEvents"]
    return [one for one in events if one.get("cat") == "kernel"]


def of_chrome(path):
    return gather((one["name"], Decimal(one["dur"]) * 1000) for one in kernels_of_chrome(path))


def labels_of_chrome(path):
    return Counter(label(one["name"], one["args"]) for one in kernels_of_chrome(path))


def kernels_of_csv(path):
    if not (path / "kernels.csv").exists():
        return []
    with open(path / "kernels.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


def of_csv(path):
    return gather((row["name"], row["duration_ns"]) for row in kernels_of_csv(path))


def labels_of_csv(path):
    return Counter(label(row["name"], row) for row in kernels_of_csv(path))


def of_json(path):
    (session,) = json.loads(path.read_text(encoding="utf-8"))["sessions"]
    table = session["tables"].get("kernels", {"columns": [], "rows": []})
    columns = [column["name"] for column in table["columns"]]
    rows = [dict(zip(columns, row, strict=True)) for row in table["rows"]]
    return gather((row["name"], row["duration_ns"]) for row in rows)


def flows_of_perfetto(path):
    trace = export_test.Perfetto(path.read_bytes())
    return Counter(flow for one in trace.slices for flow in one["flows"])


def flows_of_chrome(path):
    events = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)["traceEvents"]
    return Counter(one["id"] for one in events if one["ph"] in "sf")


def call_times_of_csv(path):
    """Of all tables: when calls began and how long they took, as it is written."""
    for file in path.glob("*.csv"):
        with open(file, newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines, strict=True):
                yield from (row[name] for name in ("api_start_ns", "api_duration_ns") if name in row)


def totals(kernels):
    return sum(sum(durations) for durations in kernels.values())


def total_of_speedscope(path):
    profiles = json.loads(path.read_text(encoding="utf-8"))["profiles"]
    by_scope = [one for one in profiles if one["name"] == "GPU time by scope"]
    return sum(sum(one["weights"]) for one in by_scope)


def total_of_pprof(path):
    data = path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    return sum(sample.value[0] for sample in export_test.pprof_class().FromString(data).sample)


class Page(html.parser.HTMLParser):
    """What a page would load from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.loads = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("src", "srcset") or (name == "href" and tag == "link"):
                if value and not value.startswith("data:"):
                    self.loads.append(f"{tag} {name}={value}")


class Session:
    def __init__(self, gpufl, session, folder):
        self.gpufl, self.session, self.folder = gpufl, session, folder
        self.wrong = []
        self.truth = gather((row["name"], row["duration_ns"]) for row in self.rows("kernel"))
        self.known_calls = sum(
            "api_start_ns" in row and "api_duration_ns" in row
            for kind in ("kernel", "memcpy", "memset", "graph")
            for row in self.rows(kind)
        )

    def rows(self, kind):
        return map(json.loads, self.run("cat", self.session, kind).stdout.splitlines())

    def run(self, *arguments):
        return subprocess.run(
            [self.gpufl, *map(str, arguments)], stdout=subprocess.PIPE, check=True
        )

    def export(self, form):
        path = self.folder / f"{Path(self.session).name}.{form}"
        self.run("export", self.session, "--to", form, "--output", path)
        return path

    def equal(self, what, found, expected):
        if found != expected:
            self.wrong.append(f"{self.session}: {what}: {found!r:.300} is not {expected!r:.300}")

    def compare(self):
        readers = {"perfetto": of_perfetto, "chrome": of_chrome, "csv": of_csv, "json": of_json}
        paths = {form: self.export(form) for form in readers}
        for form, reader in readers.items():
            self.equal(form, reader(paths[form]), self.truth)
        labels = labels_of_csv(paths["csv"])
        for form, reader in {"perfetto": labels_of_perfetto, "chrome": labels_of_chrome}.items():
            self.equal(f"labels of {form}", reader(paths[form]) - labels, Counter())
            self.equal(f"labels missing in {form}", labels - reader(paths[form]), Counter())
        for known in KNOWN_LABELS.get(Path(self.session).name, ()):
            found = (dict(zip(LABELS, one, strict=True)) for one in labels)
            self.equal(f"a kernel with {known}", any(known.items() <= one.items() for one in found), True)
        # Each flow has two ends: a call and the work that it asked for.
        for form, reader in {"perfetto": flows_of_perfetto, "chrome": flows_of_chrome}.items():
            self.equal(f"flows of {form}", Counter(reader(paths[form]).values()), Counter({2: self.known_calls}))
        self.equal("times below zero", [t for t in call_times_of_csv(paths["csv"]) if t.startswith("-")], [])
        # A session without work has nothing for them, which is refused.
        profiles = {"speedscope": total_of_speedscope, "pprof": total_of_pprof}
        for form, reader in profiles.items() if self.truth else ():
            self.equal(form, reader(self.export(form)), totals(self.truth))
        page = self.folder / f"{Path(self.session).name}.html"
        self.run("report", self.session, "--format", "html", "--output", page)
        self.equal("page loads", Page(page.read_text(encoding="utf-8")).loads, [])
        self.equal("page is small", page.stat().st_size <= MOST_PAGE_BYTES, True)
        return self.wrong


def main():
    gpufl, *sessions = sys.argv[1:]
    wrong = []
    with tempfile.TemporaryDirectory(prefix="gpufl-exports-") as folder:
        for session in sessions:
            one = Session(gpufl, session, Path(folder))
            wrong += one.compare()
            print(f"{session}: {sum(map(len, one.truth.values()))} kernels, {len(one.wrong)} wrong")
    print("\n".join(wrong[:50]))
    return 1 if wrong or not sessions else 0


if __name__ == "__main__":
    sys.exit(main())
