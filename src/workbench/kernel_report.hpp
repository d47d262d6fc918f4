// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "analysis/session/session_data.hpp"
#include "base/status.hpp"
#include "report/session_report.hpp"
#include "workbench/answer_format.hpp"

// Which lines and instructions of one kernel are slow. Takes code from what `gpufl disassemble`
// kept beside the log; where that is nothing, starts nvdisasm for this kernel. One thread.
namespace gpufl::workbench {

struct KernelRequest {
  // A part of its name, or the whole with * and ?: demangled, short or as the log has it.
  std::string kernel;
  bool with_source = false;        // source and instructions side by side
  std::filesystem::path nvdisasm;  // empty: it is looked for
};

// In text, Markdown or JSON; ends with a newline. NotFound: no kernel has that name, and the
// sentence has the nearest; InvalidArgument: several have, and it lists them.
base::Result<std::string> report_kernel(const analysis::SessionData& session,
                                        const KernelRequest& request,
                                        const analysis::AnalysisOptions& options, Format format,
                                        const report::TextOptions& text);

}  // namespace gpufl::workbench
