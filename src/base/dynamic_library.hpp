// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"

// A shared library opened at run time. Closing gives up our reference, but the code stays mapped:
// vendor libraries leave threads and exit handlers behind. Move-only; symbol() from any thread.
namespace gpufl::base {

class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  ~DynamicLibrary();
  DynamicLibrary(DynamicLibrary&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), name_(std::move(other.name_)) {}
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;

  // The first of `names` (paths, or names for the loader's own search) that opens. When none does,
  // NotFound with the loader's words for each; Unavailable when one was there but did not load.
  static Result<DynamicLibrary> open(const std::vector<std::string>& names);
  // The copy that this process has loaded already; NotFound when it has none.
  static Result<DynamicLibrary> find_loaded(const std::vector<std::string>& names);

  // Null when the library has no such symbol.
  void* address(const char* symbol) const;
  template <typename Function>
  bool load(const char* symbol, Function*& out) const {
    out = reinterpret_cast<Function*>(address(symbol));
    return out != nullptr;
  }

  const std::string& name() const { return name_; }  // as it was opened
  std::string path() const;                          // the file; empty when the loader won't tell

 private:
  DynamicLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}

  void* handle_ = nullptr;
  std::string name_;
};

}  // namespace gpufl::base
