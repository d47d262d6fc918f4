#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the kernels out of a torch.profiler trace, as the lines of a gpufl log.

    extract_trace.py trace.json.gz | zstd -19 -o gpt_kernels.log.zst

The output holds what log_bench draws its rows from: one line of names, one of launch
configurations, one batch of kernels in the order of their start, with the API call behind each.
Times are nanoseconds since the first call.
"""
import gzip
import json
import sys


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def intern(table, value):
    return table.setdefault(value, len(table) + 1)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with gzip.open(sys.argv[1]) as trace:
        events = json.load(trace)["traceEvents"]
    calls = {e["args"].get("correlation"): e for e in events
             if e.get("cat") in ("cuda_runtime", "cuda_driver")}
    kernels = sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])
    kernels = [k for k in kernels if k["args"]["correlation"] in calls]

    names, configs, threads = {}, {}, {}
    columns = {name: [] for name in ("start", "dur", "config", "correlation", "api_start",
                                     "api_dur", "thread")}
    zero = min(nanoseconds(calls[k["args"]["correlation"]]["ts"]) for k in kernels)
    for kernel in kernels:
        args = kernel["args"]
        call = calls[args["correlation"]]
        config = {"name": intern(names, kernel["name"]), "grid": args["grid"],
                  "block": args["block"], "registers": args["registers per thread"],
                  "shared": args["shared memory"]}
        columns["start"].append(nanoseconds(kernel["ts"]) - zero)
        columns["dur"].append(nanoseconds(kernel["dur"]))
        columns["config"].append(intern(configs, json.dumps(config, separators=(",", ":"))))
        columns["correlation"].append(args["correlation"])
        columns["api_start"].append(nanoseconds(call["ts"]) - zero)
        columns["api_dur"].append(nanoseconds(call["dur"]))
        columns["thread"].append(intern(threads, call["tid"]))

    def line(value):
        print(json.dumps(value, separators=(",", ":")))

    line({"type": "dict", "dict": "name", "ids": list(names.values()), "values": list(names)})
    line({"type": "dict", "dict": "config", "ids": list(configs.values()),
          "values": [json.loads(config) for config in configs]})
    line({"type": "kernel", "n": len(kernels), **columns})


main()
