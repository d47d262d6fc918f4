// SPDX-License-Identifier: Apache-2.0
#include "disassembly/inductor_origin.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>

namespace gpufl::disassembly {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 20'000;
constexpr uint64_t kMaxFileBytes = uint64_t{8} << 20;
constexpr uint64_t kMaxBytes = uint64_t{256} << 20;
constexpr size_t kMaxPlaces = 16;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "[mul_1, inner]" behind `label`: what stands between the brackets.
std::string_view list_behind(std::string_view line, std::string_view label) {
  const size_t at = line.find(label);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + label.size());
  return line.substr(0, line.find(']'));
}

// `# File: /home/me/model.py:12 in forward, code: x = x + 1`
std::optional<OriginPlace> place_in(std::string_view line) {
  constexpr std::string_view kFile = "# File: ", kCode = ", code: ";
  const size_t at = line.find(kFile);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kFile.size());
  const size_t in = line.find(" in ");
  const std::string_view place = line.substr(0, in);
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  OriginPlace found{std::string(place.substr(0, colon)), 0, ""};
  const std::string_view number = place.substr(colon + 1);
  std::from_chars(number.data(), number.data() + number.size(), found.line);
  if (found.line <= 0) return std::nullopt;
  if (const size_t code = line.find(kCode); code != std::string_view::npos) {
    found.code = line.substr(code + kCode.size());
  }
  return found;
}

void read_comment(std::string_view line, CompiledOrigin& origin) {
  if (origin.nodes.empty()) origin.nodes = list_behind(line, "Source Nodes: [");
  if (origin.operators.empty()) origin.operators = list_behind(line, "Original ATen: [");
  auto place = place_in(line);
  if (!place || origin.places.size() == kMaxPlaces) return;
  const auto known = std::find(origin.places.begin(), origin.places.end(), *place);
  if (known == origin.places.end()) origin.places.push_back(std::move(*place));
}

std::string_view take_line(std::string_view& text) {
  const size_t newline = text.find('\n');
  const std::string_view line = text.substr(0, newline);
  text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  return line;
}

}  // namespace

std::vector<CompiledOrigin> origins_in(std::string_view text,
                                       const std::set<std::string>& kernels) {
  constexpr std::string_view kPath = "# kernel path: ";
  std::vector<CompiledOrigin> origins;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (!line.starts_with(kPath)) continue;
    // The path may be relative to where the compiler ran; the name is a hash.
    const auto kernel = std::find_if(
        kernels.begin(), kernels.end(),
        [&](const std::string& candidate) { return file_name(candidate) == file_name(line); });
    if (kernel == kernels.end()) continue;
    CompiledOrigin& origin = origins.emplace_back();
    origin.file = *kernel;
    while (text.starts_with('#') && !text.starts_with(kPath)) read_comment(take_line(text), origin);
  }
  return origins;
}

std::vector<CompiledOrigin> find_origins(const std::set<std::string>& kernels) {
  std::set<fs::path> caches;
  for (const std::string& kernel : kernels) {
    caches.insert(fs::path(kernel).parent_path().parent_path());
  }
  std::map<std::string, CompiledOrigin> found;
  size_t files = 0;
  uint64_t bytes = 0;
  for (const fs::path& cache : caches) {
    std::error_code error;
    for (fs::recursive_directory_iterator it(cache, error), end; !error && it != end;
         it.increment(error)) {
      if (it.depth() > 0) it.disable_recursion_pending();
      std::error_code unreadable;
      if (it->path().extension() != ".py" || !it->is_regular_file(unreadable)) continue;
      const uint64_t size = it->file_size(unreadable);
      if (unreadable || size > kMaxFileBytes) continue;
      bytes += size;
      if (++files > kMaxFiles || bytes > kMaxBytes) break;
      std::ifstream file(it->path(), std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      for (CompiledOrigin& origin : origins_in(text, kernels)) {
        found.try_emplace(origin.file, std::move(origin));
      }
    }
  }
  std::vector<CompiledOrigin> origins;
  for (auto& [kernel, origin] : found) origins.push_back(std::move(origin));
  return origins;
}

void withhold_text(std::vector<CompiledOrigin>& origins, const symbols::SourceLines& sources,
                   uint64_t max_bytes) {
  for (CompiledOrigin& origin : origins) {
    const bool is_excluded = sources.is_excluded(origin.file);
    for (OriginPlace& place : origin.places) {
      const uint64_t bytes = place.code.size() + 1;
      if (is_excluded || sources.is_excluded(place.file) || bytes > max_bytes) {
        place.code.clear();
      } else {
        max_bytes -= bytes;
      }
    }
  }
}

}  // namespace gpufl::disassembly
