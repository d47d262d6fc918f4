# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes gpufl-monitor, and promtool finds nothing wrong with the text.

Ends with code 77, a visible skip, where Prometheus is not installed; ./dev setup test gets it.
"""

import json
import shutil
import signal
import socket
import subprocess
import sys
import unittest
import urllib.error
import urllib.parse

from monitor_process import MonitorTest, environment, get, wait_until

CONFIG = """
global:
  scrape_interval: 1s
  scrape_timeout: 1s
scrape_configs:
  - job_name: gpufl
    static_configs:
      - targets: ["{target}"]
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def is_ready(prometheus):
    try:
        return bool(get(f"{prometheus}/-/ready"))
    except (urllib.error.URLError, ConnectionError):
        return False


class Prometheus(MonitorTest):
    def start_prometheus(self, target):
        config = self.folder / "prometheus.yml"
        config.write_text(CONFIG.format(target=target))
        log = (self.folder / "prometheus.log").open("w")
        self.addCleanup(log.close)
        while True:
            address = f"127.0.0.1:{free_port()}"
            process = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address={address}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(),
            )  # fmt: skip
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            wait_until(
                lambda: process.poll() is not None or is_ready(f"http://{address}"), "Prometheus"
            )
            if process.poll() is None:
                return f"http://{address}"
            # The port may have been taken since.
            said = (self.folder / "prometheus.log").read_text()
            self.assertIn("address already in use", said)

    def query(self, prometheus, expression):
        url = f"{prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            return json.loads(get(url))["data"]["result"]
        except (urllib.error.URLError, ConnectionError):
            return []

    def test_prometheus_scrapes(self):
        monitor = self.start("--prometheus", "0", "--prometheus-processes", "--interval", "100ms")
        target = self.metrics_url(monitor).split("/")[2]
        prometheus = self.start_prometheus(target)
        wait_until(lambda: self.query(prometheus, "up == 1"), "up == 1")
        found = wait_until(lambda: self.query(prometheus, "gpufl_gpu_power_watts"), "a GPU metric")
        self.assertEqual(found[0]["metric"]["instance"], target)
        self.assertIn("gpu", found[0]["metric"])
        self.assertGreater(float(found[0]["value"][1]), 0)
        rate = wait_until(lambda: self.query(prometheus, "rate(gpufl_samples_total[10s])"), "rates")
        self.assertGreater(float(rate[0]["value"][1]), 0)
        types = json.loads(get(f"{prometheus}/api/v1/metadata"))["data"]
        self.assertEqual(types["gpufl_gpu_energy_joules_total"][0]["type"], "counter")
        self.assertEqual(types["gpufl_gpu_power_watts"][0]["type"], "gauge")
        self.assertEqual(self.stop(monitor, signal.SIGTERM), 0)
        wait_until(lambda: self.query(prometheus, "up == 0"), "up == 0")

    def test_promtool_agrees(self):
        monitor = self.start("--prometheus", "0", "--prometheus-processes", "--interval", "50ms")
        url = self.metrics_url(monitor)
        wait_until(lambda: "gpufl_gpu_energy_joules_total" in get(url), "slow metrics")
        checked = subprocess.run(["promtool", "check", "metrics"], input=get(url), text=True,
                                 capture_output=True, timeout=60)  # fmt: skip
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))


if __name__ == "__main__":
    if not shutil.which("prometheus") or not shutil.which("promtool"):
        print("SKIP: prometheus and promtool are not installed (./dev setup test)")
        sys.exit(77)
    unittest.main()
