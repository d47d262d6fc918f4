// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>

#include "base/status.hpp"
#include "disassembly/disassemble_session.hpp"

// The code of the kernels of recorded sessions, kept beside their logs. One thread.
namespace gpufl::workbench {

using OnDisassembled =
    std::function<void(const std::filesystem::path& session,
                       const base::Result<disassembly::DisassemblyFile>& outcome)>;

// Every session at or below `path`, one after the other; as disassemble_session() does. NotFound:
// there is none.
base::Status disassemble(const std::filesystem::path& path, bool all_functions,
                         const disassembly::DisassembleOptions& options,
                         const OnDisassembled& on_disassembled);

}  // namespace gpufl::workbench
