// SPDX-License-Identifier: Apache-2.0
#include "base/dynamic_library.hpp"

#include <dlfcn.h>
#include <link.h>

namespace gpufl::base {
namespace {

std::string loader_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "unknown loader error";
}

// The loader has no error codes: a missing file is told from a broken one by its words.
bool says_not_found(const std::string& error) {
  return error.find("No such file or directory") != std::string::npos;
}

}  // namespace

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(name_, other.name_);
  return *this;
}

Result<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string>& names) {
  Code code = Code::NotFound;
  std::string errors;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
      return DynamicLibrary(handle, name);
    }
    const std::string error = loader_error();
    if (!says_not_found(error)) code = Code::Unavailable;
    if (!errors.empty()) errors += "; ";
    errors += error;
  }
  return Status(code, errors.empty() ? "no library name given" : errors);
}

Result<DynamicLibrary> DynamicLibrary::find_loaded(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) {
      return DynamicLibrary(handle, name);
    }
  }
  return Status(Code::NotFound, "not loaded in this process");
}

void* DynamicLibrary::address(const char* symbol) const {
  return handle_ != nullptr ? dlsym(handle_, symbol) : nullptr;
}

std::string DynamicLibrary::path() const {
  link_map* map = nullptr;
  if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return {};
  return map->l_name;
}

}  // namespace gpufl::base
