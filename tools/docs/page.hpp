// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A page of the documentation of which parts are made from the code: those between the lines
//
//   <!-- made by ./dev docs: NAME -->
//   <!-- end -->
//
// Everything else on it is people's. One thread.
namespace gpufl::docs {

struct Part {
  std::string name;
  std::string text;  // whole lines
};

// Reads, changes and writes one page. Ends the program where the page is not as it must be.
class Page {
 public:
  explicit Page(std::filesystem::path path);

  // Puts the part where the page has its lines; where it has none, in a section of that name, of
  // this level ("## "), before the line `before`.
  void put(const Part& part, std::string_view level, std::string_view before);
  // Of a page that is made as a whole.
  void replace(std::string text) { text_ = std::move(text); }

  const std::filesystem::path& path() const { return path_; }
  bool has_changed() const { return text_ != before_; }
  void write() const;

 private:
  std::filesystem::path path_;
  std::string before_, text_;
};

// "| a | b |" and so on, with the line under the heading.
std::string table(const std::vector<std::string>& heading,
                  const std::vector<std::vector<std::string>>& rows);
// In lines of at most 100 characters.
std::string paragraph(std::string_view text);

}  // namespace gpufl::docs
