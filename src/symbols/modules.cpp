// SPDX-License-Identifier: Apache-2.0
#include "symbols/modules.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "symbols/address.hpp"

namespace gpufl::symbols {

namespace {

// glibc's struct dl_find_object, which headers before 2.35 lack; the rest of it is reserved.
struct FoundObject {
  unsigned long long flags;
  void* map_begin;
  void* map_end;
  link_map* link;
  void* eh_frame_hdr;
  unsigned long long reserved[16];
};
// A program that loads and unloads for ever: modules beyond this are not told of.
constexpr size_t kMaxModules = 16'384;

using FindObject = int (*)(void*, FoundObject*);

FindObject find_object() {
  static const auto function = reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
  return function;
}

CodeModule code_module(const dl_phdr_info& info) {
  CodeModule module{UINTPTR_MAX, 0, 0};
  for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    const uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD) {
      module.begin = std::min(module.begin, begin);
      module.end = std::max(module.end, begin + header.p_memsz);
    } else if (header.p_type == PT_GNU_EH_FRAME) {
      module.eh_frame_hdr = begin;
    }
  }
  return module;
}

struct Search {
  uintptr_t address;
  CodeModule found;
};

int visit_for_address(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  const CodeModule module = code_module(*info);
  if (!module.contains(search->address)) return 0;
  search->found = module;
  return 1;
}

std::string hex(const unsigned char* bytes, size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

std::string build_id_in_notes(const char* at, size_t size) {
  const auto aligned = [](size_t n) { return (n + 3) & ~size_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof(note));
    const size_t name = sizeof(note), text = name + aligned(note.n_namesz),
                 next = text + aligned(note.n_descsz);
    if (next > size) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(at + name, "GNU", 4) == 0) {
      return hex(reinterpret_cast<const unsigned char*>(at + text), note.n_descsz);
    }
    at += next;
    size -= next;
  }
  return {};
}

std::string build_id(const dl_phdr_info& info) {
  for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    if (header.p_type != PT_NOTE) continue;
    const auto* notes = at_address(info.dlpi_addr + header.p_vaddr);
    std::string id = build_id_in_notes(notes, header.p_memsz);
    if (!id.empty()) return id;
  }
  return {};
}

std::string program_path() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : std::string();
}

int visit_for_modules(dl_phdr_info* info, size_t, void* data) {
  auto* modules = static_cast<std::vector<Module>*>(data);
  const CodeModule code = code_module(*info);
  if (code.end == 0) return 0;
  const bool is_program = modules->empty();  // the loader lists it first, without a name
  std::string path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  if (path.empty()) path = is_program ? program_path() : "[vdso]";
  modules->push_back(
      {std::move(path), build_id(*info), info->dlpi_addr, code.begin, code.end, is_program});
  return 0;
}

int visit_for_counts(dl_phdr_info* info, size_t, void* data) {
  auto* counts = static_cast<std::pair<uint64_t, uint64_t>*>(data);
  *counts = {info->dlpi_adds, info->dlpi_subs};
  return 1;
}

bool is_same(const Module& a, const Module& b) {
  return a.begin == b.begin && a.end == b.end && a.path == b.path && a.build_id == b.build_id;
}

bool overlap(const Module& a, const Module& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

CodeModule find_code_module(uintptr_t address) noexcept {
  if (const FindObject find = find_object()) {
    FoundObject found{};
    if (find(at_address(address), &found) != 0) return {};
    return {reinterpret_cast<uintptr_t>(found.map_begin),
            reinterpret_cast<uintptr_t>(found.map_end),
            reinterpret_cast<uintptr_t>(found.eh_frame_hdr)};
  }
  return find_code_module_by_loader(address);
}

CodeModule find_code_module_by_loader(uintptr_t address) noexcept {
  Search search{address, {}};
  dl_iterate_phdr(visit_for_address, &search);
  return search.found;
}

void prepare_find_code_module() noexcept { find_object(); }

ModuleChange ModuleMap::refresh() {
  std::pair<uint64_t, uint64_t> counts;
  dl_iterate_phdr(visit_for_counts, &counts);
  if (counts == std::pair(loads_, unloads_)) return ModuleChange::None;
  const bool is_unloaded = loads_ != 0 && counts.second != unloads_;
  std::tie(loads_, unloads_) = counts;
  if (is_unloaded) ++generation_;
  scan();
  return is_unloaded ? ModuleChange::Unloaded : ModuleChange::Loaded;
}

void ModuleMap::scan() {
  std::vector<Module> now;
  dl_iterate_phdr(visit_for_modules, &now);
  for (Module& known : modules_) {
    if (known.last_generation != UINT64_MAX) continue;
    const auto same = std::find_if(now.begin(), now.end(),
                                   [&](const Module& module) { return is_same(module, known); });
    if (same == now.end()) {
      known.last_generation = generation_ - 1;
    } else {
      now.erase(same);
    }
  }
  for (Module& module : now) {
    if (modules_.size() == kMaxModules) break;
    // Loaded since the last look: stacks of the generation that ended just now may already hold
    // it, unless another module was in its place then.
    const bool is_reused = std::any_of(modules_.begin(), modules_.end(), [&](const Module& known) {
      return known.last_generation == generation_ - 1 && overlap(known, module);
    });
    module.first_generation = is_reused || generation_ == 0 ? generation_ : generation_ - 1;
    modules_.push_back(std::move(module));
  }
}

const Module* ModuleMap::find(uintptr_t address, uint64_t generation) const {
  for (auto module = modules_.rbegin(); module != modules_.rend(); ++module) {
    if (address >= module->begin && address < module->end &&
        generation >= module->first_generation && generation <= module->last_generation) {
      return &*module;
    }
  }
  return nullptr;
}

bool ModuleMap::has_python_library(std::string& path) const {
  for (const Module& module : modules_) {
    const std::string_view name = std::string_view(module.path).substr(module.path.rfind('/') + 1);
    if (module.last_generation == UINT64_MAX && name.starts_with("libpython3.")) {
      path = module.path;
      return true;
    }
  }
  return false;
}

}  // namespace gpufl::symbols
