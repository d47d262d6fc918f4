// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/interner.hpp"
#include "symbols/id_table.hpp"
#include "symbols/lazy_array.hpp"
#include "symbols/python_layout.hpp"

// Reads the Python frames of the calling thread without the GIL: a thread's frames are pushed and
// popped by that thread alone, and hold what they refer to. Calls nothing of the interpreter and
// touches no reference count. Any thread; once a frame has been seen, no lock and no allocation.
namespace gpufl::symbols {

// A field of an object of the interpreter.
template <typename T>
T load_field(const char* object, uint16_t offset) {
  T value;
  std::memcpy(&value, object + offset, sizeof(value));
  return value;
}

// Places in Python code by (code object, instruction), from 1. Their names are copied at the first
// sight. A code object that came to lie where a freed one was, as its names may have done too, is
// told by the number that the interpreter gave it; before 3.12, which gives none, by its first line
// and by both ends of its name and of its line table.
class PythonPlaces {
 public:
  // `texts` keeps the names; it outlives this.
  PythonPlaces(int log2_places, base::Interner& texts)
      : ids_(log2_places), places_(size_t{1} << log2_places), texts_(texts) {}

  // Which of the code objects that lay at that address it is.
  static uint64_t identity_of(const PythonLayout& layout, const char* code) noexcept {
    const auto first_line = load_field<uint32_t>(code, layout.code_first_line);
    // 0 where the interpreter gives no numbers, or has run out of them.
    const uint32_t version =
        layout.code_version != 0 ? load_field<uint32_t>(code, layout.code_version) : 0;
    return version != 0 ? uint64_t{version} << 32 | first_line
                        : identity_by_texts(layout, code, first_line);
  }
  // `code` is a code object. 0: no room.
  uint32_t intern(const PythonLayout& layout, const char* code, int64_t offset) noexcept;

  struct View {
    std::string_view function, file;
    int64_t line = 0;
  };
  View get(uint32_t id) const noexcept;
  // Whether it lies in the program's own code, not in a library's.
  bool is_users(uint32_t id) const noexcept { return id < places_.size() && places_[id].is_users; }

 private:
  struct Place {
    uintptr_t code;
    uint64_t identity;
    int64_t offset;
    int32_t line;
    uint32_t function_text, file_text;
    bool is_users;
  };

  static uint64_t identity_by_texts(const PythonLayout& layout, const char* code,
                                    uint32_t first_line) noexcept;
  static bool is_equal(const Place& a, const Place& b) {
    return a.code == b.code && a.offset == b.offset && a.identity == b.identity;
  }
  uint32_t add(const PythonLayout& layout, uint64_t hash, Place place) noexcept;

  IdTable ids_;
  LazyArray<Place> places_;
  base::Interner& texts_;
};

// The Python frames of a thread, innermost first. Each run of the interpreter's evaluation loop is
// one C function on the stack, and an address inside of that function's frame says which.
class PythonWalk {
 public:
  // The calling thread's state, of runtime.this_thread_state().
  PythonWalk(const PythonRuntime& runtime, const void* thread_state) : runtime_(runtime) {
    const PythonLayout& layout = runtime.layout;
    const auto* state = static_cast<const char*>(thread_state);
    if (layout.thread_cframe != 0) cframe_ = load_field<const char*>(state, layout.thread_cframe);
    if (layout.thread_frame != 0) {
      frame_ = load_field<const char*>(state, layout.thread_frame);
    } else if (cframe_ != nullptr) {
      frame_ = load_field<const char*>(cframe_, layout.cframe_frame);
    }
  }

  // Goes to the next run. False: there is none. `anchor` lies in its C frame; UINTPTR_MAX: unknown.
  bool next_run(uintptr_t& anchor);
  // The next frame of this run: its code object and the byte offset of its instruction.
  bool next_frame(const char*& code, int64_t& offset);
  // The next frame of any run, for those who need no anchors: its code object, which is not looked
  // at, and its instruction as the interpreter keeps it.
  bool next_of_any(const char*& code, uintptr_t& instruction) {
    skip_shims();
    if (frame_ == nullptr) return false;
    leave_frame(code, instruction);
    return true;
  }
  // Never another type while the layout is right; a wrong one must not be read any further.
  bool is_code(const char* code) const;
  int64_t offset_of(const char* code, uintptr_t instruction) const;

 private:
  bool is_shim(const char* frame) const {
    return runtime_.layout.entry == PythonLayout::Entry::Shim &&
           load_field<uint8_t>(frame, runtime_.layout.frame_entry) == kPythonOwnedByCStack;
  }
  void skip_shims() {
    while (frame_ != nullptr && is_shim(frame_)) {
      frame_ = load_field<const char*>(frame_, runtime_.layout.frame_previous);
    }
  }
  void leave_frame(const char*& code, uintptr_t& instruction) {
    const PythonLayout& layout = runtime_.layout;
    code = load_field<const char*>(frame_, layout.frame_code);
    instruction =
        layout.instruction_is_index
            ? static_cast<uintptr_t>(load_field<int32_t>(frame_, layout.frame_instruction))
            : load_field<uintptr_t>(frame_, layout.frame_instruction);
    frame_ = load_field<const char*>(frame_, layout.frame_previous);
  }

  const PythonRuntime& runtime_;
  const char* frame_ = nullptr;
  const char* cframe_ = nullptr;
  bool is_run_over_ = false;
};

}  // namespace gpufl::symbols
