// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "agent/shipper.hpp"
#include "format/module_files.hpp"
#include "format/session_files.hpp"
#include "net/compression.hpp"

// How a piece goes, and what its answer means.
namespace gpufl::agent {
namespace {

using Verdict = SendAnswer::Verdict;
using State = KnownWindow::State;

constexpr size_t kWorthCompressing = 1024;
constexpr int kMaxContradictions = 3;
// A server waits no longer than a quarter of an hour for one body; however narrow the bandwidth, it
// is sent in less, and what comes after it waits longer.
constexpr std::chrono::minutes kBodyTime{10};
// As a server has it (src/hosting/ingest_routes.cpp). What is larger is not even read.
constexpr uint64_t kMostBytes = uint64_t{512} << 20;
constexpr std::chrono::seconds kMeanwhile{1};

bool is_acknowledged(const SendAnswer& answer) {
  return answer.verdict == Verdict::Stored || answer.verdict == Verdict::Known ||
         answer.verdict == Verdict::Superseded;
}

std::pair<std::string, uint64_t> name_of(format::Channel channel, uint64_t number) {
  return {std::string(format::to_string(channel)), number};
}

}  // namespace

KnownWindow& Shipper::known_window(const PieceKey& key) {
  return known_.windows[name_of(key.channel, key.number)];
}

Shipper::Step Shipper::step_live(Ingest& by) {
  if (listing_ == nullptr || !asked_at_) return Step::Idle;
  switch (send_live_lines(by)) {
    case Attempt::Done: return Step::Sent;
    case Attempt::Failed: return step_of(failure_);
    case Attempt::Nothing:
    case Attempt::Moved: break;
  }
  return Step::Idle;
}

Shipper::Attempt Shipper::send_live_lines(Ingest& by) {
  for (const ListedWindow& window : listing_->windows) {
    if (window.is_sealed) continue;
    const Attempt attempt = send_live(window, by);
    if (attempt != Attempt::Nothing) return attempt;
  }
  return Attempt::Nothing;
}

bool Shipper::is_quiet(PieceState& state, uint64_t size) const {
  const auto now = Clock::now();
  if (std::exchange(state.bytes, size) != size) state.quiet_since = now;
  return now - state.quiet_since >= options_.final_after;
}

Shipper::Attempt Shipper::send_live(const ListedWindow& window, Ingest& by) {
  const auto found = pieces_.find({PieceKind::Live, window.channel, window.number});
  if (found == pieces_.end()) return Attempt::Moved;
  PieceState& state = found->second;
  if (!state.aside.empty() || state.is_same || !may_go(state, Clock::now())) {
    return Attempt::Nothing;
  }
  if (state.is_known && listing_->is_live) return Attempt::Nothing;
  const auto file = folder_.folder().open_file(window.file);
  const auto number = file ? window_of(*file) : base::Result<uint64_t>(file.status());
  if (!number || *number != window.number) {
    if (!file || window.file == format::live_file_name(window.channel)) return Attempt::Moved;
    set_aside(state, "its first line is not that of the window");
    return Attempt::Done;
  }
  KnownWindow& known = known_window(found->first);
  const uint64_t size = file->size();
  const LiveText text(*file, options_.redaction.is_any() ? &redactor_ : nullptr);
  const bool is_dead = is_quiet(state, size) && !listing_->is_live;
  if (known.state == State::Final) {
    const auto hash = text.sha256(size);
    if (!hash || known.sha256.empty()) return Attempt::Nothing;
    state.sha256 = *hash;
    state.stamp = file->stamp();
    state.is_same = known.sha256 == *hash;
    if (!state.is_same) set_aside(state, "the server has another text of it");
    return Attempt::Done;
  }
  if (state.cursor.sent != known.end) {
    const auto cursor = text.find(known.end);
    if (!cursor || cursor->file > size) {
      set_aside(state, cursor ? "the server has more of it than there is here"
                              : "the server has another text of it");
      return Attempt::Done;
    }
    state.cursor = *cursor;
  }
  const auto lines = text.read(state.cursor, size, is_dead);
  if (!lines && lines.status().code() == base::Code::LimitReached) {
    set_aside(state, lines.status().message());
    return Attempt::Done;
  }
  if (!lines) return Attempt::Nothing;  // the writer is cutting a torn line off
  if (lines->text.empty() && !lines->is_final) {
    state.cursor = lines->next;
    return Attempt::Nothing;
  }
  return send_lines(*found, *file, *lines, by);
}

Shipper::Attempt Shipper::send_lines(Entry& entry, const OpenFile& file, const LiveLines& lines,
                                     Ingest& by) {
  PieceState& state = entry.second;
  Piece piece{PieceKind::Live,
              {{"channel", std::string(format::to_string(entry.first.channel))},
               {"number", std::to_string(entry.first.number)},
               {"offset", std::to_string(state.cursor.sent)}},
              {},
              false};
  if (lines.is_final) {
    const LiveText text(file, options_.redaction.is_any() ? &redactor_ : nullptr);
    const auto hash = text.sha256(lines.next.file);
    if (!hash) return Attempt::Nothing;
    state.sha256 = *hash;
    state.stamp = file.stamp();
    piece.parameters.emplace_back("final", "1");
    piece.parameters.emplace_back("sha256", *hash);
  }
  std::string packed;
  const auto compressor =
      lines.text.size() >= kWorthCompressing ? net::make_compressor(net::Encoding::Zstd) : nullptr;
  piece.is_zstd = compressor && compressor->add(lines.text, true, packed);
  const std::string& body = piece.is_zstd ? packed : lines.text;
  piece.body = net::RequestBody::of(body);
  if (&by != &ingest_) {
    // They overtake a file that has the line now; it pays for them.
    if (options_.throttle != nullptr) options_.throttle->take(body.size(), Clock::now());
  } else if (!pause_for(body.size(), Clock::now() + kBodyTime, false)) {
    return fail({.verdict = Verdict::Cancelled, .wait = {}, .reason = {}}, nullptr, by);
  }
  const SendAnswer answer = by.send(folder_.session_id(), piece);
  if (answer.verdict == Verdict::Elsewhere) return correct_live(entry, file, answer);
  if (!is_acknowledged(answer)) return fail(answer, &entry, by);
  KnownWindow& known = known_window(entry.first);
  const bool is_superseded = answer.verdict == Verdict::Superseded;
  known = {is_superseded    ? State::Sealed
           : lines.is_final ? State::Final
                            : State::Live,
           lines.next.sent, is_superseded ? "" : state.sha256};
  state.cursor = lines.next;
  state.contradictions = 0;
  state.is_known = state.is_same = is_superseded || lines.is_final;
  return acknowledge(state, rows_in(lines.text), body.size());
}

// Somebody else sends it too, or the server has an older state.
Shipper::Attempt Shipper::correct_live(Entry& entry, const OpenFile& file,
                                       const SendAnswer& answer) {
  PieceState& state = entry.second;
  KnownWindow& known = known_window(entry.first);
  const bool is_further = answer.end > known.end;
  const LiveText text(file, options_.redaction.is_any() ? &redactor_ : nullptr);
  const auto cursor = text.find(answer.end);
  // As long as it is by now: whoever sends it too may have seen more of it.
  const bool is_possible = cursor && cursor->file <= file.size();
  if (!is_possible || (!is_further && ++state.contradictions > kMaxContradictions)) {
    set_aside(state, "the server has another text of it: " + answer.reason);
    return Attempt::Done;
  }
  known = {State::Live, answer.end, {}};
  state.cursor = *cursor;
  return Attempt::Done;
}

base::Result<OpenFile> Shipper::open(const Entry& entry) const {
  if (entry.first.kind != PieceKind::Module) return folder_.folder().open_file(entry.second.file);
  const auto folder = folder_.folder().open_folder(format::kModuleFolder);
  if (!folder) return folder.status();
  return folder->open_file(entry.second.file);
}

base::Result<OpenFile> Shipper::copy_of(Entry& entry, const OpenFile& file) {
  if (entry.first.kind == PieceKind::Symbols) return redactor_.copy_symbols(file);
  if (entry.first.kind == PieceKind::Manifest) {
    Redactor::Sealed sealed;
    for (const auto& [key, state] : pieces_) {
      if (state.copied) sealed[{key.channel, key.number}] = *state.copied;
    }
    return redactor_.copy_manifest(file, sealed);
  }
  auto copy = redactor_.copy_window(file);
  if (!copy) return copy.status();
  entry.second.copied = std::move(copy->sealed);
  return std::move(copy->file);
}

std::optional<Shipper::Outgoing> Shipper::prepare(Entry& entry) {
  PieceState& state = entry.second;
  auto file = open(entry);
  if (!file) return std::nullopt;  // deleted on purpose: the manifest tells
  const FileStamp stamp = file->stamp();
  const bool is_copy = options_.redaction.is_any() && entry.first.kind != PieceKind::Module;
  auto sent = is_copy ? copy_of(entry, *file) : std::move(file);
  if (!sent) {
    set_aside(state, sent.status());
    return std::nullopt;
  }
  // A manifest may grow meanwhile: then it is sent once more.
  const uint64_t bytes = is_copy ? sent->size() : stamp.size;
  if (bytes > kMostBytes) {
    set_aside(state, "it is larger than the 512 MiB that a server takes");
    return std::nullopt;
  }
  if (state.sha256.empty() || stamp != state.stamp) {
    const auto hash = sent->sha256(bytes);
    if (!hash) {
      set_aside(state, hash.status());
      return std::nullopt;
    }
    state.sha256 = *hash;
    state.stamp = stamp;
  }
  return Outgoing{std::move(*sent), bytes, state.sha256};
}

Shipper::Attempt Shipper::send_file(Entry& entry) {
  const PieceKey& key = entry.first;
  PieceState& state = entry.second;
  if (key.kind == PieceKind::Window && known_window(key).is_untold()) {
    // Its lines were superseded: by what, the server tells.
    known_window(key) = {};
    asked_at_.reset();
    return Attempt::Done;
  }
  const auto outgoing = prepare(entry);
  if (!outgoing) return state.aside.empty() ? Attempt::Nothing : Attempt::Done;
  if (!options_.sends_all_again) {
    compare(entry);
    if (state.is_same) return Attempt::Done;
    if (state.is_known) {
      const bool is_dated = key.kind == PieceKind::Symbols || key.kind == PieceKind::Disassembly;
      set_aside(state, is_dated ? "the server has a newer one; to send this one, 'touch' it first"
                                : "the server has another one, with other bytes");
      return Attempt::Done;
    }
    const auto refused = known_.refused.find(outgoing->sha256);
    if (refused != known_.refused.end()) {
      set_aside(state, "the server did not take it before: " + refused->second);
      return Attempt::Done;
    }
  }
  Piece piece{key.kind, {}, body_of(outgoing->file, outgoing->bytes), false};
  if (key.kind == PieceKind::Window) {
    piece.parameters = {{"channel", std::string(format::to_string(key.channel))},
                        {"number", std::to_string(key.number)},
                        {"sha256", outgoing->sha256}};
  } else if (key.kind == PieceKind::Module) {
    piece.parameters = {{"hash", key.hash}, {"sha256", outgoing->sha256}};
  } else {
    piece.parameters = {{"version", std::to_string(state.version)}};
  }
  const SendAnswer answer = ingest_.send(folder_.session_id(), piece);
  if (!is_acknowledged(answer)) return fail(answer, &entry, ingest_);
  // A later one is there, or another one: the server tells.
  const bool is_later = answer.verdict == Verdict::Superseded;
  if (is_later && key.kind != PieceKind::Manifest) asked_at_.reset();
  return acknowledge_file(entry, *outgoing, is_later ? "" : outgoing->sha256);
}

Shipper::Attempt Shipper::acknowledge_file(Entry& entry, const Outgoing& outgoing,
                                           const std::string& sha256) {
  const PieceKey& key = entry.first;
  PieceState& state = entry.second;
  if (key.kind == PieceKind::Window) {
    known_window(key) = {State::Sealed, 0, sha256};
  } else if (key.kind == PieceKind::Module) {
    known_.modules.insert(key.hash);
  } else {
    known_.files[key.kind] = {std::max(known_.files[key.kind].version, state.version), sha256};
  }
  state.is_known = true;
  state.is_same = !sha256.empty();
  state.sent_at = Clock::now();
  state.bytes = outgoing.bytes;
  return acknowledge(state, state.rows, outgoing.bytes);
}

net::RequestBody Shipper::body_of(const OpenFile& file, uint64_t bytes) {
  const auto began = Clock::now();
  return {
      bytes, [this, &file, began, bytes](uint64_t offset, std::span<char> into) -> base::Status {
        const double part = static_cast<double>(offset + into.size()) / static_cast<double>(bytes);
        const auto at_latest =
            began + std::chrono::duration_cast<Clock::duration>(kBodyTime * part);
        if (!pause_for(into.size(), at_latest, true)) {
          return {base::Code::Cancelled, "it was stopped"};
        }
        return file.read(offset, into);
      }};
}

bool Shipper::pause_for(uint64_t bytes, Clock::time_point at_latest, bool is_file) {
  const auto now = Clock::now();
  const auto pause = options_.throttle == nullptr ? std::chrono::nanoseconds(0)
                                                  : options_.throttle->take(bytes, now);
  const auto until = std::min(at_latest, now + std::chrono::duration_cast<Clock::duration>(pause));
  while (true) {
    if (is_file && options_.meanwhile && Clock::now() - meanwhile_at_ >= kMeanwhile) {
      options_.meanwhile();
      meanwhile_at_ = Clock::now();
    }
    const auto left = until - Clock::now();
    if (left <= Clock::duration(0)) return true;
    if (!sleep_for(std::min<std::chrono::nanoseconds>(left, kMeanwhile), options_.is_stopped)) {
      return false;
    }
  }
}

}  // namespace gpufl::agent
