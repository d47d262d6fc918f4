// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "base/status.hpp"
#include "symbols/symbolize_session.hpp"

// Names for the native frames of recorded sessions, kept beside their logs. One thread.
namespace gpufl::workbench {

using OnSymbolized = std::function<void(const std::filesystem::path& session,
                                        const base::Result<symbols::SymbolizeOutcome>& outcome)>;

// Every session at or below `path`, one after the other. NotFound: there is none.
base::Status symbolize(const std::filesystem::path& path, const symbols::SymbolizeOptions& options,
                       const OnSymbolized& on_symbolized);

// Binaries of which no frame has a name: the program's own first, then by what is missing. They are
// the outcome's.
std::vector<const symbols::BinaryNote*> unnamed_binaries(const symbols::SymbolizeOutcome& outcome);
// Whether all frames of the program's own binaries have names.
bool is_program_named(const symbols::SymbolizeOutcome& outcome);

}  // namespace gpufl::workbench
