// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "analysis/compare/group.hpp"
#include "base/status.hpp"

// What `gpufl diff` and `gpufl gate` take alike: folders with repeats, shares; and, with `gpufl
// report`, how many rows to show and where to print.
namespace gpufl::cli {

// "runs/main", or "3 paths" of several.
std::string group_label(const std::vector<std::filesystem::path>& paths);
// NotFound: no session of it can be read; the sentence says why.
base::Result<analysis::compare::Group> read_group(const std::vector<std::filesystem::path>& paths);

// An option whose text is a share: "5%" or "0.05".
CLI::Option* add_share(CLI::App& app, const std::string& name, double& share,
                       const std::string& default_text, const std::string& help);

// Refuses what is no whole number from 0 on.
CLI::Validator count_check();

// To stdout where `file` is empty. A file that is there is replaced, as a whole or not at all; but
// never one inside a session's folder. Says on stderr why it could not be written, and returns
// false.
bool deliver(std::string_view who, const std::string& text, const std::string& file);

}  // namespace gpufl::cli
