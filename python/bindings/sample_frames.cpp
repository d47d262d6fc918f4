// SPDX-License-Identifier: Apache-2.0
#include "bindings/sample_frames.hpp"

#include <cmath>
#include <map>
#include <memory>

#include "format/columns.hpp"

namespace gpufl::python {
namespace {

using exporting::CellType;
using format::Batch;
using format::Dict;
using format::Kind;
using timeline::SessionTexts;

constexpr int64_t kNoPayload = -1;

const Batch& rows_of(const SessionTexts& texts, Kind kind) {
  static const std::map<Kind, Batch> kNone = [] {
    std::map<Kind, Batch> none;
    for (const Kind each : {Kind::PcSample, Kind::SassMetric, Kind::RangeMetric, Kind::WarpSpan}) {
      none.emplace(each, each);
    }
    return none;
  }();
  const auto& others = texts.tables().others;
  const auto found = others.find(kind);
  return found != others.end() ? found->second : kNone.at(kind);
}

// Paths of scopes by the id that the log gives them.
std::function<std::string(uint64_t)> scope_text(const SessionTexts& texts) {
  auto rows = std::make_shared<std::unordered_map<int64_t, uint32_t>>();
  const std::vector<int64_t>& ids = texts.tables().scopes.id;
  for (uint32_t row = 0; row < ids.size(); ++row) rows->emplace(ids[row], row);
  return [&texts, rows](uint64_t id) {
    const auto found = rows->find(static_cast<int64_t>(id));
    return found == rows->end() ? std::string() : texts.path_text(texts.scope_path(found->second));
  };
}

// Columns of batches laid after one another: row by row, with what a batch lacks unknown.
class Columns {
 public:
  Columns(const SessionTexts& texts, std::vector<const Batch*> batches)
      : texts_(texts), batches_(std::move(batches)), frame_(count(batches_)) {}

  FrameBuilder& frame() { return frame_; }

  // Numbers, unknown where they are `unknown` or not there.
  void numbers(std::string name, size_t column, int64_t unknown = kUnknownCell) {
    frame_.computed(std::move(name), CellType::Integer, [this, column, unknown](size_t row) {
      const int64_t value = at(column, row, unknown);
      return value == unknown ? kUnknownCell : value;
    });
  }
  void whole(std::string name, size_t column) {
    frame_.whole(std::move(name), [this, column](size_t row) { return at(column, row, 0); });
  }
  void ids(std::string name, size_t column) {
    frame_.ids_by(
        std::move(name),
        [this, column](size_t row) { return static_cast<uint64_t>(at(column, row, 0)); }, false);
  }
  void texts(std::string name, size_t column, Dict dict) {
    frame_.texts_by(
        std::move(name),
        [this, column](size_t row) { return static_cast<uint64_t>(at(column, row, 0)); },
        [this, dict](uint64_t id) {
          return texts_.dictionary_text(dict, static_cast<uint32_t>(id));
        });
  }
  void scope(size_t column) {
    frame_.texts_by(
        "scope", [this, column](size_t row) { return static_cast<uint64_t>(at(column, row, 0)); },
        scope_text(texts_));
  }
  int64_t at(size_t column, size_t row, int64_t fallback) const {
    for (const Batch* batch : batches_) {
      if (row < batch->rows()) return batch->at(column, row, fallback);
      row -= batch->rows();
    }
    return fallback;
  }

 private:
  static size_t count(const std::vector<const Batch*>& batches) {
    size_t rows = 0;
    for (const Batch* batch : batches) rows += batch->rows();
    return rows;
  }

