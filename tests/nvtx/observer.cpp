// SPDX-License-Identifier: Apache-2.0
// A library that NVTX loads, which carries the real recorder and prints, when the program ends,
// what it recorded: one line a marker, in the order in which they ended if that was not within one
// step of the clock, then what was counted.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/markers/marker_source.hpp"
#include "backend/vendor_entry.hpp"
#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

namespace column = format::marker_column;

class PrintingSink : public RowSink {
 public:
  int64_t intern(format::Dict, std::string_view value) override {
    names_.emplace_back(value);
    return static_cast<int64_t>(names_.size());
  }
  void submit(const format::Batch& batch) override {
    for (size_t row = 0; row < batch.rows(); ++row) {
      const auto name = [&](size_t i) {
        const int64_t id = batch.at(i, row);
        return id == 0 ? "-" : names_.at(static_cast<size_t>(id - 1)).c_str();
      };
      const auto number = [&](size_t i) { return static_cast<long long>(batch.at(i, row)); };
      const int64_t end_ns = batch.at(column::kStart, row) + batch.at(column::kDuration, row);
      char line[512];
      std::snprintf(line, sizeof(line),
                    "marker shape=%lld name=[%s] domain=[%s] category=%lld color=%llx payload=%s",
                    number(column::kShape), name(column::kName), name(column::kDomain),
                    number(column::kCategory), number(column::kColor),
                    batch.has(column::kPayload) ? (std::to_string(number(column::kPayload)) + "e" +
                                                   std::to_string(number(column::kPayloadExponent)))
                                                      .c_str()
                                                : "none");
      lines.emplace(end_ns, line);
    }
  }
  void write(format::Kind, const base::Json&) override {}
  ScopeRef scope_at(int64_t, int64_t) override { return {}; }
  int64_t stack(uint32_t) override { return 0; }

  std::multimap<int64_t, std::string> lines;

 private:
  std::vector<std::string> names_;
};

class Observer {
 public:
  Observer() : start_ns_(base::monotonic_ns()), source_(make_marker_source(nullptr)) {
    if (!source_->start(start_ns_).available) std::puts("not available");
  }
  ~Observer() {
    source_->stop();
    source_->drain(base::monotonic_ns() - start_ns_, sink_);
    for (const auto& [end_ns, line] : sink_.lines) std::puts(line.c_str());
    format::Ledger ledger;
    source_->account(ledger);
    std::printf("dropped=%llu unclosed=%llu unmatched=%llu\n",
                static_cast<unsigned long long>(ledger.markers_dropped.value()),
                static_cast<unsigned long long>(ledger.markers_unclosed.value()),
                static_cast<unsigned long long>(ledger.markers_unmatched.value()));
  }

 private:
  const int64_t start_ns_;
  PrintingSink sink_;
  const std::unique_ptr<MarkerSource> source_;
};

}  // namespace
}  // namespace gpufl::backend

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    gpufl::backend::AnnotationTables get_export_table) {
  const int started = gpufl::backend::annotations_start(get_export_table);
  static gpufl::backend::Observer observer;
  return started;
}
