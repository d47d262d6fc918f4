// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "bench/paired_ratio.hpp"

// What a benchmark prints and writes: one line a figure, and with `--json FILE` the same as JSON
// for bench/results/. Used by main() of every benchmark, from one thread.
namespace gpufl::bench {

// The bar that a figure is held to.
struct Bar {
  enum class Kind { AtMost, AtLeast };
  Kind kind = Kind::AtMost;
  double value = 0;
};
inline Bar at_most(double value) { return {Bar::Kind::AtMost, value}; }
inline Bar at_least(double value) { return {Bar::Kind::AtLeast, value}; }

class Report {
 public:
  // Reads `--json FILE`; any other argument ends the program with 64 and a line of usage.
  Report(std::string_view name, int argc, char** argv);

  // Holds the upper end of the interval under the bar, or the lower end over it.
  void ratio(std::string_view figure, const Ratio& ratio, std::optional<Bar> bar = {});
  void difference(std::string_view figure, const Estimate& difference, std::string_view unit,
                  std::optional<Bar> bar = {});
  void value(std::string_view figure, double value, std::string_view unit,
             std::optional<Bar> bar = {});
  // Something about the run that the figures depend on (GPU, rows, rate).
  void note(std::string_view key, base::Json value);

  // Writes the file. The program's exit code: 0, 1 when a bar was missed, 2 when the file could not
  // be written.
  int finish();

 private:
  void add(std::string_view figure, base::Json entry, std::string line, double judged,
           std::optional<Bar> bar);

  std::string json_path_;
  base::Json notes_ = base::Json::object();
  base::Json figures_ = base::Json::array();
  std::string name_;
  bool missed_ = false;
};

}  // namespace gpufl::bench
