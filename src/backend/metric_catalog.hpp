// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

// Which hardware counters a chip has, what each means, and how many passes a set of them needs:
// what `gpufl metrics` asks of a vendor. Needs the vendor's libraries, and no GPU where the chip is
// named. One thread.
namespace gpufl::backend {

// How an engine has them counted, in passes; instructions are counted without.
enum class CountedBy : uint8_t { Instruction, Scope, Time };

struct MetricFacts {
  std::string name;  // without rollup and submetric: "sm__cycles_active"
  std::string kind;  // "counter", "ratio", "throughput"
  std::string description, hardware;
};

// A set of metrics that an engine's option takes by one name.
struct MetricSet {
  std::string_view name;
  std::span<const std::string_view> metrics;
};

// An engine, the option that names its metrics, and the sets that the option knows.
struct CountingEngine {
  std::string_view engine;
  std::string_view option;
  CountedBy by = CountedBy::Scope;
  std::span<const MetricSet> presets;
};

class MetricCatalog {
 public:
  virtual ~MetricCatalog() = default;
  virtual std::string chip() const = 0;    // as the vendor calls it
  virtual std::string source() const = 0;  // the library that knows it
  // In the order of their names.
  virtual std::vector<MetricFacts> list() const = 0;
  // By a name with or without rollup and submetric. Nothing: the chip has none of that name.
  virtual std::optional<MetricFacts> describe(const std::string& name) const = 0;
  // Whole names, as engines take them: "sm__cycles_active.avg". Of one of list().
  virtual std::vector<std::string> forms(const MetricFacts& metric) const = 0;
  // "byte/second", of a whole name; empty: it has none.
  virtual std::string unit(const std::string& metric) const = 0;
  // Why the chip counts nothing that way; empty: it may.
  virtual std::string why_not(CountedBy by) const = 0;
  // Of whole names, together. Nothing: one of them cannot be counted that way.
  virtual std::optional<uint32_t> passes(CountedBy by,
                                         const std::vector<std::string>& metrics) const = 0;
};

// Of the chip, by the vendor's name for it in any case; empty: of the first GPU here.
base::Result<std::unique_ptr<MetricCatalog>> open_metric_catalog(const std::string& chip);
// Of all vendors.
std::vector<CountingEngine> counting_engines();

// Metrics that are counted together.
struct CountedTogether {
  std::vector<std::string> metrics;
  uint32_t passes = 1;
};
struct MetricGrouping {
  std::vector<CountedTogether> groups;
  std::vector<std::string> unknown;
};
// Passes of metrics together; nothing where one of them cannot be counted.
using CountPasses = std::function<std::optional<uint32_t>(const std::vector<std::string>&)>;
// In the order in which they are named: each goes to the first group that still is one pass with
// it, and those that need several passes are one more group. As engines and `gpufl metrics` have
// it.
MetricGrouping group_metrics(const std::vector<std::string>& wanted, const CountPasses& passes);

}  // namespace gpufl::backend
