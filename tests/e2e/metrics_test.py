# SPDX-License-Identifier: Apache-2.0
"""`gpufl metrics` over a stand-in of NVIDIA's catalogue of counters, and over the catalogue itself where the
headers that this was built with lie beside one."""

import json
import pathlib
import sys
import unittest

from monitor_process import GPUFL, PROGRAMS, run

BUILD = PROGRAMS.parent
STANDIN = BUILD / "standin" / "cupti" / "libcupti.so"
REAL = pathlib.Path(__file__).parents[2] / ".deps" / "cuda" / "lib" / "libcupti.so.13"


def metrics(*words, library=STANDIN, **variables):
    return run(GPUFL, "metrics", *words, **{"GPUFL_CUPTI_LIBRARY": str(library), **variables})


def answer(*words, **more):
    ended = metrics(*words, "--json", **more)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


class OfAChip(unittest.TestCase):
    def test_lists_presets_and_metrics_without_a_gpu(self):
        told = answer("list", "--chip", "gh100")
        self.assertEqual(told["chip"], "GH100")
        self.assertTrue(told["source"].endswith("libnvperf_host.so"))
        self.assertEqual(
            [one["name"] for one in told["metrics"]],
            ["dram__bytes_read", "lts__t_sector_hit_rate", "sm__cycles_active", "sm__inst_executed",
             "sm__throughput"],
        )  # fmt: skip
        self.assertEqual(told["metrics"][0]["description"], "# of bytes read from DRAM")
        self.assertEqual(told["metrics"][0]["hardware"], "dram")
        engines = {(one["engine"], one["option"]) for one in told["presets"]}
        self.assertEqual(engines, {("PmSampling", "pm_sampling_metrics"),
                                   ("RangeProfiler", "range_metrics"), ("SassMetrics", "sass_metrics")})  # fmt: skip
        text = metrics("list", "--chip", "GH100").stdout
        self.assertRegex(text, r"(?m)^  dram__bytes_read  # of bytes read from DRAM$")
        self.assertRegex(text, r"(?m)^  RangeProfiler tensor, not available: sm__inst")
        self.assertRegex(text, r"(?m)^  RangeProfiler throughput, 8 passes without l1tex__throughput")
        self.assertRegex(text, r"(?m)^  SassMetrics efficiency, counted without passes: smsp__")

    def test_a_text_is_looked_for_in_names_and_descriptions(self):
        names = [one["name"] for one in answer("list", "WARP", "--chip", "GH100")["metrics"]]
        self.assertEqual(names, ["sm__cycles_active", "sm__inst_executed"])
        nothing = metrics("list", "nothing has this", "--chip", "GH100")
        self.assertEqual(nothing.returncode, 1)
        self.assertIn("METRICS: 0", nothing.stdout)

    def test_says_how_many_passes_a_set_needs_and_what_fits_into_one(self):
        told = answer("describe", "sm__inst_executed.sum", "dram__bytes_read.sum.per_second",
                      "lts__t_sector_hit_rate.pct", "sm__cycles_active.avg", "--chip", "GH100")  # fmt: skip
        sets = {one["engine"]: one for one in told["sets"]}
        self.assertEqual(sets["RangeProfiler"]["passes"], 4)
        self.assertNotIn("fit_one_pass", sets["RangeProfiler"])
        self.assertEqual(sets["PmSampling"]["fit_one_pass"],
                         ["sm__inst_executed.sum", "dram__bytes_read.sum.per_second"])  # fmt: skip
        self.assertEqual([one["unit"] for one in told["metrics"]],
                         ["instruction", "byte/second", "percent", "instruction"])  # fmt: skip
        text = metrics("describe", "sm__inst_executed.sum", "lts__t_sector_hit_rate.pct",
                       "--chip", "GH100").stdout  # fmt: skip
        self.assertRegex(text, r"(?m)^  PmSampling, 3 passes, so it is refused: ")
        self.assertIn("    into one pass fit sm__inst_executed.sum\n", text)
        one = answer("describe", "sm__inst_executed.sum", "--chip", "GH100")
        self.assertEqual({one["engine"]: one["passes"] for one in one["sets"]},
                         {"PmSampling": 1, "RangeProfiler": 1})  # fmt: skip

    def test_without_a_rollup_it_names_the_forms_that_engines_take(self):
        (metric,) = answer("describe", "sm__throughput", "--chip", "GH100")["metrics"]
        self.assertEqual(metric["kind"], "throughput")
        self.assertEqual(metric["forms"],
                         [f"sm__throughput.{rollup}.pct_of_peak_sustained_elapsed"
                          for rollup in ("avg", "max", "min", "sum")])  # fmt: skip

    def test_a_preset_is_described_for_every_engine_that_has_it(self):
        told = answer("describe", "memory", "--chip", "GH100")
        self.assertEqual([(one["engine"], one["preset"]) for one in told["sets"]],
                         [("PmSampling", "memory"), ("RangeProfiler", "memory")])  # fmt: skip
        self.assertEqual(told["metrics"], [])

    def test_what_the_chip_lacks_is_said_with_what_is_near(self):
        ended = metrics("describe", "sm__inst_exected.sum", "--chip", "GH100")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("GH100 has no metric and no preset sm__inst_exected.sum; did you mean "
                      "sm__inst_executed?", ended.stderr)  # fmt: skip
        ended = metrics("describe", "bogus.sum", "--chip", "GH100")
        self.assertTrue(ended.stderr.endswith("no preset bogus.sum\n"), ended.stderr)

    def test_what_the_chip_lacks_is_left_out_of_its_set_as_engines_leave_it_out(self):
        ended = metrics("describe", "sm__inst_executed.sum", "bogus.sum", "--chip", "GH100", "--json")
        self.assertEqual(ended.returncode, 1)
        for one in json.loads(ended.stdout)["sets"]:
            self.assertEqual((one["passes"], one["missing"]), (1, ["bogus.sum"]), one)
        text = metrics("describe", "sm__inst_executed.sum", "bogus.sum", "--chip", "GH100").stdout
        self.assertIn("RangeProfiler, 1 pass without bogus.sum: sm__inst_executed.sum", text)
        text = metrics("describe", "bogus.sum", "--chip", "GH100").stdout
        self.assertIn("RangeProfiler, not available: bogus.sum", text)

    def test_the_first_gpu_is_asked_where_no_chip_is_named(self):
        driver = str(BUILD / "standin" / "cuda")
        told = answer("list", LD_LIBRARY_PATH=driver)
        self.assertEqual(told["chip"], "GH100")


