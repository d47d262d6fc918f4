// SPDX-License-Identifier: Apache-2.0
#include "workbench/disassemble.hpp"

#include "workbench/find_sessions.hpp"

namespace gpufl::workbench {

base::Status disassemble(const std::filesystem::path& path, bool all_functions,
                         const disassembly::DisassembleOptions& options,
                         const OnDisassembled& on_disassembled) {
  const auto sessions = session_folders(path);
  if (!sessions) return sessions.status();
  for (const std::filesystem::path& session : *sessions) {
    on_disassembled(session, disassembly::disassemble_session(session, all_functions, options));
  }
  return {};
}

}  // namespace gpufl::workbench
