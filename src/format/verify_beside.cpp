// SPDX-License-Identifier: Apache-2.0
#include "format/verify_beside.hpp"

#include <string_view>
#include <utility>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "format/limits.hpp"
#include "format/seal.hpp"
#include "format/session_files.hpp"
#include "format/session_header.hpp"

namespace gpufl::format {
namespace {

namespace fs = std::filesystem;
using base::Json;

// One file: its session line, that every other line is a whole object with a type, and, where it
// has an `end` line, that its bytes are those that were written.
class BesideFile {
 public:
  BesideFile(const char* name, const std::string& session_id, const ProblemSink& report)
      : name_(name), session_id_(session_id), report_(report) {}

  // Calls `on_line` with each line but the first. False: there is no such file.
  bool read(const fs::path& session_dir, const std::function<void(const Json&)>& on_line) {
    std::error_code error;
    if (!fs::is_regular_file(session_dir / name_, error)) return false;
    const UnsealOutcome outcome = read_window(session_dir / name_, [&](std::string_view text) {
      ++line_;
      const uint64_t before = hash_.digest();
      hash_.update(text.data(), text.size());
      hash_.update("\n", 1);
      const auto line = Json::parse(text, kMaxObjectLineBytes);
      if (!line || (*line)["type"].as_string().empty()) {
        problem(Problem::Kind::BadLine, line ? "it has no type" : line.status().message());
        return line_ > 1;
      }
      if (line_ == 1) return is_own_ = is_own_session_line(*line);
      if ((*line)["type"].as_string() == "end") {
        if ((*line)["hash"].as_string() != base::xxh64_text(before)) {
          problem(Problem::Kind::BadLine, "the lines before it are not those that were written");
        }
        return true;
      }
      on_line(*line);
      return true;
    });
    if (line_ == 0 && !outcome.torn && outcome.status) {
      problem(Problem::Kind::BadLine, "it is empty");
    }
    if (line_ > 0 && !is_own_) return true;
    if (outcome.torn) problem(Problem::Kind::TornLine, "the last line is torn");
    line_ = 0;
    if (!outcome.status) problem(Problem::Kind::Unreadable, outcome.status.message());
    return true;
  }

  void problem(Problem::Kind kind, std::string text) const {
    report_({kind, name_, line_, std::move(text)});
  }

 private:
  bool is_own_session_line(const Json& line) const {
    const auto header = SessionHeader::from_json(line);
    if (!header) {
      problem(Problem::Kind::BadLine, header.status().message());
    } else if (header->session_id != session_id_) {
      problem(Problem::Kind::BadLine, "it is a file of session " + header->session_id);
    } else {
      return true;
    }
    return false;
  }

  std::string name_;
  const std::string& session_id_;
  const ProblemSink& report_;
  uint64_t line_ = 0;    // 0: the whole file
  bool is_own_ = false;  // it is of this session
  base::Xxh64 hash_;     // of its lines so far
};

}  // namespace

std::optional<uint64_t> check_symbols(const fs::path& session_dir, const std::string& session_id,
                                      const std::unordered_set<int64_t>* native_frames,
                                      const ProblemSink& report) {
  BesideFile file(kSymbolFileName, session_id, report);
  std::unordered_set<int64_t> named;
  uint64_t told = 0;  // by `binary` lines
  const bool is_there = file.read(session_dir, [&](const Json& line) {
    const std::string& type = line["type"].as_string();
    if (type == "binary") told += static_cast<uint64_t>(line["resolved"].as_integer());
    if (type != "symbol") return;
    const int64_t frame = line["frame"].as_integer();
    if (line["functions"].items().empty()) {
      file.problem(Problem::Kind::BadLine, "a symbol without a function");
    }
    if (!named.insert(frame).second) {
      file.problem(Problem::Kind::BadLine, "a second symbol of frame " + std::to_string(frame));
    }
    if (native_frames != nullptr && !native_frames->contains(frame)) {
      file.problem(Problem::Kind::UnknownId,
                   "frame " + std::to_string(frame) + " is not a native frame of the log");
    }
  });
  if (!is_there) return std::nullopt;
  if (named.size() != told) {
    file.problem(Problem::Kind::BadLine, "its binary lines count " + std::to_string(told) +
                                             " symbols, it has " + std::to_string(named.size()));
  }
  return named.size();
}

void check_disassembly(const fs::path& session_dir, const std::string& session_id,
                       const ProblemSink& report) {
  BesideFile(kDisassemblyFileName, session_id, report).read(session_dir, [](const Json&) {});
}

}  // namespace gpufl::format
