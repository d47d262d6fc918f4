# SPDX-License-Identifier: Apache-2.0
"""Programs that record, agents that send what they record, and the oracle: what a server has of it, as a multiset
of rows, compared with the logs."""

import collections
import json
import pathlib
import shutil
import signal
import subprocess

from monitor_process import AGENT, DAEMON, GPUFL, PATIENCE_S, environment, run, wait_until
from served import SESSIONS

RECORDED = ("h200_gpt", "h200_torch")


class Fleet:
    """Its monitors record below `logs`; its agents send from there to `port`. close() ends all of them."""

    def __init__(self, folder, key, port):
        self.folder = folder
        self.logs = folder / "logs"
        self.logs.mkdir()
        self.key_file = folder / "key"
        self.key_file.write_text(key + "\n")
        self.port = port
        self.agents = []
        self.monitors = []
        self.recorded = list(RECORDED)  # that are not in `logs` yet
        self.output = open(folder / "fleet.log", "ab")

    def close(self):
        for process in (*self.agents, *self.monitors):
            process.kill()
            process.wait()
        self.output.close()

    def _start(self, *arguments, **variables):
        return subprocess.Popen([*map(str, arguments)], stdin=subprocess.DEVNULL, stdout=self.output,
                                stderr=self.output, env=self.environment(**variables))  # fmt: skip

    def environment(self, **variables):
        return environment(HOME=str(self.folder), XDG_CONFIG_HOME="", **variables)

    def agent_arguments(self):
        return "--server", f"http://127.0.0.1:{self.port}", "--key-file", self.key_file

    def start_agent(self, **variables):
        self.agents.append(self._start(AGENT, *self.agent_arguments(), self.logs, **variables))

    def kill_agent(self, which=0):
        agent = self.agents.pop(which)
        agent.kill()
        agent.wait()

    def start_monitor(self, *options, **variables):
        self.monitors.append(
            self._start(DAEMON, "--output", self.logs, "--backend", "synthetic", "--interval", "20ms",
                        "--window-size", "64K", *options, **variables)
        )  # fmt: skip

    def end_monitor(self, how, which=0):
        monitor = self.monitors.pop(which)
        monitor.send_signal(how)
        monitor.wait(timeout=PATIENCE_S)

    def add_recorded(self):
        """A session that ended long ago, and is there all at once."""
        if not self.recorded:
            return
        name = self.recorded.pop()
        shutil.copytree(SESSIONS / name, self.folder / name)
        (self.folder / name).rename(self.logs / name)

    def upload(self):
        """Beside the agents. What cannot be sent, they send."""
        run(GPUFL, "upload", "--all", "--quiet", "--retry-for", "1s", *self.agent_arguments()[:2], self.logs,
            GPUFL_API_KEY=self.key_file.read_text().strip(), HOME=str(self.folder))  # fmt: skip

    def end(self):
        """Nobody records any more, and an agent says that all has been sent. Returns what it said."""
        while self.monitors:
            self.end_monitor(signal.SIGTERM)
        while self.agents:
            self.kill_agent()
        return subprocess.run([AGENT, *map(str, self.agent_arguments()), "--drain", "--drain-for", "4m", self.logs],
                              capture_output=True, text=True, timeout=300, env=self.environment())  # fmt: skip

    def sessions(self):
        return folders_by_id(self.logs)


def folders_by_id(parent):
    """Of sessions. A start that died before its first line is none."""
    found = {}
    for folder in parent.iterdir():
        session = session_of(folder)
        if session:
            assert session not in found, f"{folder} and {found[session]} are both {session}"
            found[session] = folder
    return found


def session_of(folder):
    for file in sorted(folder.glob("*.log*")):
        if file.suffix == ".zst":
            text = subprocess.run(["zstd", "-qdc", file], capture_output=True, check=True).stdout
        else:
            text = file.read_bytes()
        first, _, rest = text.partition(b"\n")
        if rest or text.endswith(b"\n"):
            return json.loads(first)["session_id"]
    return None


def rows_of(folder):
    """How often each row is there, by kind and text."""
    listed = run(GPUFL, "cat", folder)
    assert listed.returncode == 0, listed.stderr
    rows = collections.Counter()
    for kind, _ in (line.split() for line in listed.stdout.splitlines()):
        printed = run(GPUFL, "cat", folder, kind)
        assert printed.returncode == 0, printed.stderr
        rows.update((kind, line) for line in printed.stdout.splitlines())
    return rows


class Comparison:
    """Of the sessions below `logs` with those of a store's first workspace."""

    def __init__(self, logs, data):
        self.rows = self.lost = self.duplicated = self.sessions = 0
        self.differences = []
        there = folders_by_id(pathlib.Path(data) / "workspaces" / "1" / "sessions")
        for session, folder in logs.items():
            self.sessions += 1
            sent = rows_of(folder)
            kept = rows_of(there[session]) if session in there else collections.Counter()
            self.rows += sent.total()
            lost, more = sent - kept, kept - sent
            self.lost += lost.total()
            self.duplicated += more.total()
            for name, some in (("lost", lost), ("too many", more)):
                if some:
                    self.differences.append(f"{session} in {folder.name}: {name} {some.total()}: {list(some)[:2]}")
        self.strange = sorted(there.keys() - logs.keys())

    def text(self):
        return (f"{self.sessions} sessions, {self.rows} rows: {self.lost} lost, {self.duplicated} duplicated; "
                f"{len(self.strange)} that nobody recorded; {self.differences[:6]}")  # fmt: skip

    def check(self, test):
        test.assertEqual((self.lost, self.duplicated, self.strange), (0, 0, []), self.text())
        test.assertGreater(self.rows, 0)
