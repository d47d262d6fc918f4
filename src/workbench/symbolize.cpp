// SPDX-License-Identifier: Apache-2.0
#include "workbench/symbolize.hpp"

#include <algorithm>
#include <tuple>

#include "symbols/code_stack.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::workbench {

using symbols::BinaryNote;

base::Status symbolize(const std::filesystem::path& path, const symbols::SymbolizeOptions& options,
                       const OnSymbolized& on_symbolized) {
  const auto sessions = session_folders(path);
  if (!sessions) return sessions.status();
  for (const std::filesystem::path& session : *sessions) {
    on_symbolized(session, symbols::symbolize_session(session, options));
  }
  return {};
}

std::vector<const BinaryNote*> unnamed_binaries(const symbols::SymbolizeOutcome& outcome) {
  std::vector<const BinaryNote*> found;
  for (const BinaryNote& binary : outcome.symbols.binaries) {
    if (binary.resolved == 0) found.push_back(&binary);
  }
  std::sort(found.begin(), found.end(), [](const BinaryNote* a, const BinaryNote* b) {
    return std::tuple(is_of_program(*a), a->frames, b->path) >
           std::tuple(is_of_program(*b), b->frames, a->path);
  });
  return found;
}

bool is_program_named(const symbols::SymbolizeOutcome& outcome) {
  return std::none_of(outcome.symbols.binaries.begin(), outcome.symbols.binaries.end(),
                      [](const BinaryNote& binary) {
                        return is_of_program(binary) && binary.resolved < binary.frames;
                      });
}

}  // namespace gpufl::workbench
