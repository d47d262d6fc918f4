// SPDX-License-Identifier: Apache-2.0
#include "sql/session_context.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "format/batch_codec.hpp"
#include "format/session_files.hpp"

namespace gpufl::sql {
namespace {

using format::Kind;

class ContextLines final : public format::Visitor {
 public:
  ContextLines(const ContextNeeds& needs, const std::atomic<bool>& is_cancelled)
      : needs_(needs), is_cancelled_(is_cancelled) {}

  analysis::TableBuilder tables;
  symbols::SessionFrames frames;
  std::vector<format::Problem> problems;

  int64_t end_ns() const { return told_end_ns_ >= 0 ? told_end_ns_ : last_ns_; }

  bool wants_window(const format::WindowFile& window) override {
    return needs_.stacks || needs_.end || window.channel == format::Channel::Scope;
  }
  bool wants_batch(Kind kind, std::string_view line) override {
    is_done = is_done || is_cancelled_.load(std::memory_order_relaxed);
    if (needs_.end) {
      const format::LineHead head = format::line_head(line);
      if (head.has_span) last_ns_ = std::max(last_ns_, head.span[1]);
    }
    if (kind == Kind::Marker) return needs_.markers;
    return needs_.scopes && (kind == Kind::Scope || kind == Kind::ScopeOpen);
  }
  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    tables.on_batch(batch, dictionaries);
  }
  void on_object(Kind kind, const base::Json& line) override {
    if (kind == Kind::Dict) {
      tables.on_object(kind, line);
      if (needs_.stacks) frames.add(line);
    }
    last_ns_ = std::max(last_ns_, line["time"].as_integer());
    if (kind == Kind::End) told_end_ns_ = std::max<int64_t>(line["time"].as_integer(), 0);
  }
  void on_problem(const format::Problem& problem) override { problems.push_back(problem); }
  void on_window(const format::WindowFile& window) override {
    if (const auto problem = missing_file(window)) on_problem(*problem);
  }

 private:
  const ContextNeeds needs_;
  const std::atomic<bool>& is_cancelled_;
  int64_t last_ns_ = 0, told_end_ns_ = -1;
};

template <size_t count>
bool has_any(const std::vector<std::string>& columns,
             const std::array<std::string_view, count>& names) {
  return std::any_of(columns.begin(), columns.end(), [&](const std::string& column) {
    return std::find(names.begin(), names.end(), column) != names.end();
  });
}

std::vector<Kind> kinds_for(const ContextNeeds& needs) {
  if (needs.end) return {};  // all, of which most are only looked at
  return {Kind::Dict, Kind::Scope, Kind::ScopeOpen, Kind::Marker};
}

}  // namespace

std::optional<format::Problem> missing_file(const format::WindowFile& window) {
  if (window.state != format::WindowFile::State::Missing) return {};
  return format::Problem{format::Problem::Kind::MissingWindow,
                         format::sealed_file_name(window.channel, window.number), 0,
                         "it is missing"};
}

unsigned decoding_threads() { return std::clamp(std::thread::hardware_concurrency(), 1U, 4U); }

ContextNeeds needs_of(Kind kind, const std::vector<std::string>& columns) {
  ContextNeeds needs;
  if (kind == Kind::Scope) {
    needs.scopes = needs.end = true;
    return needs;
  }
  const bool has_labels =
      kind == Kind::Kernel || kind == Kind::Memcpy || kind == Kind::Memset || kind == Kind::Sync;
  needs.markers = has_labels && has_any<6>(columns, {"op", "module", "line", "backward",
                                                     "forward_op", "forward_scope"});
  needs.scopes = needs.markers || has_any<1>(columns, {"scope"});
  needs.stacks = has_any<4>(columns, {"launched_at", "captured_at", "line", "stack"}) ||
                 (kind == Kind::Sync && has_any<1>(columns, {"name"}));
  return needs;
}

SessionContext read_context(const SessionSet& sessions, size_t session, const ContextNeeds& needs,
                            const std::atomic<bool>& is_cancelled) {
  const format::SessionReader& reader = sessions.sessions()[session].reader;
  ContextLines lines(needs, is_cancelled);
  SessionContext context;
  if (needs.any()) {
    reader.read(lines, kinds_for(needs), decoding_threads());
    sessions.note(session, lines.problems);
  }
  if (needs.stacks && !lines.is_done) {
    static std::mutex one_at_a_time;  // readers of debug information share state
    const std::lock_guard lock(one_at_a_time);
    symbols::SymbolizeOptions options;
    options.libdw = sessions.libdw();
    options.sources.enabled = false;
    context.data.code =
        analysis::CodeMap(lines.frames, symbols::find_symbols(reader, lines.frames, &options));
  }
  context.data.summary.header = reader.header();
  context.builder = std::move(lines.tables);
  analysis::take_piece(context.builder.hand_over(lines.end_ns()), context.data.tables);
  return context;
}

}  // namespace gpufl::sql
