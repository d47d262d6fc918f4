// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace gpufl::docs {
namespace {

constexpr std::string_view kEnd = "<!-- end -->\n";

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", path.c_str(), why.c_str());
  std::exit(2);
}

std::string row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

}  // namespace

Page::Page(std::filesystem::path path) : path_(std::move(path)) {
  std::ifstream file(path_);
  if (!file) fail(path_, "cannot be read");
  std::stringstream text;
  text << file.rdbuf();
  before_ = text_ = text.str();
}

void Page::put(const Part& part, std::string_view level, std::string_view before) {
  const std::string begin = "<!-- made by ./dev docs: " + part.name + " -->\n";
  size_t at = text_.find(begin);
  if (at == std::string::npos) {
    const size_t next = text_.find("\n" + std::string(before) + "\n");
    if (next == std::string::npos) fail(path_, "has no line " + std::string(before));
    const std::string heading = "\n" + std::string(level) + part.name + "\n\n";
    text_.insert(next, heading + begin + std::string(kEnd));
    at = next + heading.size();
  }
  at += begin.size();
  const size_t end = text_.find(kEnd, at);
  if (end == std::string::npos) fail(path_, "the part " + part.name + " has no end");
  text_.replace(at, end - at, part.text);
}

void Page::write() const {
  std::ofstream file(path_);
  file << text_;
  if (!file.flush()) fail(path_, "cannot be written");
}

std::string table(const std::vector<std::string>& heading,
                  const std::vector<std::vector<std::string>>& rows) {
  std::string text = row(heading) + "|";
  for (size_t i = 0; i < heading.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& cells : rows) text += row(cells);
  return text;
}

std::string paragraph(std::string_view text) {
  constexpr size_t kWidth = 100;
  std::string out;
  size_t used = 0;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (used > 0) out += used + 1 + word.size() > kWidth ? '\n' : ' ';
    if (!out.empty() && out.back() == '\n') used = 0;
    used += (used > 0 ? 1 : 0) + word.size();
    out += word;
  }
  return out + "\n";
}

}  // namespace gpufl::docs
