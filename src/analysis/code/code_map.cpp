// SPDX-License-Identifier: Apache-2.0
#include "analysis/code/code_map.hpp"

#include <algorithm>
#include <iterator>

namespace gpufl::analysis {

CodeMap::CodeMap(const symbols::SessionFrames& frames, const symbols::SymbolFile& symbols) {
  for (const symbols::SourceText& text : symbols.sources) sources_[text.path].push_back(text);
  stacks_.reserve(frames.stacks().size());
  for (const auto& [id, frame_ids] : frames.stacks()) {
    const uint32_t stack = stack_id(id);
    if (stack == kNoStack) continue;
    Entry& entry = stacks_[stack];
    entry.frames = symbols::resolve_stack(frame_ids, frames, symbols);
    entry.api_function = symbols::api_function(entry.frames);
    const symbols::CodeFrame* user = symbols::user_frame(entry.frames);
    if (user == nullptr) {
      entry.site.text = symbols::kDriverInternal;
      continue;
    }
    entry.site.text = symbols::site_text(*user);
    entry.site.file = user->file;
    entry.site.line = user->line;
    if (const symbols::SourceText* text = source(entry.site)) {
      entry.site.source = text->lines[static_cast<size_t>(user->line - text->first_line)];
      entry.site.is_newer = text->is_newer;
    }
  }
  std::copy_if(symbols.binaries.begin(), symbols.binaries.end(), std::back_inserter(unresolved_),
               [](const symbols::BinaryNote& binary) {
                 return binary.resolved == 0 && symbols::is_of_program(binary);
               });
}

const CodeMap::Entry& CodeMap::entry(uint32_t stack) const {
  static const Entry kNone;
  const auto found = stacks_.find(stack);
  return found != stacks_.end() ? found->second : kNone;
}

const symbols::SourceText* CodeMap::source(const CodeSite& site) const {
  const auto of_file = sources_.find(site.file);
  if (of_file == sources_.end()) return nullptr;
  for (const symbols::SourceText& text : of_file->second) {
    if (site.line < text.first_line) continue;
    if (static_cast<size_t>(site.line - text.first_line) < text.lines.size()) return &text;
  }
  return nullptr;
}

const std::vector<symbols::CodeFrame>& CodeMap::frames(uint32_t stack) const {
  return entry(stack).frames;
}
const CodeSite& CodeMap::site(uint32_t stack) const { return entry(stack).site; }
const std::string& CodeMap::api_function(uint32_t stack) const { return entry(stack).api_function; }

}  // namespace gpufl::analysis
