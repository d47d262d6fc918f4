// SPDX-License-Identifier: Apache-2.0
#include "cli/stack_texts.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "cli/symbolize_command.hpp"
#include "symbols/code_stack.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::cli {

StackTexts::StackTexts(const format::SessionReader& session, format::Kind kind,
                       StackTextOptions options)
    : options_(options) {
  const auto& columns = format::spec(kind).columns;
  const bool has_stacks = std::any_of(columns.begin(), columns.end(), [](const auto& column) {
    return column.dict == format::Dict::Stack;
  });
  if (!has_stacks) return;
  frames_ = symbols::read_frames(session);
  const symbols::SymbolizeOptions on_the_fly = reading_options();
  symbols_ = symbols::find_symbols(session, frames_, &on_the_fly);
}

std::string StackTexts::function(std::string_view name) const {
  return options_.mangled_names ? std::string(name) : symbols::demangle(name);
}

void StackTexts::append_stack(int64_t id, std::string& out) {
  const auto [entry, is_new] = members_.try_emplace(id);
  if (is_new) entry->second = members_of(id);
  out += entry->second;
}

std::string StackTexts::members_of(int64_t id) const {
  const auto found = frames_.stacks().find(id);
  if (found == frames_.stacks().end()) return R"("at":"?",)";
  const auto stack = symbols::resolve_stack(found->second, frames_, symbols_);
  const symbols::CodeFrame* user = symbols::user_frame(stack);
  std::string out = R"("at":)";
  base::append_json_string(
      out, user != nullptr ? symbols::site_text(*user) : std::string(symbols::kDriverInternal));
  out += ',';
  if (!options_.whole_stacks) return out;
  out += R"("stack":[)";
  for (const symbols::CodeFrame& frame : stack) {
    base::append_json_string(out, symbols::frame_text(frame));
    out += ',';
  }
  if (out.back() == ',') out.pop_back();
  return out + "],";
}

}  // namespace gpufl::cli
