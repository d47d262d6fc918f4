// SPDX-License-Identifier: Apache-2.0
#include "format/verify.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <unordered_set>

#include "base/hash.hpp"
#include "format/dictionary.hpp"
#include "format/manifest.hpp"
#include "format/module_files.hpp"
#include "format/session_files.hpp"
#include "format/verify_beside.hpp"

namespace gpufl::format {
namespace {

using base::Json;

base::Result<std::string> hash_file(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return base::Status::from_errno(errno, "cannot open it");
  base::Xxh64 hash;
  std::vector<char> buffer(size_t{1} << 18);
  ssize_t n = 0;
  while ((n = ::read(fd, buffer.data(), buffer.size())) > 0) {
    hash.update(buffer.data(), static_cast<size_t>(n));
  }
  const int error = errno;
  ::close(fd);
  if (n < 0) return base::Status::from_errno(error, "cannot read it");
  return base::xxh64_text(hash.digest());
}

std::string count_text(uint64_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

// "its ledger tells of losses: markers_dropped 3, spool_full 200"
std::string losses_text(const Ledger& ledger) {
  std::map<std::string, uint64_t> losses = ledger.losses();
  if (ledger.launches_missing.value_or(0) == 0 && ledger.launches_without_record() > 0) {
    losses["launches without record"] = ledger.launches_without_record();
  }
  std::string text;
  for (const auto& [name, count] : losses) {
    text.append(text.empty() ? "" : ", ").append(name).append(" ").append(std::to_string(count));
  }
  return "its ledger lists losses: " + text;
}

class VerifyPass final : public Visitor {
 public:
  explicit VerifyPass(VerifyResult& result) : result_(result) {}

  void on_problem(const Problem& problem) override {
    // Its writer is not done with it.
    if (problem.kind == Problem::Kind::TornLine && result_.live && is_live_window_) return;
    result_.problems[std::string(to_string(problem.kind))] += 1;
    if (!is_growth(problem)) ++faults_;
    if (result_.first_problems.size() < kMaxListedProblems) {
      result_.first_problems.push_back(problem);
    }
  }

  void on_window(const WindowFile& window) override;
  void on_window_end(const WindowFile& window, uint64_t lines) override;
  void on_batch(const Batch& batch, const Dictionaries& dictionaries) override;
  void on_object(Kind kind, const Json& line) override;

  // Before the windows are read.
  void begin();
  void finish();

 private:
  void problem(Problem::Kind kind, uint64_t at_line, std::string text) {
    on_problem({kind, file_, at_line, std::move(text)});
  }
  void check_ids(const Batch& batch, size_t column, const Dictionaries& dictionaries);
  void check_times(const Batch& batch, size_t column);
  void check_definitions(const Json& line);
  void note_native_frames(const Json& line);
  void check_session_line(const Json& line);
  void check_modules();
  void check_files_beside();
  void compare_with_ledger();

  VerifyResult& result_;
  uint64_t faults_ = 0;
  std::string file_;
  const WindowFile* window_ = nullptr;
  bool is_live_window_ = false;
  Json session_line_;              // what that of every window is to be
  std::string session_line_file_;  // where it stands
  uint64_t window_rows_ = 0;
  int64_t window_last_ns_ = 0;
  std::array<std::unordered_set<int64_t>, kDictCount> defined_;
  std::vector<std::pair<std::string, int64_t>> last_times_;  // by file
  std::optional<int64_t> end_ns_;
  std::set<std::string> modules_;              // files that lines tell of
  std::unordered_set<int64_t> native_frames_;  // ids, of all windows
};

// Every reader takes the manifest's session line for the session's.
void VerifyPass::begin() {
  const Manifest manifest = read_manifest(result_.dir / kManifestName);
  file_ = kManifestName;
  if (manifest.status.code() == base::Code::NotFound) return;  // told by the scan
  if (!manifest.session_line) {
    return problem(Problem::Kind::BadLine, 0, "it has no session line");
  }
  const auto header = SessionHeader::from_json(*manifest.session_line);
  if (!header) return problem(Problem::Kind::BadLine, 0, header.status().message());
  session_line_ = header->to_json();
  session_line_file_ = file_;
}

// The reader has checked that it is one, and of this session.
void VerifyPass::check_session_line(const Json& object) {
  if (object["channel"].as_string() != to_string(window_->channel) ||
      object["window"].as_integer(0) != static_cast<int64_t>(window_->number)) {
    problem(Problem::Kind::BadLine, 1,
            "its session line says that it is window " + object["window"].dump() + " of " +
                object["channel"].dump());
  }
  // Only what this version knows of it: a newer one may say more in some files.
  const auto header = SessionHeader::from_json(object);
  if (!header) return;
  const Json here = header->to_json();
  if (session_line_.is_null()) {
    session_line_ = here;
    session_line_file_ = file_;
    return;
  }
  std::set<std::string> names;
  for (const auto& [name, value] : session_line_.members()) names.insert(name);
  for (const auto& [name, value] : here.members()) names.insert(name);
  const auto text_of = [](const Json* value) { return value ? value->dump() : "absent"; };
  for (const std::string& name : names) {
    const std::string told_text = text_of(session_line_.find(name));
    const std::string here_text = text_of(here.find(name));
    if (told_text == here_text) continue;
    return problem(Problem::Kind::BadLine, 1,
                   name + " of its session line is " + here_text + ", in " + session_line_file_ +
                       " " + told_text);
  }
}

void VerifyPass::on_window(const WindowFile& window) {
  file_ = window.path.filename().string();
  window_ = &window;
  is_live_window_ = window.state == WindowFile::State::Live;
  window_rows_ = 0;
  window_last_ns_ = 0;
  for (auto& ids : defined_) ids.clear();
  switch (window.state) {
    case WindowFile::State::Sealed: ++result_.windows.sealed; break;
    case WindowFile::State::Unsealed: ++result_.windows.unsealed; break;
    case WindowFile::State::Live: ++result_.windows.live; break;
    case WindowFile::State::Missing: ++result_.windows.missing; break;
    case WindowFile::State::Deleted:
      result_.windows.deleted += window.last_number - window.number + 1;
      result_.rows_deleted += window.rows;
      break;
  }
  if (window.state != WindowFile::State::Sealed || !window.in_manifest) return;
  const auto hash = hash_file(window.path);
  if (!hash) {
    problem(Problem::Kind::Unreadable, 0, hash.status().message());
  } else if (*hash != window.hash) {
    problem(Problem::Kind::HashMismatch, 0, "its bytes do not match the manifest");
  }
}

void VerifyPass::on_window_end(const WindowFile& window, uint64_t lines) {
  last_times_.emplace_back(file_, window_last_ns_);
  result_.last_ns = std::max(result_.last_ns, window_last_ns_);
  if (window.state != WindowFile::State::Sealed || !window.in_manifest) return;
  if (lines != window.lines || window_rows_ != window.rows) {
    problem(Problem::Kind::ManifestMismatch, 0,
            "the manifest lists " + count_text(window.lines, "line") + " and " +
                count_text(window.rows, "row") + ", it has " + std::to_string(lines) + " and " +
                std::to_string(window_rows_));
  }
}

void VerifyPass::on_batch(const Batch& batch, const Dictionaries& dictionaries) {
  result_.rows[std::string(batch.kind_spec().name)] += batch.rows();
  window_rows_ += batch.rows();
  const auto& columns = batch.kind_spec().columns;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!batch.has(i)) continue;
    switch (columns[i].type) {
      case ColumnType::DictId: check_ids(batch, i, dictionaries); break;
      case ColumnType::Time:
      case ColumnType::Duration: check_times(batch, i); break;
      case ColumnType::Integer:
      case ColumnType::Id64: break;
    }
  }
}

void VerifyPass::check_ids(const Batch& batch, size_t column, const Dictionaries& dictionaries) {
  const ColumnSpec& spec = batch.kind_spec().columns[column];
  uint64_t unknown = 0;
  int64_t first_unknown = 0;
  int64_t last_good = spec.required ? -1 : 0;  // 0 means "none", where there may be none
  for (const int64_t id : batch.column(column)) {
    if (id == last_good) continue;
    if ((id == 0 && !spec.required) || dictionaries.find(spec.dict, id) != nullptr) {
      last_good = id;
    } else if (unknown++ == 0) {
      first_unknown = id;
    }
  }
  if (unknown > 0) {
    problem(Problem::Kind::UnknownId, line,
            std::string(spec.name) + ": " + count_text(unknown, "row") + " with an undefined id, " +
                "the first " + std::to_string(first_unknown));
  }
}

void VerifyPass::check_times(const Batch& batch, size_t column) {
  const KindSpec& kind = batch.kind_spec();
  const ColumnSpec& spec = kind.columns[column];
  const std::vector<int64_t>& times = batch.column(column);
  const int64_t lowest = spec.required ? 0 : -1;  // -1: unknown
  const int64_t smallest = *std::min_element(times.begin(), times.end());
  if (smallest < lowest) {
    problem(Problem::Kind::TimeOutOfRange, line,
            std::string(spec.name) + ": " + std::to_string(smallest) + " ns");
  }
  if (spec.type != ColumnType::Time) return;
  const size_t duration = duration_of(kind, column);
  int64_t last = 0;
  if (duration != kNoColumn && batch.has(duration)) {
    const std::vector<int64_t>& durations = batch.column(duration);
    for (size_t row = 0; row < times.size(); ++row) {
      int64_t end = 0;
      if (__builtin_add_overflow(times[row], durations[row], &end)) end = INT64_MAX;
      last = std::max(last, end);
    }
  } else {
    last = *std::max_element(times.begin(), times.end());
  }
  window_last_ns_ = std::max(window_last_ns_, last);
}

void VerifyPass::on_object(Kind kind, const Json& object) {
  if (kind == Kind::Dict) return check_definitions(object);
  if (kind == Kind::Session) return check_session_line(object);
  if (const Json* time = object.find("time")) {
    if (!time->is_integer() || time->as_integer() < 0) {
      problem(Problem::Kind::TimeOutOfRange, line, "time: " + time->dump());
    }
    window_last_ns_ = std::max(window_last_ns_, time->as_integer());
  }
  result_.rows[std::string(spec(kind).name)] += 1;
  if (kind == Kind::Module) {
    if (const Json* hash = object.find("hash")) {
      modules_.insert(module_file_name(hash->as_string()));
    }
  }
  if (kind == Kind::Ledger) result_.ledger = Ledger::from_json(object);
  if (kind == Kind::End) {
    result_.ended = true;
    end_ns_ = object["time"].as_integer();
  }
}

void VerifyPass::check_definitions(const Json& object) {
  for (size_t i = 1; i < kDictCount; ++i) {
    const auto dict = static_cast<Dict>(i);
    if (to_string(dict) != object["dict"].as_string()) continue;
    for (const Json& id : object["ids"].items()) defined_[i].insert(id.as_integer());
    if (!holds_objects(dict)) return;
    if (dict == Dict::Frame) note_native_frames(object);
    for (const Json& value : object["values"].items()) {
      for (const DictReference& reference : references_of(dict, value)) {
        if (defined_[static_cast<size_t>(reference.dict)].contains(reference.id)) continue;
        problem(Problem::Kind::UnknownId, line,
                std::string(to_string(dict)) + " refers to " +
                    std::string(to_string(reference.dict)) + " " + std::to_string(reference.id) +
                    ", which is not defined");
      }
    }
    return;
  }
}

void VerifyPass::note_native_frames(const Json& object) {
  const auto& ids = object["ids"].items();
  const auto& values = object["values"].items();
  for (size_t i = 0; i < std::min(ids.size(), values.size()); ++i) {
    if (values[i]["module"].as_integer() != 0) native_frames_.insert(ids[i].as_integer());
  }
}

// A file without a line is no problem: a crash may come between the two.
void VerifyPass::check_modules() {
  for (const std::string& name : modules_) {
    file_ = std::string(kModuleFolder) + "/" + name;
    const base::Status status = check_module(result_.dir / kModuleFolder / name);
    if (status.code() == base::Code::Corrupt) {
      problem(Problem::Kind::HashMismatch, 0, "its content does not match the hash in its name");
    } else if (!status) {
      problem(Problem::Kind::Unreadable, 0, status.message());
    }
  }
}

void VerifyPass::check_files_beside() {
  const bool is_whole = result_.windows.deleted + result_.windows.missing == 0;
  const auto report = [this](const Problem& problem) { on_problem(problem); };
  result_.native_frames = native_frames_.size();
  result_.named_frames = check_symbols(result_.dir, result_.header->session_id,
                                       is_whole ? &native_frames_ : nullptr, report);
  check_disassembly(result_.dir, result_.header->session_id, report);
}

void VerifyPass::finish() {
  is_live_window_ = false;
  check_modules();
  check_files_beside();
  if (end_ns_) {
    for (const auto& [file, last_ns] : last_times_) {
      if (last_ns <= *end_ns_) continue;
      file_ = file;
      problem(Problem::Kind::TimeOutOfRange, 0,
              "something ends at " + std::to_string(last_ns) + " ns, the session at " +
                  std::to_string(*end_ns_) + " ns");
    }
  }
  auto& reasons = result_.reasons;
  if (!result_.live) {
    if (!result_.ended) reasons.push_back("it was cut off: " + std::string(kUnclosed));
    if (result_.ended && !result_.ledger) reasons.push_back("it has no ledger");
  }
  const Completeness told =
      result_.ledger ? result_.ledger->completeness() : Completeness::Complete;
  if (told == Completeness::Incomplete) reasons.push_back(losses_text(*result_.ledger));
  if (result_.windows.deleted > 0) {
    reasons.push_back(count_text(result_.windows.deleted, "window") + " with " +
                      count_text(result_.rows_deleted, "row") + " deleted to stay within limits");
  }
  if (result_.ledger) compare_with_ledger();
  if (faults_ > 0) reasons.push_back(count_text(faults_, "problem") + " found while reading");
  result_.verdict = !reasons.empty() ? Verdict::Losses
                    : result_.live   ? Verdict::Live
                                     : Verdict::Complete;
  if (result_.live) reasons.emplace_back("it is still being written");
  if (told == Completeness::NotProven) {
    if (reasons.empty()) result_.verdict = Verdict::NotProven;
    if (result_.ledger->lacks_launch_count()) {
      reasons.emplace_back(
          "launches were not counted, so it is not proven that every kernel has "
          "its record");
    }
    if (result_.ledger->uncounted.contains("full_warp_lanes")) {
      reasons.emplace_back(
          "lanes of warpscope are full and did not count what did not fit, so it is not proven "
          "that they are complete");
    }
  }
}

void VerifyPass::compare_with_ledger() {
  const auto differ = [this](const std::string& what, uint64_t told, uint64_t read) {
    result_.reasons.push_back("the ledger lists " + std::to_string(told) + " " + what +
                              " rows, but " + std::to_string(read) + " were read");
  };
  uint64_t told_total = 0, read_total = 0;
  for (size_t i = 0; i < kKindCount; ++i) {
    const KindSpec& kind = spec(static_cast<Kind>(i));
    const std::string name(kind.name);
    const auto told = result_.ledger->writer.rows.find(name);
    const auto read = result_.rows.find(name);
    const uint64_t told_rows = told != result_.ledger->writer.rows.end() ? told->second : 0;
    const uint64_t read_rows = read != result_.rows.end() ? read->second : 0;
    if (kind.is_batch()) {
      told_total += told_rows;
      read_total += read_rows;
    }
    // Which kinds a deleted window held is not known any more: then only the sum can be checked.
    const bool differs = kind.is_batch() ? read_rows != told_rows : read_rows < told_rows;
    if (result_.windows.deleted == 0 && differs) differ(name, told_rows, read_rows);
  }
  if (result_.windows.deleted > 0 && told_total != read_total + result_.rows_deleted) {
    differ("remaining", told_total - std::min(told_total, result_.rows_deleted), read_total);
  }
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Complete: return "complete";
    case Verdict::NotProven: return "not proven";
    case Verdict::Live: return "live";
    case Verdict::Losses: return "losses";
    case Verdict::Unreadable: return "unreadable";
  }
  return "?";
}

