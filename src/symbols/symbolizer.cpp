// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbolizer.hpp"

#include <system_error>
#include <utility>

#include "symbols/demangle.hpp"

namespace gpufl::symbols {
namespace {

namespace fs = std::filesystem;
using State = Symbolizer::State;

constexpr const char* kSystemDebugDir = "/usr/lib/debug";

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "<dir>/.build-id/ab/cdef01": of the file itself; with ".debug" of what was split off.
fs::path by_build_id(const fs::path& dir, const std::string& build_id) {
  return dir / ".build-id" / build_id.substr(0, 2) / build_id.substr(2);
}

void add_by_build_id(const fs::path& dir, const std::string& build_id, std::vector<fs::path>& out) {
  if (build_id.size() < 4 || !is_hex(build_id)) return;
  const fs::path place = by_build_id(dir, build_id);
  out.push_back(place);
  out.push_back(fs::path(place) += ".debug");
}

State state_of(const base::Status& status) {
  switch (status.code()) {
    case base::Code::NotFound: return State::NotFound;
    case base::Code::Corrupt: return State::NotElf;
    default: return State::Unreadable;
  }
}

// Why `file` is not the one that ran; Symbols when it is.
State judge(const ElfFile& file, const Binary& binary, const BinarySearch& search) {
  if (!binary.build_id.empty()) {
    return file.build_id() == binary.build_id ? State::Symbols : State::BuildIdMismatch;
  }
  const bool is_newer =
      search.recorded_wall_ns != 0 && file.modified_wall_ns() > search.recorded_wall_ns;
  return is_newer ? State::NewerThanRecording : State::Symbols;
}

std::vector<fs::path> places_of(const Binary& binary, const BinarySearch& search) {
  const fs::path path = binary.path;
  std::vector<fs::path> places = {path};
  for (const fs::path& dir : search.debug_dirs) {
    add_by_build_id(dir, binary.build_id, places);
    places.push_back(dir / path.relative_path());
    places.push_back(dir / path.filename());
    places.push_back(fs::path(dir / path.filename()) += ".debug");
  }
  add_by_build_id(kSystemDebugDir, binary.build_id, places);
  return places;
}

std::vector<fs::path> debug_places_of(const ElfFile& file, const Binary& binary,
                                      const std::string& link_name, const BinarySearch& search) {
  std::vector<fs::path> dirs = search.debug_dirs;
  dirs.emplace_back(kSystemDebugDir);
  std::vector<fs::path> places;
  for (const fs::path& dir : dirs) add_by_build_id(dir, file.build_id(), places);
  if (link_name.empty()) return places;
  const fs::path folder = file.path().parent_path();
  places.push_back(folder / link_name);
  places.push_back(folder / ".debug" / link_name);
  for (const fs::path& dir : dirs) {
    places.push_back(dir / fs::path(binary.path).parent_path().relative_path() / link_name);
    places.push_back(dir / link_name);
  }
  return places;
}

// The separate debug file of `file`, checked to be its own; null: there is none.
std::unique_ptr<ElfFile> open_debug_file(const LibdwApi& libdw, const ElfFile& file,
                                         const Binary& binary, const BinarySearch& search) {
  const auto link = file.debug_link();
  for (const fs::path& place :
       debug_places_of(file, binary, link ? link->name : std::string(), search)) {
    auto opened = ElfFile::open(libdw, place);
    if (!opened) continue;
    std::error_code error;
    if (fs::equivalent(place, file.path(), error)) continue;
    const bool is_its_own = file.build_id().empty() ? link && (*opened)->crc() == link->crc
                                                    : (*opened)->build_id() == file.build_id();
    if (is_its_own) return std::move(*opened);
  }
  return nullptr;
}

}  // namespace

std::string_view to_string(State state) {
  switch (state) {
    case State::DebugInfo: return "debug_info";
    case State::Symbols: return "symbols";
    case State::NoSymbols: return "no_symbols";
    case State::NotFound: return "not_found";
    case State::Unreadable: return "unreadable";
    case State::NotElf: return "not_elf";
    case State::BuildIdMismatch: return "build_id_mismatch";
    case State::NewerThanRecording: return "newer_than_recording";
  }
  return "?";
}

Symbolizer Symbolizer::open(const LibdwApi& libdw, const Binary& binary,
                            const BinarySearch& search) {
  Symbolizer symbolizer;
  bool is_refused = false;  // a file was there; why it was not used says more than "not found"
  for (const fs::path& place : places_of(binary, search)) {
    auto opened = ElfFile::open(libdw, place);
    const State state = opened ? judge(**opened, binary, search) : state_of(opened.status());
    if (state == State::Symbols) {
      symbolizer.file_ = std::move(*opened);
      break;
    }
    if (state != State::NotFound && !std::exchange(is_refused, true)) symbolizer.state_ = state;
  }
  if (symbolizer.file_ == nullptr) return symbolizer;
  symbolizer.debug_info_ = DebugInfo::open(libdw, *symbolizer.file_);
  if (symbolizer.debug_info_ == nullptr) {
    symbolizer.debug_file_ = open_debug_file(libdw, *symbolizer.file_, binary, search);
    if (symbolizer.debug_file_ != nullptr) {
      symbolizer.debug_info_ = DebugInfo::open(libdw, *symbolizer.debug_file_);
    }
  }
  if (symbolizer.debug_info_ != nullptr) {
    symbolizer.state_ = State::DebugInfo;
  } else {
    const bool has_symbols =
        symbolizer.file_->has_symbols() ||
        (symbolizer.debug_file_ != nullptr && symbolizer.debug_file_->has_symbols());
    symbolizer.state_ = has_symbols ? State::Symbols : State::NoSymbols;
  }
  return symbolizer;
}

fs::path Symbolizer::file() const { return file_ != nullptr ? file_->path() : fs::path(); }

fs::path Symbolizer::debug_file() const {
  return debug_file_ != nullptr ? debug_file_->path() : fs::path();
}

std::vector<CodeLocation> Symbolizer::resolve(uint64_t offset) {
  if (file_ == nullptr || offset == 0) return {};
  const uint64_t address = offset - 1;
  std::vector<CodeLocation> found;
  if (debug_info_ != nullptr) {
    DebugInfo::Found told = debug_info_->find(address);
    found = std::move(told.locations);
    if (told.is_named_whole) return found;
  }
  std::string symbol = debug_file_ != nullptr ? debug_file_->find_symbol(address) : std::string();
  if (symbol.empty()) symbol = file_->find_symbol(address);
  if (!symbol.empty()) {
    if (found.empty()) found.emplace_back();
    std::string text = demangle(symbol);
    if (found.back().function.empty() || text != symbol) found.back().function = std::move(text);
  }
  if (found.size() == 1 && found.front() == CodeLocation{}) found.clear();
  return found;
}

}  // namespace gpufl::symbols
