// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/code_location.hpp"
#include "symbols/session_frames.hpp"
#include "symbols/symbol_file.hpp"

// Stacks as people read them: frames with their symbols, and whose code each is. Pure functions on
// what was read; any thread.
namespace gpufl::symbols {

enum class Origin : uint8_t {
  User,      // the program's own
  Library,   // the vendor's, the framework's, the language's: nothing that its user can edit
  Internal,  // start-up code, the driver, what no file is known of
};

struct CodeFrame : CodeLocation {
  std::string module;   // native: the file; empty for Python
  uint64_t offset = 0;  // native
  Origin origin = Origin::Internal;
  bool is_python() const { return module.empty() && !file.empty(); }
};

// Innermost first, inlined functions as frames of their own. Native frames without symbols have
// module and offset.
std::vector<CodeFrame> resolve_stack(const std::vector<int64_t>& frame_ids,
                                     const SessionFrames& frames, const SymbolFile& symbols);

// The innermost frame of the program's own, where that is native code without a line the innermost
// line of Python outside of it; null: there is none, the driver did it by itself.
const CodeFrame* user_frame(const std::vector<CodeFrame>& stack);
// The function of the vendor's API that the program, or a library for it, called: "cudaMemcpy".
// Empty: no symbol tells.
std::string api_function(const std::vector<CodeFrame>& stack);
inline constexpr std::string_view kDriverInternal = "<driver-internal>";

// "train_step() at /home/me/train.py:90", "libfoo.so+0x1234": a frame for lists.
std::string frame_text(const CodeFrame& frame);
// "train.py:90 in train_step()": a frame for tables; the file without its folders.
std::string site_text(const CodeFrame& frame);

// Whose a file is, by where it lies: a source file or a module.
Origin origin_of_python(std::string_view file);
Origin origin_of_native(std::string_view module, const CodeLocation& place);
// What torch.compile wrote: "/tmp/torchinductor_me/aa/caayemptj...uk.py".
bool is_inductor_file(std::string_view path);
// Of a source file that code of a GPU came from. What torch.compile wrote is its user's: there is
// no other line.
Origin origin_of_source(std::string_view file);
// Whether a binary is the program's own.
bool is_of_program(const BinaryNote& binary);

}  // namespace gpufl::symbols
