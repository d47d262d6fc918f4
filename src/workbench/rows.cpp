// SPDX-License-Identifier: Apache-2.0
#include "workbench/rows.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "base/json.hpp"
#include "format/flat_row.hpp"
#include "format/session_reader.hpp"
#include "symbols/code_stack.hpp"
#include "symbols/demangle.hpp"
#include "symbols/session_frames.hpp"
#include "symbols/symbol_file.hpp"
#include "workbench/open.hpp"

namespace gpufl::workbench {
namespace {

constexpr size_t kPieceBytes = size_t{256} << 10;

// Names and stacks of a session. Reads its frames where rows of the kind have stacks.
class RowTexts final : public format::FlatTexts {
 public:
  RowTexts(const format::SessionReader& session, const RowsRequest& request) : request_(request) {
    const auto& columns = format::spec(request.kind).columns;
    const bool has_stacks = std::any_of(columns.begin(), columns.end(), [](const auto& column) {
      return column.dict == format::Dict::Stack;
    });
    if (!has_stacks) return;
    frames_ = symbols::read_frames(session);
    const symbols::SymbolizeOptions on_the_fly = reading_options(request.libdw);
    symbols_ = symbols::find_symbols(session, frames_, &on_the_fly);
  }

  std::string function(std::string_view name) const override {
    return request_.mangled_names ? std::string(name) : symbols::demangle(name);
  }
  void append_stack(const format::ColumnSpec& column, int64_t id, std::string& out) override {
    const bool is_captured = column.name == "node_stack";
    const auto [entry, is_new] = members_[is_captured].try_emplace(id);
    if (is_new) entry->second = members_of(id, is_captured ? "captured_" : "");
    out += entry->second;
  }

 private:
  std::string members_of(int64_t id, const std::string& prefix) const {
    std::string out = '"' + prefix + R"(at":)";
    const auto found = frames_.stacks().find(id);
    if (found == frames_.stacks().end()) return out + R"("?",)";
    const auto stack = symbols::resolve_stack(found->second, frames_, symbols_);
    const symbols::CodeFrame* user = symbols::user_frame(stack);
    base::append_json_string(
        out, user != nullptr ? symbols::site_text(*user) : std::string(symbols::kDriverInternal));
    out += ',';
    if (!request_.whole_stacks) return out;
    out += '"' + prefix + R"(stack":[)";
    for (const symbols::CodeFrame& frame : stack) {
      base::append_json_string(out, symbols::frame_text(frame));
      out += ',';
    }
    if (out.back() == ',') out.pop_back();
    return out + "],";
  }

  const RowsRequest& request_;
  symbols::SessionFrames frames_;
  symbols::SymbolFile symbols_;
  // Of a row with that stack, or whose node of a graph was captured with it.
  std::array<std::unordered_map<int64_t, std::string>, 2> members_;
};

class RowWriter final : public format::Visitor {
 public:
  RowWriter(format::FlatTexts& texts, const TakeRows& take) : rows_(&texts), take_(take) {}

  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    rows_.append(batch, dictionaries, piece_);
    if (piece_.size() >= kPieceBytes) flush();
  }
  void on_object(format::Kind kind, const base::Json& object) override {
    // Every file begins with the session line; it is one session.
    if (kind == format::Kind::Session && has_session_) return;
    has_session_ |= kind == format::Kind::Session;
    rows_.append(kind, object, piece_);
  }
  void on_problem(const format::Problem& problem) override { problems_ += !is_growth(problem); }
  void flush() {
    if (!is_done) is_done = !take_(piece_);
    piece_.clear();
  }
  uint64_t problems() const { return problems_; }

 private:
  format::FlatRows rows_;
  const TakeRows& take_;
  std::string piece_;
  bool has_session_ = false;
  uint64_t problems_ = 0;
};

}  // namespace

base::Result<uint64_t> read_rows(const RowsRequest& request, const TakeRows& take) {
  const auto session = format::SessionReader::open(request.session);
  if (!session) return session.status();
  RowTexts texts(*session, request);
  RowWriter writer(texts, take);
  session->read(writer, {request.kind});
  writer.flush();
  return writer.problems();
}

}  // namespace gpufl::workbench