class Failures(unittest.TestCase):
    def refused(self, *words, **more):
        ended = metrics(*words, **more)
        self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended.stderr)
        return ended.stderr

    def test_without_a_gpu_it_says_which_chips_can_be_named(self):
        said = self.refused("list")
        self.assertIn("there is no GPU here that CUDA can start", said)
        self.assertIn("name a chip instead: GB100, GH100", said)

    def test_an_unknown_chip(self):
        said = self.refused("list", "--chip", "H100")
        self.assertIn("knows no chip H100; it knows GB100, GH100", said)

    def test_a_chip_without_metrics(self):
        self.assertIn("has no metrics of GB100", self.refused("list", "--chip", "GB100"))

    def test_without_libcupti(self):
        said = self.refused("list", "--chip", "GH100", library="/no/such/libcupti.so")
        self.assertIn("libcupti: /no/such/libcupti.so", said)
        self.assertIn("the wheel nvidia-cuda-cupti", said)

    def test_without_the_catalogue_beside_it(self):
        old = BUILD / "standin" / "cupti_old" / "libcupti.so"
        said = self.refused("list", "--chip", "GH100", library=old)
        self.assertIn("NVIDIA's catalogue of counters: ", said)
        self.assertIn("cupti_old/libnvperf_host.so", said)


@unittest.skipUnless(REAL.exists(), "no libcupti beside the headers")
class NvidiasOwn(unittest.TestCase):
    def test_presets_need_the_passes_that_are_documented(self):
        for chip in ("GH100", "GB100", "AD102"):
            passes = {(one["engine"], one["preset"]): one.get("passes")
                      for one in answer("list", "--chip", chip, library=REAL)["presets"]}  # fmt: skip
            for preset in ("overview", "tensor", "memory"):
                self.assertEqual(passes["PmSampling", preset], 1, f"{preset} on {chip}")
        passes = {one["engine"]: one["passes"] for name in ("overview", "throughput")
                  for one in answer("describe", name, "--chip", "GH100", library=REAL)["sets"]}  # fmt: skip
        self.assertEqual(passes["RangeProfiler"], 10, "one group after the other")

    def test_chips_without_samples_over_time_are_named(self):
        for chip in ("GA100", "TU102"):
            for one in answer("list", "--chip", chip, library=REAL)["presets"]:
                self.assertEqual("refused" in one, one["engine"] == "PmSampling", one)
        text = " ".join(metrics("list", "--chip", "GA100", library=REAL).stdout.split())
        self.assertIn("PmSampling overview, refused, because GA100 has no samples at an interval of time", text)


if __name__ == "__main__":
    if not STANDIN.exists():
        print("no stand-ins: this build has no NVIDIA backend")
        sys.exit(77)
    unittest.main()