namespace {

VerifyResult verify_as_found(const std::filesystem::path& session_dir) {
  VerifyResult result;
  result.dir = session_dir;
  const auto reader = SessionReader::open(session_dir);
  if (!reader) {
    result.status = reader.status();
    result.reasons.push_back(reader.status().message());
    return result;
  }
  result.header = reader->header();
  result.live = reader->is_live();
  VerifyPass pass(result);
  pass.begin();
  for (const Problem& problem : reader->open_problems()) pass.on_problem(problem);
  reader->read(pass);
  pass.finish();
  return result;
}

}  // namespace

VerifyResult verify_session(const std::filesystem::path& session_dir) {
  VerifyResult result = verify_as_found(session_dir);
  // What was read of a session that ended meanwhile is neither the live one nor the ended one.
  if (result.live && !is_locked(session_dir)) return verify_as_found(session_dir);
  return result;
}

Json VerifyResult::to_json() const {
  Json out = Json::object();
  out.set("path", dir.string()).set("verdict", to_string(verdict));
  Json why = Json::array();
  for (const std::string& reason : reasons) why.push(reason);
  out.set("reasons", std::move(why));
  if (header) out.set("session", header->to_json());
  out.set("live", live).set("ended", ended);
  Json files = Json::object();
  files.set("sealed", windows.sealed).set("unsealed", windows.unsealed);
  files.set("live", windows.live).set("missing", windows.missing);
  files.set("deleted", windows.deleted);
  out.set("windows", std::move(files));
  Json read_rows = Json::object();
  for (const auto& [kind, count] : rows) read_rows.set(kind, count);
  out.set("rows", std::move(read_rows)).set("rows_deleted", rows_deleted);
  out.set("last_ns", last_ns).set("native_frames", native_frames);
  if (named_frames) out.set("named_frames", *named_frames);
  if (ledger) out.set("ledger", ledger->to_json());
  Json counts = Json::object();
  for (const auto& [kind, count] : problems) counts.set(kind, count);
  out.set("problem_counts", std::move(counts));
  Json list = Json::array();
  for (const Problem& problem : first_problems) {
    Json item = Json::object();
    item.set("kind", to_string(problem.kind)).set("file", problem.file);
    if (problem.line > 0) item.set("line", problem.line);
    item.set("text", problem.text);
    list.push(std::move(item));
  }
  out.set("problems", std::move(list));
  return out;
}

}  // namespace gpufl::format
