// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "format/session_header.hpp"

// Which process of which launch on which machine this is: from the environment that launchers
// set, and from /proc. Reads small files; called once per session.
namespace gpufl::capture {

// A variable's value, nothing when it is not set. Tests pass their own.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

// GPUFL_RUN_ID, else torchrun's, else Slurm's job (and step); nothing when no launcher says.
std::optional<std::string> launcher_run_id(const Environment& env);

// Rank, world size and local rank, all from the first of torchrun, Open MPI, PMI (MPICH, Intel) and
// Slurm that sets a rank.
void fill_ranks(const Environment& env, format::SessionHeader& header);

// The container's id, or its runtime's name where no id is to be seen; empty outside of one.
// `root` stands before /proc and /run.
std::string detect_container(const std::filesystem::path& root, const Environment& env);

// Everything of the header that tells who and where; times, engine and backend are the session's.
format::SessionHeader describe_process(int64_t wall_ns);

}  // namespace gpufl::capture
