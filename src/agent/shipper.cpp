// SPDX-License-Identifier: Apache-2.0
#include "agent/shipper.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "format/limits.hpp"
#include "format/module_files.hpp"
#include "format/session_files.hpp"
#include "net/compression.hpp"

namespace gpufl::agent {
namespace {

using Clock = std::chrono::steady_clock;
using Verdict = SendAnswer::Verdict;
using format::Channel;

constexpr uint64_t kLivePiece = uint64_t{1} << 20;
constexpr size_t kWorthCompressing = 1024;
// A server may have been restored from a backup meanwhile.
constexpr std::chrono::minutes kAskAgain{5};
constexpr int kMaxContradictions = 3;

std::string channel_name(const ListedWindow& window) {
  return std::string(format::to_string(window.channel));
}

bool is_acknowledged(Verdict verdict) {
  return verdict == Verdict::Stored || verdict == Verdict::Known || verdict == Verdict::Superseded;
}

struct LiveText {
  std::string text;
  bool is_final = false;
};

// Whole lines from `offset` on, some of them; what is left altogether where the writer is dead.
base::Result<LiveText> read_lines(const OpenFile& file, uint64_t offset, uint64_t size,
                                  bool is_dead) {
  LiveText live;
  uint64_t bytes = 0;
  for (uint64_t wanted = kLivePiece; bytes < size - offset; wanted *= 2) {
    bytes = std::min(size - offset, wanted);
    live.text.resize(static_cast<size_t>(bytes));
    if (base::Status status = file.read(offset, live.text); !status) return status;
    if (is_dead && bytes == size - offset) break;
    const size_t end = live.text.rfind('\n') + 1;
    if (end > 0 || bytes > format::kMaxLineBytes) {
      live.text.resize(end);
      return live;
    }
  }
  live.is_final = is_dead;
  if (!is_dead) live.text.clear();  // a line that is being written
  return live;
}

}  // namespace

Shipper::Shipper(SessionFolder folder, Ingest& ingest, ShipOptions options)
    : folder_(std::move(folder)), ingest_(ingest), options_(std::move(options)) {}

uint64_t Shipper::bytes_left() const {
  uint64_t bytes = 0;
  for (const Work& work : work_) {
    if (work.kind != "window") continue;
    const auto file = folder_.folder().open_file(work.window.file);
    if (file) bytes += file->size();
  }
  return bytes;
}

std::optional<Shipper::Step> Shipper::ask_server() {
  if (asked_at_ && Clock::now() - *asked_at_ < kAskAgain) return std::nullopt;
  KnownSession known;
  const SendAnswer answer = ingest_.ask(folder_.session_id(), known);
  if (!is_acknowledged(answer.verdict)) return fail(answer, "");
  if (known.is_deleted) {
    return fail({Verdict::Gone, 410, 0, {}, "the session was deleted on the server"}, "");
  }
  known_ = std::move(known);
  asked_at_ = Clock::now();
  work_.clear();
  return std::nullopt;
}

bool Shipper::has_window(const ListedWindow& window, const KnownSession& known) const {
  const auto found = known.windows.find({channel_name(window), window.number});
  if (found == known.windows.end()) return false;
  return found->second.is_sealed || (found->second.is_final && !window.is_sealed);
}

bool Shipper::has_version(const std::string& kind, const KnownSession& known) const {
  const auto found = known.versions.find(kind);
  return found != known.versions.end() && found->second >= listing_.versions.at(kind);
}

void Shipper::plan() {
  is_stale_ = false;
  work_.clear();
  listing_ = folder_.list();
  const auto add = [&](Work work, const std::string& name, bool is_known) {
    if (is_aside(name)) return;
    if (is_known && !sent_.contains(name) && known_files_.insert(name).second) ++counts_.known;
    const bool is_wanted = options_.sends_all_again ? !sent_.contains(name) : !is_known;
    if (is_wanted) work_.push_back(std::move(work));
  };
  for (const ListedWindow& window : listing_.windows) {
    if (window.is_sealed) add({"window", window}, window.file, has_window(window, known_));
  }
  for (const std::string& hash : listing_.modules) {
    add({"module", {}, hash}, format::module_file_name(hash), known_.modules.contains(hash));
  }
  // The manifest last: what it tells of is there then.
  for (const char* kind : {"disassembly", "symbols", "manifest"}) {
    if (listing_.versions.contains(kind))
      add({kind}, file_of_kind(kind), has_version(kind, known_));
  }
}

Shipper::Step Shipper::step() {
  if (options_.is_stopped && options_.is_stopped()) return Step::Cancelled;
  if (const auto failed = ask_server()) return *failed;
  // Twice: what was planned may be gone by now.
  for (int looks = 0; looks < 2; ++looks) {
    if (work_.empty() || is_stale_) plan();
    if (const auto sent = send_live_lines()) return *sent;
    while (!work_.empty()) {
      const Work work = std::move(work_.front());
      work_.pop_front();
      const auto sent = send(work);
      if (!sent) continue;
      if (*sent != Step::Sent) work_.clear();
      return *sent;
    }
  }
  return Step::Idle;
}

std::optional<Shipper::Step> Shipper::send_live_lines() {
  for (const ListedWindow& window : listing_.windows) {
    if (window.is_sealed || has_window(window, known_) || is_aside(window.file)) continue;
    if (const auto sent = send_live(window)) return sent;
  }
  return std::nullopt;
}

std::optional<Shipper::Step> Shipper::send_live(const ListedWindow& window) {
  const auto file = folder_.folder().open_file(window.file);
  if (!file || window_of(*file) != window.number) {
    // Of a live file: it has another name by now, so all are to be looked at again.
    const bool is_live_name = window.file == format::live_file_name(window.channel);
    if (file && !is_live_name) set_aside_[window.file] = "its first line is not that of the window";
    is_stale_ = true;
    return std::nullopt;
  }
  KnownWindow& known = known_.windows[{channel_name(window), window.number}];
  const uint64_t size = file->size();
  if (size < known.end) {
    set_aside_[window.file] = "the server has more of it than there is here";
    return std::nullopt;
  }
  const bool is_dead =
      !listing_.is_live && base::wall_ns() - file->changed_ns() >= options_.final_after.count();
  auto live = read_lines(*file, known.end, size, is_dead);
  if (!live) return std::nullopt;  // the writer is cutting a torn line off
  if (size == 0 || (live->text.empty() && !live->is_final)) return std::nullopt;
  Piece piece{"live",
              {{"channel", channel_name(window)},
               {"number", std::to_string(window.number)},
               {"offset", std::to_string(known.end)}},
              {},
              false};
  if (live->is_final) {
    const auto hash = file->sha256(size);
    if (!hash) return std::nullopt;
    piece.parameters.emplace_back("final", "1");
    piece.parameters.emplace_back("sha256", *hash);
  }
  std::string packed;
  const auto compressor =
      live->text.size() >= kWorthCompressing ? net::make_compressor(net::Encoding::Zstd) : nullptr;
  piece.is_zstd = compressor && compressor->add(live->text, true, packed);
  const std::string& body = piece.is_zstd ? packed : live->text;
  if (!pause_for(body.size())) return Step::Cancelled;
  piece.body = net::RequestBody::of(body);
  const SendAnswer answer = ingest_.send(folder_.session_id(), piece);
  if (answer.verdict == Verdict::Elsewhere) {
    // Somebody else sends it too, or the server has an older state.
    if (answer.end > size || ++contradictions_[window.file] > kMaxContradictions) {
      set_aside_[window.file] = "the server has another text of it: " + answer.reason;
    }
    known.end = answer.end;
    return Step::Sent;
  }
  if (!is_acknowledged(answer.verdict)) return fail(answer, window.file);
  contradictions_.erase(window.file);
  known.is_sealed = answer.verdict == Verdict::Superseded;
  known.is_final = live->is_final;
  known.end += live->text.size();
  return acknowledge(window.file, rows_in(live->text), body.size());
}

std::optional<Shipper::Step> Shipper::send(const Work& work) {
  if (work.kind == "window") return send_window(work.window);
  if (work.kind == "module") return send_module(work.module);
  return send_whole(work.kind);
}

std::optional<Shipper::Step> Shipper::send_window(const ListedWindow& window) {
  const auto file = folder_.folder().open_file(window.file);
  if (!file) return std::nullopt;  // deleted on purpose: the manifest tells
  const uint64_t bytes = file->size();
  const auto hash = file->sha256(bytes);
  if (!hash) {
    set_aside_[window.file] = hash.status().message();
    return std::nullopt;
  }
  const SendAnswer answer =
      ingest_.send(folder_.session_id(), {"window",
                                          {{"channel", channel_name(window)},
                                           {"number", std::to_string(window.number)},
                                           {"sha256", *hash}},
                                          body_of(*file, bytes),
                                          false});
  if (!is_acknowledged(answer.verdict)) return fail(answer, window.file);
  known_.windows[{channel_name(window), window.number}].is_sealed = true;
  return acknowledge(window.file, window.rows, bytes);
}

std::optional<Shipper::Step> Shipper::send_module(const std::string& hash) {
  const std::string name = format::module_file_name(hash);
  const auto folder = folder_.folder().open_folder(format::kModuleFolder);
  if (!folder) return std::nullopt;
  const auto file = folder->open_file(name);
  if (!file) return std::nullopt;
  const uint64_t bytes = file->size();
  const auto sum = file->sha256(bytes);
  if (!sum) {
    set_aside_[name] = sum.status().message();
    return std::nullopt;
  }
  const SendAnswer answer =
      ingest_.send(folder_.session_id(),
                   {"module", {{"hash", hash}, {"sha256", *sum}}, body_of(*file, bytes), false});
  if (!is_acknowledged(answer.verdict)) return fail(answer, name);
  known_.modules.insert(hash);
  return acknowledge(name, 0, bytes);
}

std::optional<Shipper::Step> Shipper::send_whole(const std::string& kind) {
  const std::string name = file_of_kind(kind);
  const auto file = folder_.folder().open_file(name);
  if (!file) return std::nullopt;
  // A manifest may have grown since its version was made of it: then it is sent once more.
  const uint64_t bytes = file->size();
  const uint64_t version = kind == "manifest" ? listing_.versions.at(kind) : bytes;
  const SendAnswer answer =
      ingest_.send(folder_.session_id(),
                   {kind, {{"version", std::to_string(version)}}, body_of(*file, bytes), false});
  if (!is_acknowledged(answer.verdict)) return fail(answer, name);
  uint64_t& known = known_.versions[kind];
  known = std::max(known, version);
  return acknowledge(name, 0, bytes);
}

net::RequestBody Shipper::body_of(const OpenFile& file, uint64_t bytes) const {
  return {bytes, [this, &file](uint64_t offset, std::span<char> into) -> base::Status {
            if (!pause_for(into.size())) return {base::Code::Cancelled, "it was stopped"};
            return file.read(offset, into);
          }};
}

bool Shipper::pause_for(uint64_t bytes) const {
  if (options_.throttle == nullptr) return true;
  return sleep_for(options_.throttle->take(bytes, Clock::now()), options_.is_stopped);
}

Shipper::Step Shipper::fail(const SendAnswer& answer, const std::string& name) {
  reason_ = answer.reason;
  wait_ = answer.wait;
  switch (answer.verdict) {
    case Verdict::Gone: return Step::Gone;
    case Verdict::Denied: return Step::Denied;
    case Verdict::Cancelled: return Step::Cancelled;
    case Verdict::Elsewhere:
    case Verdict::Refused: set_aside_[name] = answer.reason; return Step::Sent;
    default: break;
  }
  // It may come back as another, or with less.
  asked_at_.reset();
  return Step::Wait;
}

Shipper::Step Shipper::acknowledge(const std::string& name, uint64_t rows, uint64_t bytes) {
  if (sent_.insert(name).second) ++counts_.files;
  counts_.rows += rows;
  counts_.bytes += bytes;
  ++counts_.pieces;
  return Step::Sent;
}

std::optional<bool> Shipper::confirms() {
  KnownSession known;
  const SendAnswer answer = ingest_.ask(folder_.session_id(), known);
  if (!is_acknowledged(answer.verdict)) return std::nullopt;
  listing_ = folder_.list();
  known_ = std::move(known);
  if (listing_.is_live || known_.is_deleted || listing_.windows.empty()) return false;
  const auto has = [&](const ListedWindow& window) { return has_window(window, known_); };
  if (!std::all_of(listing_.windows.begin(), listing_.windows.end(), has)) return false;
  for (const auto& [kind, version] : listing_.versions) {
    if (!has_version(kind, known_)) return false;
  }
  return std::all_of(listing_.modules.begin(), listing_.modules.end(),
                     [&](const std::string& hash) { return known_.modules.contains(hash); });
}

}  // namespace gpufl::agent
