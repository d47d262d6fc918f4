// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "format/limits.hpp"
#include "format/seal.hpp"

namespace gpufl::symbols {
namespace {

namespace fs = std::filesystem;
using base::Json;

constexpr size_t kMaxLocations = 256;  // of one frame
constexpr size_t kFlushBytes = size_t{1} << 20;

// A member that has no value is left out.
void set_text(Json& object, std::string_view name, const std::string& text) {
  if (!text.empty()) object.set(name, text);
}

Json to_json(int64_t frame, const std::vector<CodeLocation>& locations) {
  Json functions = Json::array();
  for (const CodeLocation& place : locations) {
    Json item = Json::object();
    set_text(item, "function", place.function);
    set_text(item, "file", place.file);
    if (place.line > 0) item.set("line", place.line);
    if (place.inlined) item.set("inlined", true);
    functions.push(std::move(item));
  }
  Json line = Json::object();
  line.set("type", "symbol").set("frame", frame).set("functions", std::move(functions));
  return line;
}

std::vector<CodeLocation> locations_of(const Json& line) {
  std::vector<CodeLocation> locations;
  for (const Json& item : line["functions"].items()) {
    if (locations.size() == kMaxLocations) break;
    locations.push_back({item["function"].as_string(), item["file"].as_string(),
                         std::max<int64_t>(item["line"].as_integer(), 0),
                         item["inlined"].as_bool()});
  }
  return locations;
}

Json to_json(const BinaryNote& note) {
  Json line = Json::object();
  line.set("type", "binary").set("path", note.path);
  set_text(line, "build_id", note.build_id);
  line.set("state", note.state);
  set_text(line, "file", note.file);
  set_text(line, "debug_file", note.debug_file);
  return line.set("frames", note.frames).set("resolved", note.resolved);
}

BinaryNote binary_of(const Json& line) {
  return {line["path"].as_string(),
          line["build_id"].as_string(),
          line["state"].as_string(),
          line["file"].as_string(),
          line["debug_file"].as_string(),
          static_cast<uint64_t>(line["frames"].as_integer()),
          static_cast<uint64_t>(line["resolved"].as_integer())};
}

// Appends to a new file and takes its name at the end: a reader never sees half of it.
class Replacement {
 public:
  explicit Replacement(const fs::path& path)
      : path_(path), new_path_(path.string() + "." + std::to_string(::getpid()) + ".tmp") {
    fd_ = ::open(new_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd_ < 0) fail();
  }
  ~Replacement() {
    if (fd_ >= 0) ::close(fd_);
    if (!is_done_) ::unlink(new_path_.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void append(const Json& line) {
    const size_t before = buffer_.size();
    line.dump_to(buffer_);
    buffer_ += '\n';
    hash_.update(buffer_.data() + before, buffer_.size() - before);
    if (buffer_.size() >= kFlushBytes) flush();
  }

  base::Status finish() {
    const std::string hash = base::xxh64_text(hash_.digest());
    append(Json::object().set("type", "end").set("hash", hash));
    flush();
    if (status_.is_ok() && ::rename(new_path_.c_str(), path_.c_str()) != 0) fail();
    is_done_ = status_.is_ok();
    return status_;
  }

 private:
  void fail() { status_ = base::Status::from_errno(errno, new_path_.string()); }
  void flush() {
    std::string_view rest = buffer_;
    while (status_.is_ok() && !rest.empty()) {
      const ssize_t wrote = ::write(fd_, rest.data(), rest.size());
      if (wrote >= 0) {
        rest.remove_prefix(static_cast<size_t>(wrote));
      } else if (errno != EINTR) {
        fail();
      }
    }
    buffer_.clear();
  }

  fs::path path_, new_path_;
  int fd_ = -1;
  bool is_done_ = false;
  std::string buffer_;
  base::Xxh64 hash_;  // of everything appended
  base::Status status_;
};

}  // namespace

Json to_json(const SourceText& source) {
  Json lines = Json::array();
  for (const std::string& text : source.lines) lines.push(text);
  Json line = Json::object();
  line.set("type", "source").set("path", source.path).set("language", source.language);
  line.set("first_line", source.first_line);
  if (source.is_newer) line.set("newer", true);
  return line.set("lines", std::move(lines));
}

SourceText source_text_of(const Json& line) {
  SourceText source{line["path"].as_string(),
                    line["language"].as_string(),
                    std::max<int64_t>(line["first_line"].as_integer(1), 1),
                    line["newer"].as_bool(),
                    {}};
  for (const Json& text : line["lines"].items()) source.lines.push_back(text.as_string());
  return source;
}

base::Result<SymbolFile> SymbolFile::read(const fs::path& session_dir,
                                          const std::string& session_id) {
  const fs::path path = session_dir / kSymbolFileName;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return base::Status(base::Code::NotFound, path.string() + " does not exist");
  }
  SymbolFile file;
  bool is_its_own = false;
  const auto outcome = format::read_window(path, [&](std::string_view text) {
    if (text.size() > format::kMaxObjectLineBytes) return true;
    const auto line = Json::parse(text);
    if (!line) return true;
    const std::string& type = (*line)["type"].as_string();
    if (!is_its_own) {
      is_its_own = type == "session" && (*line)["session_id"].as_string() == session_id;
      file.incomplete = (*line)["incomplete"].as_string();
      return is_its_own;
    }
    if (type == "symbol") {
      file.frames.insert_or_assign((*line)["frame"].as_integer(), locations_of(*line));
    } else if (type == "binary") {
      file.binaries.push_back(binary_of(*line));
    } else if (type == "source") {
      file.sources.push_back(source_text_of(*line));
    }
    return true;
  });
  if (!is_its_own) {
    return outcome.status.is_ok() ? base::Status(base::Code::Corrupt,
                                                 path.string() + " does not belong to this session")
                                  : outcome.status;
  }
  return file;
}

base::Status SymbolFile::write(const fs::path& session_dir,
                               const format::SessionHeader& header) const {
  Replacement file(session_dir / kSymbolFileName);
  Json session = header.to_json();
  set_text(session, "incomplete", incomplete);
  file.append(session);
  for (const BinaryNote& binary : binaries) file.append(to_json(binary));
  // By id, so that the same symbols make the same file.
  const std::map<int64_t, const std::vector<CodeLocation>*> sorted = [&] {
    std::map<int64_t, const std::vector<CodeLocation>*> by_id;
    for (const auto& [id, locations] : frames) by_id.emplace(id, &locations);
    return by_id;
  }();
  for (const auto& [id, locations] : sorted) file.append(to_json(id, *locations));
  for (const SourceText& source : sources) file.append(to_json(source));
  return file.finish();
}

}  // namespace gpufl::symbols
