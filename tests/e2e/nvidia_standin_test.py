# SPDX-License-Identifier: Apache-2.0
"""doctor, info and monitor over the stand-in libnvidia-ml (tests/standin/nvml/README.md)."""

import collections
import json
import re
import sys
import unittest

from monitor_process import GPUFL, PROGRAMS, MonitorTest, run, wait_until

STANDIN = PROGRAMS.parent / "standin" / "nvml" / "libnvidia-ml.so.1"
NO_DRIVER = {"GPUFL_NVML_LIBRARY": "/nonexistent/libnvidia-ml.so.1"}


def machine(description):
    return {"GPUFL_NVML_LIBRARY": str(STANDIN), "GPUFL_NVML_STANDIN": description}


class Doctor(unittest.TestCase):
    def test_monitor_works(self):
        ended = run(GPUFL, "doctor", **machine("gpus=2"))
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertRegex(ended.stdout, r"ok nvml +2 GPU\(s\), driver 580.00.01, CUDA 13.0")
        self.assertRegex(ended.stdout, r"(?m)^  Monitor +yes")

    def test_without_a_driver_it_says_what_to_do(self):
        ended = run(GPUFL, "doctor", **NO_DRIVER)
        self.assertEqual((ended.returncode, ended.stderr), (1, ""))
        self.assertRegex(ended.stdout, r"(?m)^  Monitor +no ")
        self.assertRegex(ended.stdout, r"(?m)^  HostMetrics +yes")
        self.assertLessEqual(max(map(len, ended.stdout.splitlines())), 100)
        # What both lack for the same reason is explained once.
        without = run(GPUFL, "doctor", GPUFL_CUPTI_LIBRARY="/no/such/libcupti.so", **NO_DRIVER)
        self.assertEqual(without.stdout.count("libcupti: /no/such/libcupti.so"), 1, without.stdout)
        self.assertRegex(without.stdout, r"(?m)^  PcSampling +no +as Trace$")

    def test_json_has_the_same(self):
        ended = run(GPUFL, "doctor", "--json", **machine("init=18"))
        self.assertEqual(ended.returncode, 1)
        told = json.loads(ended.stdout)
        features = {f["feature"]: f for f in told["features"]}
        self.assertFalse(features["Monitor"]["available"])
        self.assertEqual(features["Monitor"]["reason"], "version_mismatch")
        self.assertIn("reboot", features["Monitor"]["hint"])
        topics = {f["topic"] for f in told["findings"]}
        self.assertLessEqual({"driver", "nvml", "cuda", "cupti", "permissions", "disk"}, topics)

    def test_features_that_are_named_decide(self):
        self.assertEqual(run(GPUFL, "doctor", "hostmetrics", **NO_DRIVER).returncode, 0)
        self.assertEqual(run(GPUFL, "doctor", "Deep", **machine("gpus=1")).returncode, 1)
        self.assertEqual(run(GPUFL, "doctor", "Nonsense", **NO_DRIVER).returncode, 64)


class Info(unittest.TestCase):
    def test_gpus_and_instances(self):
        ended = run(GPUFL, "info", **machine("gpus=2 mig=1:1"))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        headings = re.findall(r"(?m)^GPU .*", ended.stdout)
        self.assertEqual(
            headings,
            [
                "GPU 0: Stand-in GPU",
                "GPU 1: Stand-in GPU",
                "GPU 2: Stand-in GPU MIG 1g.10gb (instance of GPU 1)",
            ],
        )
        self.assertIn("132 SMs, sm_90", ended.stdout)

    def test_json(self):
        ended = run(GPUFL, "info", "--json", **machine("gpus=8"))
        told = json.loads(ended.stdout)
        self.assertEqual((told["backend"], len(told["devices"])), ("nvidia", 8))
        self.assertEqual(told["devices"][7]["pci_bus"], "00000000:17:00.0")
        self.assertGreater(told["host"]["core_count"], 0)

    def test_no_gpu_is_an_answer(self):
        ended = run(GPUFL, "info", **NO_DRIVER)
        self.assertEqual((ended.returncode, ended.stderr), (1, ""))
        self.assertTrue(ended.stdout.startswith("no GPU: "), ended.stdout)
        told = json.loads(run(GPUFL, "info", "--json", **NO_DRIVER).stdout)
        self.assertEqual((told["reason"], told["devices"]), ("library_not_found", []))


class Monitor(MonitorTest):
    def record(self, description, until):
        process = self.start("--interval", "20ms", backend="nvidia", **machine(description))
        wait_until(until, "what the test is about")
        self.assertEqual(self.stop(process), 0, process.lines.text())
        self.assert_verdict(0)

    def powers(self):
        """How often the power of each GPU was read."""
        counts = collections.Counter()
        for row in self.rows("device_metric"):
            if row["metric"] == "power_mw":
                self.assertEqual(row["value"], 100_000 + 1_000 * row["device"])
                counts[row["device"]] += 1
        return counts

    def test_eight_gpus_one_of_which_is_lost(self):
        def has_gone_on_without_it():
            counts, names = self.powers(), {event["name"] for event in self.rows("event")}
            return counts[0] > counts[5] + 3 and {"xid", "device_lost"} <= names

        self.record(
            "gpus=8 xid=3:79 lost=5:200 slow=nvmlDeviceGetPcieThroughput:20000",
            until=has_gone_on_without_it,
        )
        events = [e for e in self.rows("event") if e["name"] in ("xid", "device_lost")]
        self.assertEqual(
            sorted((e["name"], e["device"], e["code"]) for e in events),
            [("device_lost", 5, 15), ("xid", 3, 79)],
        )
        counts = self.powers()
        self.assertEqual(sorted(counts), list(range(8)))
        self.assertGreaterEqual(counts[7], counts[0] - 1)

    def test_what_is_not_supported_is_not_in_the_log(self):
        def metrics():
            return {row["metric"] for row in self.rows("device_metric")}

        self.record(
            "gpus=1 unsupported=nvmlDeviceGetPowerUsage",
            until=lambda: {"temperature_c", "pcie_rx_bytes_per_s"} <= metrics(),
        )
        self.assertNotIn("power_mw", metrics())


if __name__ == "__main__":
    if not STANDIN.exists():
        print("no stand-in: this build has no NVIDIA backend")
        sys.exit(77)
    unittest.main()
