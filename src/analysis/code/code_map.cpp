// SPDX-License-Identifier: Apache-2.0
#include "analysis/code/code_map.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace gpufl::analysis {
namespace {

using SourcesByPath = std::unordered_map<std::string_view, std::vector<const symbols::SourceText*>>;

void find_source(CodeSite& site, const SourcesByPath& sources) {
  const auto of_file = sources.find(site.file);
  if (of_file == sources.end()) return;
  for (const symbols::SourceText* source : of_file->second) {
    const int64_t index = site.line - source->first_line;
    if (index < 0 || index >= static_cast<int64_t>(source->lines.size())) continue;
    site.source = source->lines[static_cast<size_t>(index)];
    site.is_newer = source->is_newer;
    return;
  }
}

}  // namespace

CodeMap::CodeMap(const symbols::SessionFrames& frames, const symbols::SymbolFile& symbols) {
  SourcesByPath sources;
  for (const symbols::SourceText& source : symbols.sources) {
    sources[source.path].push_back(&source);
  }
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
    find_source(entry.site, sources);
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

const std::vector<symbols::CodeFrame>& CodeMap::frames(uint32_t stack) const {
  return entry(stack).frames;
}
const CodeSite& CodeMap::site(uint32_t stack) const { return entry(stack).site; }
const std::string& CodeMap::api_function(uint32_t stack) const { return entry(stack).api_function; }

}  // namespace gpufl::analysis