  const SessionTexts& texts_;
  std::vector<const Batch*> batches_;
  FrameBuilder frame_;
};

// Both kinds of sample have these columns in the same places.
namespace column = format::pc_sample_column;
static_assert(column::kStall == size_t{format::sass_metric_column::kMetric} &&
              column::kSamples == size_t{format::sass_metric_column::kValue} &&
              column::kScope == size_t{format::sass_metric_column::kScope});

void add_place(Columns& columns) {
  columns.whole("time_ns", column::kTime);
  columns.numbers("device", column::kDevice, -1);
  columns.numbers("context", column::kContext, -1);
  columns.ids("module", column::kModule);
  columns.texts("function", column::kFunction, Dict::Name);
  columns.whole("pc", column::kPc);
}

void add_cause(Columns& columns) {
  columns.numbers("correlation", column::kCorrelation, 0);
  columns.scope(column::kScope);
}

}  // namespace

Frame pc_samples(const SessionTexts& texts) {
  Columns columns(texts, {&rows_of(texts, Kind::PcSample)});
  add_place(columns);
  columns.texts("stall", column::kStall, Dict::Metric);
  columns.whole("samples", column::kSamples);
  add_cause(columns);
  return columns.frame().finish();
}

Frame profile_samples(const SessionTexts& texts) {
  const Batch& stalls = rows_of(texts, Kind::PcSample);
  Columns columns(texts, {&stalls, &rows_of(texts, Kind::SassMetric)});
  columns.frame().texts_by(
      "source", [&stalls](size_t row) { return uint64_t{row < stalls.rows() ? 0U : 1U}; },
      [](uint64_t source) { return source == 0 ? "pc_sample" : "sass_metric"; });
  add_place(columns);
  columns.texts("metric", column::kStall, Dict::Metric);
  columns.whole("value", column::kSamples);
  add_cause(columns);
  return columns.frame().finish();
}

Frame perf(const SessionTexts& texts) {
  namespace column = format::range_metric_column;
  Columns columns(texts, {&rows_of(texts, Kind::RangeMetric)});
  columns.whole("start_ns", column::kStart);
  columns.numbers("duration_ns", column::kDuration);
  columns.numbers("device", column::kDevice, -1);
  columns.numbers("context", column::kContext, -1);
  columns.texts("range", column::kRange, Dict::Name);
  columns.texts("metric", column::kMetric, Dict::Metric);
  columns.frame().reals("value", [&columns](size_t row) {
    return static_cast<double>(columns.at(column::kValue, row, 0)) *
           std::pow(10.0, static_cast<double>(columns.at(column::kExponent, row, 0)));
  });
  columns.numbers("correlation", column::kCorrelation, 0);
  columns.numbers("pass", column::kPass);
  columns.scope(column::kScope);
  return columns.frame().finish();
}

Frame warp_spans(const SessionTexts& texts) {
  namespace column = format::warp_span_column;
  constexpr int64_t kStageMask = 0xffff;
  constexpr int kPhaseShift = 16;
  Columns columns(texts, {&rows_of(texts, Kind::WarpSpan)});
  columns.whole("start_ns", column::kStart);
  columns.whole("duration_ns", column::kDuration);
  columns.numbers("device", column::kDevice, -1);
  columns.whole("launch", column::kLaunch);
  columns.numbers("correlation", column::kCorrelation, 0);
  columns.numbers("sm", column::kSm, -1);
  columns.whole("block", column::kBlock);
  columns.whole("group", column::kGroup);
  columns.texts("group_name", column::kGroupName, Dict::Name);
  columns.texts("event", column::kEvent, Dict::Name);
  columns.frame().texts_by(
      "ending",
      [&columns](size_t row) {
        return static_cast<uint64_t>(columns.at(column::kEnding, row, 0)) + 1;
      },
      [](uint64_t ending) -> std::string {
        switch (static_cast<format::WarpEnding>(ending - 1)) {
          case format::WarpEnding::Normal: return "range";
          case format::WarpEnding::Instant: return "instant";
          case format::WarpEnding::NoEnd: return "no_end";
          case format::WarpEnding::NoBegin: return "no_begin";
        }
        return "unknown";
      });
  columns.numbers("payload", column::kPayload, kNoPayload);
  columns.frame().computed("stage", CellType::Integer, [&columns](size_t row) {
    const int64_t payload = columns.at(column::kPayload, row, kNoPayload);
    return payload == kNoPayload ? kUnknownCell : payload & kStageMask;
  });
  columns.frame().computed("phase", CellType::Integer, [&columns](size_t row) {
    const int64_t payload = columns.at(column::kPayload, row, kNoPayload);
    return payload == kNoPayload ? kUnknownCell : payload >> kPhaseShift;
  });
  columns.numbers("error_ns", column::kError);
  return columns.frame().finish();
}

}  // namespace gpufl::python
