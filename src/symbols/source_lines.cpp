// SPDX-License-Identifier: Apache-2.0
#include "symbols/source_lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace gpufl::symbols {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxFileBytes = int64_t{16} << 20;
constexpr size_t kMaxLineBytes = 1000;  // the rest of a longer one says little

constexpr std::pair<std::string_view, std::string_view> kLanguages[] = {
    {".py", "python"}, {".pyx", "python"}, {".pyi", "python"}, {".c", "c"},     {".cc", "cpp"},
    {".cpp", "cpp"},   {".cxx", "cpp"},    {".c++", "cpp"},    {".h", "cpp"},   {".hh", "cpp"},
    {".hpp", "cpp"},   {".hxx", "cpp"},    {".inl", "cpp"},    {".ipp", "cpp"}, {".tpp", "cpp"},
    {".cu", "cuda"},   {".cuh", "cuda"},   {".rs", "rust"},    {".go", "go"},   {".jl", "julia"},
    {".f", "fortran"}, {".f90", "fortran"}};

std::string_view language_of(const fs::path& file) {
  const std::string extension = file.extension().string();
  const auto* const found =
      std::find_if(std::begin(kLanguages), std::end(kLanguages),
                   [&](const auto& language) { return language.first == extension; });
  return found != std::end(kLanguages) ? found->second : std::string_view();
}

struct FileText {
  std::string text;
  int64_t modified_wall_ns = 0;
};

std::optional<FileText> read_source(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return {};
  struct stat facts{};
  FileText source;
  bool is_read = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size <= kMaxFileBytes;
  if (is_read) {
    source.modified_wall_ns = int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
    source.text.resize(static_cast<size_t>(facts.st_size));
    const ssize_t got = ::pread(fd, source.text.data(), source.text.size(), 0);
    is_read = got >= 0;
    source.text.resize(is_read ? static_cast<size_t>(got) : 0);
  }
  ::close(fd);
  if (!is_read || source.text.find('\0') != std::string::npos) return {};
  return source;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line.substr(0, kMaxLineBytes));
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
  return lines;
}

bool is_below(const fs::path& file, const fs::path& root) {
  const fs::path normal = root.lexically_normal();
  const auto [at, in] = std::mismatch(normal.begin(), normal.end(), file.begin(), file.end());
  // A root written with a slash at its end has an empty last part.
  return at == normal.end() || (at->empty() && std::next(at) == normal.end());
}

}  // namespace

void SourceLines::want(const std::string& file, int64_t line) {
  if (options_.enabled && !file.empty() && line > 0) wanted_[file].insert(line);
}

fs::path SourceLines::find(const std::string& file) const {
  const fs::path path(file);
  std::error_code error;
  if (fs::is_regular_file(path, error)) return file;
  for (const fs::path& root : options_.roots) {
    // The longest end of the path that is there: "/home/me/model/train.py" below a checkout of
    // model, or of train.py alone.
    const fs::path relative = path.relative_path();
    for (auto part = relative.begin(); part != relative.end(); ++part) {
      fs::path candidate = root;
      for (auto rest = part; rest != relative.end(); ++rest) candidate /= *rest;
      if (fs::is_regular_file(candidate, error)) return candidate;
    }
  }
  return {};
}

bool SourceLines::is_excluded(const fs::path& file) const {
  const fs::path normal = file.lexically_normal();
  return std::any_of(options_.excluded_roots.begin(), options_.excluded_roots.end(),
                     [&](const fs::path& root) { return is_below(normal, root); });
}

bool SourceLines::take(const std::set<int64_t>& wanted, SourceText pattern,
                       const std::vector<std::string_view>& lines, Outcome& outcome) const {
  const auto count = static_cast<int64_t>(lines.size());
  int64_t done = 0;  // the last line that was taken
  for (const int64_t line : wanted) {
    if (line > count) continue;  // another text than the one that ran
    const int64_t first = std::max(line - options_.context_lines, done + 1);
    const int64_t last = std::min(line + options_.context_lines, count);
    if (first > last) continue;
    uint64_t bytes = 0;
    for (int64_t i = first; i <= last; ++i) bytes += lines[static_cast<size_t>(i - 1)].size() + 1;
    if (outcome.bytes + bytes > options_.max_bytes) return false;
    outcome.bytes += bytes;
    if (done == 0 || first != done + 1) {
      pattern.first_line = first;
      outcome.sources.push_back(pattern);
    }
    for (int64_t i = first; i <= last; ++i) {
      outcome.sources.back().lines.emplace_back(lines[static_cast<size_t>(i - 1)]);
    }
    done = last;
  }
  return true;
}

SourceLines::Outcome SourceLines::collect() const {
  Outcome outcome;
  for (const auto& [file, wanted] : wanted_) {
    if (is_excluded(file)) {
      ++outcome.excluded;
      continue;
    }
    const fs::path place = find(file);
    const std::string_view language = language_of(place);
    const auto source = language.empty() ? std::nullopt : read_source(place);
    if (!source) {
      ++outcome.missing;
      continue;
    }
    const bool is_newer =
        options_.recorded_wall_ns != 0 && source->modified_wall_ns > options_.recorded_wall_ns;
    const SourceText pattern{file, std::string(language), 1, is_newer, {}};
    if (!take(wanted, pattern, split(source->text), outcome)) ++outcome.beyond;
  }
  return outcome;
}

}  // namespace gpufl::symbols
