// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "bindings/frame.hpp"
#include "timeline/session_texts.hpp"

// The tables of a session as DataFrames: docs/reference/python-dataframes.md. Columns are called as
// `gpufl export --to csv` calls them, and are the same in every session. The session outlives them.
// Any thread.
namespace gpufl::python {

// Names that session_frame() knows.
std::vector<std::string_view> frame_names();
// No columns: there is no table of that name.
Frame session_frame(const timeline::SessionTexts& texts, std::string_view name);

}  // namespace gpufl::python
