// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "symbols/unwind_cfi.hpp"

// The files of code that are mapped into this process: which one an address lies in, now and, for
// addresses that were recorded before a dlclose(), then.
namespace gpufl::symbols {

// Any thread. Takes no lock where glibc has _dl_find_object (2.35), else the loader's for a moment.
// An empty range: no module is mapped there.
CodeModule find_code_module(uintptr_t address) noexcept;
// The second way, for tests.
CodeModule find_code_module_by_loader(uintptr_t address) noexcept;
// Looks up what find_code_module() needs, so that its first call does not.
void prepare_find_code_module() noexcept;

struct Module {
  std::string path;      // "[vdso]": code that the kernel maps
  std::string build_id;  // hex; empty: it has none
  uintptr_t bias = 0;    // what the loader added to the file's own addresses
  uintptr_t begin = 0, end = 0;
  bool is_program = false;
  // Generations in which it was there; it counts up when something was unloaded.
  uint64_t first_generation = 0, last_generation = UINT64_MAX;
};

enum class ModuleChange : uint8_t {
  None,
  Loaded,
  Unloaded,  // addresses may mean something else from here on: the generation is another
};

// One thread at a time.
class ModuleMap {
 public:
  // Compares with what the loader has now. Cheap where nothing has changed.
  ModuleChange refresh();
  uint64_t generation() const { return generation_; }
  // Null: unknown, or not there in that generation. What it points to stays.
  const Module* find(uintptr_t address, uint64_t generation) const;
  bool has_python_library(std::string& path) const;

 private:
  void scan();

  std::deque<Module> modules_;
  uint64_t generation_ = 0;
  uint64_t loads_ = 0, unloads_ = 0;
};

}  // namespace gpufl::symbols
