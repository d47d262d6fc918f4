// SPDX-License-Identifier: Apache-2.0
#include "import/file_type.hpp"

#include <fstream>
#include <string>
#include <string_view>

namespace gpufl::importing {

FileType file_type(const std::filesystem::path& path) {
  constexpr std::string_view kSqlite = "SQLite format 3";
  char head[64] = {};
  std::ifstream file(path, std::ios::binary);
  file.read(head, sizeof head);
  const std::string_view text(head, static_cast<size_t>(file.gcount()));
  if (text.starts_with(kSqlite)) return FileType::Sqlite;
  if (text.starts_with("\x1f\x8b")) return FileType::Json;
  const size_t first = text.find_first_not_of(" \t\r\n");
  const std::string extension = path.extension().string();
  if (first != std::string_view::npos && text[first] == '{') return FileType::Json;
  if (extension == ".nsys-rep" || extension == ".qdrep" || extension == ".qdstrm") {
    return FileType::NsightReport;
  }
  if (extension == ".json" || extension == ".gz") return FileType::Json;
  return FileType::Unknown;
}

}  // namespace gpufl::importing
