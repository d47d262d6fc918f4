// SPDX-License-Identifier: Apache-2.0
#pragma once

// The exit codes of every command, one table: docs/reference/exit-codes.md.
namespace gpufl::cli {

inline constexpr int kExitGood = 0;             // done, or the answer is yes
inline constexpr int kExitNo = 1;               // the answer is no
inline constexpr int kExitCannotTell = 2;       // it cannot be told, or not be read
inline constexpr int kExitUsage = 64;           // the command line is wrong
inline constexpr int kExitCannotExecute = 126;  // a launched program is there but cannot be started
inline constexpr int kExitNotFound = 127;       // a launched program is not there
inline constexpr int kExitSignalBase = 128;     // plus the number of the signal that ended it

}  // namespace gpufl::cli
