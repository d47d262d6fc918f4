// SPDX-License-Identifier: Apache-2.0
#include "sql/piece_reader.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "format/batch_codec.hpp"
#include "sql/session_context.hpp"

namespace gpufl::sql {
namespace {

// Enough rows that describing a table's columns anew for each piece costs nothing.
constexpr size_t kPieceRows = 16'384;
constexpr size_t kMostAhead = 3;
constexpr size_t kMostProblems = 100;
constexpr std::chrono::milliseconds kLook{50};  // for whether the query was cancelled

format::Batch rows_within(const format::Batch& batch, const TimeRange& range, size_t time) {
  format::Batch rows(batch.kind());
  std::vector<size_t> chosen;
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (range.contains(batch.at(time, row))) chosen.push_back(row);
  }
  for (size_t i = 0; i < batch.kind_spec().columns.size(); ++i) {
    if (!batch.has(i)) continue;
    const std::vector<int64_t>& from = batch.column(i);
    std::vector<int64_t>& to = rows.mutable_column(i);
    to.resize(chosen.size());
    std::transform(chosen.begin(), chosen.end(), to.begin(), [&](size_t row) { return from[row]; });
  }
  rows.set_rows(chosen.size());
  return rows;
}

}  // namespace

class PieceReader::Lines final : public format::Visitor {
  using WindowFile = format::WindowFile;

 public:
  Lines(PieceReader& reader, const TimeRange& range, analysis::TableBuilder builder)
      : reader_(reader),
        range_(range),
        time_(format::first_time(format::spec(reader.kind_))),
        builder_(std::move(builder)) {}

  bool wants_window(const WindowFile& window) override {
    if (window.channel != format::spec(reader_.kind_).channel) return false;
    // Also of one that is missing.
    const bool is_sealed =
        window.state == WindowFile::State::Sealed || window.state == WindowFile::State::Missing;
    const bool has_times = is_sealed && window.in_manifest && window.last_ns != 0;
    return !has_times || is_near(window.first_ns, window.last_ns);
  }
  void on_window(const WindowFile& window) override {
    if (const auto problem = missing_file(window)) on_problem(*problem);
  }
  bool wants_batch(format::Kind /*kind*/, std::string_view line) override {
    is_done = is_done || reader_.is_cancelled_.load(std::memory_order_relaxed);
    if (is_done) return false;
    if (range_.is_everything()) return true;
    const format::LineHead head = format::line_head(line);
    return !head.has_span || is_near(head.span[0], head.span[1]);
  }
  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    if (range_.is_everything()) {
      add(batch, dictionaries);
    } else {
      add(rows_within(batch, range_, time_), dictionaries);
    }
  }
  void on_object(format::Kind kind, const base::Json& line) override {
    builder_.on_object(kind, line);
  }
  void on_problem(const format::Problem& problem) override {
    if (reader_.problems_.size() < kMostProblems) reader_.problems_.push_back(problem);
  }
  void hand_over() {
    if (rows_ == 0) return;
    rows_ = 0;
    is_done = !reader_.put(builder_.hand_over(0)) || is_done;
  }

 private:
  bool is_near(int64_t first_ns, int64_t last_ns) const {
    return last_ns >= range_.from_ns && first_ns < range_.to_ns;
  }
  void add(const format::Batch& batch, const format::Dictionaries& dictionaries) {
    builder_.on_batch(batch, dictionaries);
    rows_ += batch.rows();
    if (rows_ >= kPieceRows) hand_over();
  }

  PieceReader& reader_;
  const TimeRange range_;
  const size_t time_;
  analysis::TableBuilder builder_;
  size_t rows_ = 0;
};

PieceReader::PieceReader(const format::SessionReader& session, format::Kind kind,
                         const TimeRange& range, analysis::TableBuilder builder,
                         const std::atomic<bool>& is_cancelled)
    : session_(session), kind_(kind), is_cancelled_(is_cancelled) {
  thread_ = std::thread([this, range, builder = std::move(builder)]() mutable {
    try {
      read(range, std::move(builder));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    is_at_end_ = true;
    changed_.notify_all();
  });
}

PieceReader::~PieceReader() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PieceReader::read(const TimeRange& range, analysis::TableBuilder builder) {
  Lines lines(*this, range, std::move(builder));
  session_.read(lines, {kind_, format::Kind::Dict}, decoding_threads());
  if (!lines.is_done) lines.hand_over();
}

bool PieceReader::put(analysis::TablePiece piece) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_closed_ || pieces_.size() < kMostAhead; });
  if (is_closed_) return false;
  pieces_.push_back(std::move(piece));
  changed_.notify_all();
  return true;
}

base::Result<std::optional<analysis::TablePiece>> PieceReader::next() {
  std::unique_lock lock(mutex_);
  while (pieces_.empty() && !is_at_end_ && !is_cancelled_) changed_.wait_for(lock, kLook);
  if (is_cancelled_) return base::Status(base::Code::Cancelled, "the query was stopped");
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  if (pieces_.empty()) return std::optional<analysis::TablePiece>();
  std::optional<analysis::TablePiece> piece(std::move(pieces_.front()));
  pieces_.pop_front();
  changed_.notify_all();
  return piece;
}

}  // namespace gpufl::sql
