// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "export/session_tables.hpp"
#include "format/kind_columns.hpp"

// All tables of a session, by the kind whose rows they hold: those with typed columns, and every
// other kind as format/kinds.def describes it. What walks the tables walks this list. `Table`: as
// session_tables.hpp says.
namespace gpufl::exporting {

template <typename Table>
struct SessionTable {
  format::Kind kind;
  std::string_view file;      // "kernels", of CSV and in JSON; empty: in no file
  std::string_view frame;     // in Python
  std::string_view sentence;  // for people
  size_t (*rows)(const analysis::Tables& tables, format::Kind kind);
  void (*describe)(Table& table, const timeline::SessionTexts& texts, format::Kind kind);
};

namespace table_list {

using analysis::Tables;
using format::Kind;
using timeline::SessionTexts;

// The rows of a kind that has no typed table; none: an empty batch.
inline const format::Batch& rows_of(const Tables& tables, Kind kind) {
  static const std::vector<format::Batch> none = [] {
    std::vector<format::Batch> all;
    for (size_t i = 0; i < format::kKindCount; ++i) all.emplace_back(static_cast<Kind>(i));
    return all;
  }();
  const auto found = tables.others.find(kind);
  return found != tables.others.end() ? found->second : none[static_cast<size_t>(kind)];
}
inline size_t row_count(const Tables& tables, Kind kind) { return rows_of(tables, kind).rows(); }

template <typename Table>
void describe_rows(Table& table, const SessionTexts& texts, Kind kind) {
  add_described(table, texts, rows_of(texts.tables(), kind));
}

template <typename Table>
void describe_warp_spans(Table& table, const SessionTexts& texts, Kind kind) {
  namespace column = format::warp_span_column;
  constexpr int64_t kStageMask = 0xffff;
  constexpr int kPhaseShift = 16;
  constexpr int64_t kNoPayload = format::kColumnsOf<Kind::WarpSpan>[column::kPayload].absent;
  const format::Batch& rows = rows_of(texts.tables(), kind);
  const auto add = [&](const ColumnHead& head, auto part) {
    table.computed(head, [&rows, part](size_t row) {
      const int64_t payload = rows.at(column::kPayload, row, kNoPayload);
      return payload == kNoPayload ? kUnknownCell : part(payload);
    });
  };
  add_described(table, texts, rows, 0, column::kPayload + 1);
  add({"stage", CellType::Integer, "", "lower 16 bits of the payload: stage of a pipeline"},
      [](int64_t payload) { return payload & kStageMask; });
  add({"phase", CellType::Integer, "", "upper 16 bits of the payload: phase of its barrier"},
      [](int64_t payload) { return payload >> kPhaseShift; });
  add_described(table, texts, rows, column::kPayload + 1);
}

// Both kinds of sample by instruction have their columns in the same places.
namespace sample = format::pc_sample_column;
static_assert(sample::kStall == size_t{format::sass_metric_column::kMetric} &&
              sample::kSamples == size_t{format::sass_metric_column::kValue} &&
              size_t{sample::kCount} == size_t{format::sass_metric_column::kCount});

// Stalls and metrics by instruction as one table, under the names of the latter.
template <typename Table>
void describe_profile_samples(Table& table, const SessionTexts& texts, Kind /*kind*/) {
  const format::Batch& stalls = rows_of(texts.tables(), Kind::PcSample);
  const format::Batch& metrics = rows_of(texts.tables(), Kind::SassMetric);
  const auto all = std::make_shared<format::Batch>(Kind::SassMetric);
  for (size_t i = 0; i < sample::kCount; ++i) {
    const analysis::TableAppend first(stalls, 0);
    first.described(all->mutable_column(i), i);
    const analysis::TableAppend then(metrics, stalls.rows());
    then.described(all->mutable_column(i), i);
  }
  all->set_rows(stalls.rows() + metrics.rows());
  table.keep(all);
  table.texts_by(
      {"source", CellType::Text, "", "`pc_sample` or `sass_metric`"},
      [count = stalls.rows()](size_t row) { return uint64_t{row < count ? 0U : 1U}; },
      [](uint64_t source) {
        return format::spec(source == 0 ? Kind::PcSample : Kind::SassMetric).name;
      });
  add_described(table, texts, *all);
}

template <typename Table>
class Builder {
 public:
  // `describe`: void (Table&, const SessionTexts&).
  template <auto member, auto describe>
  void typed(Kind kind) {
    add({kind,
         {},
         {},
         {},
         [](const Tables& tables, Kind) { return (tables.*member).rows(); },
         [](Table& table, const SessionTexts& texts, Kind) { describe(table, texts); }});
  }
  // As the log has them.
  void others() {
    for (size_t i = 0; i < format::kKindCount; ++i) {
      const auto kind = static_cast<Kind>(i);
      const bool is_there = std::any_of(tables_.begin(), tables_.end(),
                                        [kind](const auto& table) { return table.kind == kind; });
      if (is_there || format::spec(kind).file.empty()) continue;
      add({kind,
           {},
           {},
           {},
           row_count,
           kind == Kind::WarpSpan ? describe_warp_spans<Table> : describe_rows<Table>});
    }
  }
  void add(SessionTable<Table> table) {
    const format::KindSpec& spec = format::spec(table.kind);
    if (table.frame.empty()) {
      table.file = spec.file;
      table.frame = spec.frame;
      table.sentence = spec.sentence;
    }
    tables_.push_back(table);
  }
  std::vector<SessionTable<Table>> finish() { return std::move(tables_); }

 private:
  std::vector<SessionTable<Table>> tables_;
};

}  // namespace table_list

template <typename Table>
std::vector<SessionTable<Table>> session_tables() {
  using analysis::Tables;
  using format::Kind;
  table_list::Builder<Table> list;
  list.template typed<&Tables::kernels, describe_kernels<Table>>(Kind::Kernel);
  list.template typed<&Tables::copies, describe_transfers<&Tables::copies, Table>>(Kind::Memcpy);
  list.template typed<&Tables::fills, describe_transfers<&Tables::fills, Table>>(Kind::Memset);
  list.template typed<&Tables::waits, describe_waits<Table>>(Kind::Sync);
  list.template typed<&Tables::graphs, describe_graphs<Table>>(Kind::Graph);
  list.template typed<&Tables::allocations, describe_allocations<Table>>(Kind::Memory);
  list.template typed<&Tables::api_calls, describe_api_calls<Table>>(Kind::Api);
  list.template typed<&Tables::scopes, describe_scopes<Table>>(Kind::Scope);
  list.template typed<&Tables::markers, describe_markers<Table>>(Kind::Marker);
  list.template typed<&Tables::counters, describe_counters<Table>>(Kind::Counter);
  list.template typed<&Tables::device_metrics, describe_metrics<&Tables::device_metrics, Table>>(
      Kind::DeviceMetric);
  list.template typed<&Tables::host_metrics, describe_metrics<&Tables::host_metrics, Table>>(
      Kind::HostMetric);
  list.others();
  list.add({Kind::SassMetric,
            {},
            "profile_samples",
            "Samples by instruction, of stalls and of metrics: pc_samples and sass_metrics as one.",
            [](const Tables& tables, Kind) {
              return table_list::row_count(tables, Kind::PcSample) +
                     table_list::row_count(tables, Kind::SassMetric);
            },
            table_list::describe_profile_samples<Table>});
  return list.finish();
}

}  // namespace gpufl::exporting
