// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/math/stats.hpp"
#include "base/json.hpp"

// Statistics as every answer in JSON has them.
namespace gpufl::analysis {

inline base::Json to_json(const Stats& stats) {
  base::Json json = base::Json::object();
  json.set("count", stats.count).set("total", stats.total);
  // Without a value there is neither a least nor a mean one.
  if (stats.count == 0) return json;
  json.set("min", stats.min).set("max", stats.max).set("mean", stats.mean);
  json.set("median", stats.median).set("p90", stats.p90).set("p99", stats.p99);
  return json;
}

}  // namespace gpufl::analysis
