// SPDX-License-Identifier: Apache-2.0
#include "symbols/demangle.hpp"

// libiberty.h declares a basename() of its own, against the C library's, unless told of that one.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>

#include <functional>
#include <mutex>
#include <unordered_map>

#include "format/limits.hpp"

// libiberty and not abi::__cxa_demangle: that one refuses names of more than 1024 bytes, which
// kernels of template libraries often have.
namespace gpufl::symbols {
namespace {

// libiberty keeps some 80 bytes of stack for each byte of a name, and recurses as deep as it nests.
constexpr size_t kShortNameBytes = 1024;
constexpr size_t kLongNameStackBytes = size_t{256} << 20;  // address space, not memory
constexpr size_t kMaxCachedNames = 65'536;

struct Output {
  std::string text;
  jmp_buf give_up;
};

// There is no other way out of libiberty; what it holds meanwhile is on its stack.
void append_piece(const char* piece, size_t size, void* context) {
  auto& output = *static_cast<Output*>(context);
  if (output.text.size() + size > kMaxDemangledBytes) longjmp(output.give_up, 1);
  output.text.append(piece, size);
}

bool demangle_here(const char* name, Output& output) {
  constexpr int kOptions = DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT;
  // NOLINTNEXTLINE(modernize-avoid-setjmp-longjmp, cert-err52-cpp)
  if (setjmp(output.give_up) != 0) return false;
  // Rust first: its older names are C++ names as well, with a hash at their end.
  if (rust_demangle_callback(name, kOptions, append_piece, &output) != 0) return true;
  output.text.clear();
  return cplus_demangle_v3_callback(name, kOptions, append_piece, &output) != 0;
}

struct LongName {
  const char* name;
  Output& output;
  bool done = false;
};

void* demangle_long_name(void* context) {
  auto& task = *static_cast<LongName*>(context);
  task.done = demangle_here(task.name, task.output);
  return nullptr;
}

bool demangle_on_a_large_stack(const char* name, Output& output) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread;
  LongName task{name, output};
  const bool started = pthread_attr_setstacksize(&attributes, kLongNameStackBytes) == 0 &&
                       pthread_create(&thread, &attributes, demangle_long_name, &task) == 0;
  pthread_attr_destroy(&attributes);
  return started && pthread_join(thread, nullptr) == 0 && task.done;
}

std::string demangle_anew(std::string_view name) {
  std::string terminated(name);
  Output output;
  const bool done = name.size() <= kShortNameBytes
                        ? demangle_here(terminated.c_str(), output)
                        : demangle_on_a_large_stack(terminated.c_str(), output);
  if (!done || output.text.empty()) return terminated;
  return std::move(output.text);
}

// A log names the same few thousand functions over and over.
class Cache {
 public:
  std::string get(std::string_view name) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = names_.find(name);
      if (found != names_.end()) return found->second;
    }
    std::string text = demangle_anew(name);
    const std::lock_guard lock(mutex_);
    if (names_.size() >= kMaxCachedNames) names_.clear();
    names_.emplace(name, text);
    return text;
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::mutex mutex_;
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> names_;
};

}  // namespace

std::string demangle(std::string_view name) {
  if (!name.starts_with("_Z") && !name.starts_with("_R")) return std::string(name);
  if (name.size() > format::kMaxValueBytes || name.find('\0') != std::string_view::npos) {
    return std::string(name);
  }
  static Cache* const cache = new Cache;  // never destroyed: exit handlers may still ask
  return cache->get(name);
}

}  // namespace gpufl::symbols
