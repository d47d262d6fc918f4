// SPDX-License-Identifier: Apache-2.0
#include "bench/report.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"

namespace gpufl::bench {
namespace {

std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

Report::Report(std::string_view name, int argc, char** argv) : name_(name) {
  if (argc == 3 && std::string_view(argv[1]) == "--json") {
    json_path_ = argv[2];
  } else if (argc != 1) {
    fmt::print(stderr, "usage: {} [--json FILE]\n", name);
    std::exit(64);
  }
  note("cpu", cpu_name());
  note("cores", std::thread::hardware_concurrency());
  note("unix_time_s", base::wall_ns() / 1'000'000'000);
}

void Report::note(std::string_view key, base::Json value) { notes_.set(key, std::move(value)); }

void Report::ratio(std::string_view figure, const Ratio& ratio, std::optional<Bar> bar) {
  base::Json entry = base::Json::object();
  entry.set("ratio", ratio.middle).set("low", ratio.low).set("high", ratio.high);
  entry.set("pairs", ratio.pairs);
  const bool from_above = !bar || bar->kind == Bar::Kind::AtMost;
  add(figure, std::move(entry),
      fmt::format("{:.4f}x  [{:.4f}, {:.4f}] of {} pairs", ratio.middle, ratio.low, ratio.high,
                  ratio.pairs),
      from_above ? ratio.high : ratio.low, bar);
}

void Report::value(std::string_view figure, double value, std::string_view unit,
                   std::optional<Bar> bar) {
  base::Json entry = base::Json::object();
  entry.set("value", value).set("unit", unit);
  add(figure, std::move(entry), fmt::format("{:.6g} {}", value, unit), value, bar);
}

void Report::difference(std::string_view figure, const Estimate& difference, std::string_view unit,
                        std::optional<Bar> bar) {
  base::Json entry = base::Json::object();
  entry.set("value", difference.middle).set("unit", unit);
  entry.set("low", difference.low).set("high", difference.high).set("pairs", difference.pairs);
  const bool from_above = !bar || bar->kind == Bar::Kind::AtMost;
  add(figure, std::move(entry),
      fmt::format("{:.6g} {}  [{:.6g}, {:.6g}] of {} pairs", difference.middle, unit,
                  difference.low, difference.high, difference.pairs),
      from_above ? difference.high : difference.low, bar);
}

void Report::add(std::string_view figure, base::Json entry, std::string line, double judged,
                 std::optional<Bar> bar) {
  if (bar) {
    const bool at_most = bar->kind == Bar::Kind::AtMost;
    const bool within = at_most ? judged <= bar->value : judged >= bar->value;
    missed_ |= !within;
    entry.set(at_most ? "at_most" : "at_least", bar->value).set("within", within);
    line += fmt::format("   bar: {} {:g}  {}", at_most ? "<=" : ">=", bar->value,
                        within ? "ok" : "MISSED");
  }
  fmt::print("{:<44} {}\n", figure, line);
  std::fflush(stdout);
  base::Json named = base::Json::object();
  named.set("figure", figure);
  for (const auto& [key, value] : entry.members()) named.set(key, value);
  figures_.push(std::move(named));
}

int Report::finish() {
  if (!json_path_.empty()) {
    base::Json document = base::Json::object();
    document.set("benchmark", name_).set("run", notes_).set("figures", figures_);
    std::ofstream file(json_path_);
    file << document.dump() << '\n';
    if (!file.flush()) {
      fmt::print(stderr, "{}: cannot write {}\n", name_, json_path_);
      return 2;
    }
  }
  return missed_ ? 1 : 0;
}

}  // namespace gpufl::bench
