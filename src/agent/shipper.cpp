// SPDX-License-Identifier: Apache-2.0
#include "agent/shipper.hpp"

#include <algorithm>
#include <utility>

#include "format/module_files.hpp"
#include "format/session_files.hpp"

namespace gpufl::agent {
namespace {

using Verdict = SendAnswer::Verdict;
using State = KnownWindow::State;

// A server may have been restored from a backup meanwhile.
constexpr std::chrono::minutes kAskAgain{5};
// What fails so often in a row waits for the others, and is tried that much later.
constexpr int kMostFailures = 3;
constexpr std::chrono::seconds kFailedPause{30};
// Of a manifest that grows: it is sent as a whole each time.
constexpr std::chrono::seconds kManifestPause{10};
constexpr uint64_t kManifestBytesPerSecond = uint64_t{64} << 10;

// However much there is to do, what is new has its turn.
constexpr std::chrono::seconds kPlanAnyway{1};

bool is_replaced(PieceKind kind) {
  return kind == PieceKind::Manifest || kind == PieceKind::Symbols ||
         kind == PieceKind::Disassembly;
}

}  // namespace

Shipper::Shipper(SessionFolder folder, Ingest& ingest, ShipOptions options)
    : folder_(std::move(folder)),
      ingest_(ingest),
      options_(std::move(options)),
      redactor_(options_.redaction) {}

bool Shipper::is_for_all() const {
  return failure_.status == 0 || failure_.status == 429 || failure_.status == 507;
}

bool Shipper::is_settling() const {
  if (listing_ == nullptr || listing_->is_live) return false;
  return std::any_of(pieces_.begin(), pieces_.end(), [](const Entry& entry) {
    return entry.first.kind == PieceKind::Live && entry.second.aside.empty() &&
           !entry.second.is_known;
  });
}

uint64_t Shipper::bytes_left() const {
  uint64_t bytes = 0;
  for (const Entry& entry : pieces_) {
    const PieceState& state = entry.second;
    if (state.is_known || !state.aside.empty()) continue;
    if (entry.first.kind == PieceKind::Live) {
      bytes += state.bytes - std::min(state.bytes, state.cursor.file);
    } else if (const auto file = open(entry)) {
      bytes += file->size();
    }
  }
  return bytes;
}

std::map<std::string, std::string> Shipper::set_aside() const {
  std::map<std::string, std::string> reasons;
  for (const auto& [key, state] : pieces_) {
    if (!state.aside.empty()) reasons[state.file] = state.aside;
  }
  return reasons;
}

bool Shipper::has_set_aside() const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [](const Entry& entry) { return !entry.second.aside.empty(); });
}

std::map<std::string, std::string> Shipper::unreadable() const {
  std::map<std::string, std::string> reasons;
  if (listing_ != nullptr) reasons = listing_->unreadable;
  for (const Entry& entry : pieces_) {
    const auto file = open(entry);
    if (!file && file.status().code() != base::Code::NotFound) {
      reasons[entry.second.file] = file.status().message();
    }
  }
  return reasons;
}

Shipper::Step Shipper::step_of(const SendAnswer& answer) const {
  switch (answer.verdict) {
    case Verdict::Gone: return Step::Gone;
    case Verdict::Denied: return Step::Denied;
    case Verdict::Cancelled: return Step::Cancelled;
    default: return Step::Wait;
  }
}

bool Shipper::ask_server() {
  KnownSession known;
  const SendAnswer answer = ingest_.ask(folder_.session_id(), known);
  if (answer.verdict != Verdict::Stored) {
    fail(answer, nullptr, ingest_);
    return false;
  }
  if (known.is_deleted) {
    fail({Verdict::Gone, 410, 0, {}, "the session was deleted on the server"}, nullptr, ingest_);
    return false;
  }
  known_ = std::move(known);
  asked_at_ = Clock::now();
  planned_at_ = {};
  return true;
}

Shipper::PieceState& Shipper::see(const PieceKey& key, const std::string& file) {
  PieceState& state = pieces_[key];
  state.file = file;
  state.look = looks_;
  return state;
}

void Shipper::plan() {
  ++looks_;
  planned_version_ = listing_->version;
  planned_at_ = Clock::now();
  work_.clear();
  for (const ListedWindow& window : listing_->windows) {
    const PieceKind kind = window.is_sealed ? PieceKind::Window : PieceKind::Live;
    see({kind, window.channel, window.number}, window.file).rows = window.rows;
  }
  for (const std::string& hash : listing_->modules) {
    see({PieceKind::Module, {}, 0, hash}, format::module_file_name(hash));
  }
  for (const auto& [kind, version] : listing_->versions) {
    // It holds what is left out, and can be made again from the modules.
    if (kind == PieceKind::Disassembly && options_.redaction.is_any()) continue;
    PieceState& state = see({kind}, file_of_kind(kind));
    if (state.version == version) continue;
    PieceState next;
    next.file = std::move(state.file);
    next.version = version;
    next.bytes = state.bytes;
    next.look = looks_;
    next.is_sent = state.is_sent;
    next.sent_at = state.sent_at;
    state = std::move(next);
  }
  std::erase_if(pieces_, [&](const Entry& entry) { return entry.second.look != looks_; });
  for (Entry& entry : pieces_) {
    if (!is_replaced(entry.first.kind)) plan_piece(entry);
  }
  // The manifest last: what it tells of is there then.
  for (const PieceKind kind : kReplacedKinds) {
    const auto found = pieces_.find({kind});
    if (found != pieces_.end()) plan_piece(*found);
  }
}

void Shipper::compare(Entry& entry) const {
  const auto& [key, ignored] = entry;
  PieceState& state = entry.second;
  state.is_known = state.is_same = false;
  if (key.kind == PieceKind::Module) {
    state.is_known = state.is_same = known_.modules.contains(key.hash);
  } else if (is_replaced(key.kind)) {
    const auto file = known_.files.find(key.kind);
    if (file == known_.files.end()) return;
    const bool has_same_bytes = !state.sha256.empty() && file->second.sha256 == state.sha256;
    state.is_known = has_same_bytes || file->second.version >= state.version;
    // Manifests of one version tell the same.
    state.is_same = has_same_bytes || (state.is_known && key.kind == PieceKind::Manifest);
  } else {
    const auto window =
        known_.windows.find({std::string(format::to_string(key.channel)), key.number});
    if (window == known_.windows.end() || window->second.state == State::Live) return;
    const bool is_sealed = window->second.state == State::Sealed;
    const bool is_told = is_sealed && !window->second.is_untold();
    if (key.kind == PieceKind::Window && !is_told) return;
    state.is_known = true;
    // Of live lines that are there in a better form.
    const bool is_superseded = key.kind == PieceKind::Live && is_sealed;
    state.is_same =
        is_superseded || (!state.sha256.empty() && window->second.sha256 == state.sha256);
  }
}

void Shipper::plan_piece(Entry& entry) {
  const PieceKind kind = entry.first.kind;
  PieceState& state = entry.second;
  const bool was_known = state.is_known;
  compare(entry);
  if (Clock::now() >= state.aside_until) {
    state.aside.clear();
    state.aside_until = Clock::time_point::max();
  }
  if (!state.aside.empty()) return;
  if (state.is_known && !was_known && !state.is_sent) ++counts_.known;
  const auto now = Clock::now();
  if (kind == PieceKind::Live || !may_go(state, now)) return;
  // What was there before is compared once nobody adds to it.
  const bool is_looked_at = !listing_->is_live || options_.redaction.is_any();
  const bool is_wanted = options_.sends_all_again
                             ? !state.is_sent
                             : !state.is_known || (!state.is_same && is_looked_at);
  if (is_wanted && is_due(entry, now)) work_.push_back(entry.first);
}

bool Shipper::may_go(const PieceState& state, Clock::time_point now) const {
  return state.failures < kMostFailures || now >= state.again_at;
}

bool Shipper::is_due(const Entry& entry, Clock::time_point now) const {
  const PieceState& state = entry.second;
  if (entry.first.kind != PieceKind::Manifest) return true;
  if (options_.redaction.is_any()) {
    // It tells of the copies, and so comes after them.
    const auto is_copied = [](const Entry& one) {
      return one.first.kind != PieceKind::Window || one.second.copied || !one.second.aside.empty();
    };
    if (!std::all_of(pieces_.begin(), pieces_.end(), is_copied)) return false;
  }
  if (!listing_->is_live || state.sent_at == Clock::time_point{}) return true;
  return now - state.sent_at >=
         kManifestPause + std::chrono::seconds(state.bytes / kManifestBytesPerSecond);
}

Shipper::Step Shipper::step() {
  failure_ = {};
  if (options_.is_stopped && options_.is_stopped()) return Step::Cancelled;
  const bool knows = asked_at_ && Clock::now() - *asked_at_ < kAskAgain;
  if (!knows && !ask_server()) return step_of(failure_);
  // Files may be renamed all the time; what is missed now is there for the next step.
  constexpr int kMostLooks = 5;
  for (int look = 0; look < kMostLooks; ++look) {
    listing_ = &folder_.list();
    const bool is_old = Clock::now() - planned_at_ > kPlanAnyway;
    if (listing_->version != planned_version_ || is_old) plan();
    Attempt attempt = send_live_lines(ingest_);
    while (attempt == Attempt::Nothing && !work_.empty()) {
      const auto piece = pieces_.find(work_.front());
      work_.pop_front();
      if (piece == pieces_.end()) continue;
      attempt = send_file(*piece);
      // What comes after others may be due now.
      if (work_.empty()) planned_at_ = {};
    }
    if (attempt == Attempt::Done) return Step::Sent;
    if (attempt == Attempt::Nothing && planned_at_ != Clock::time_point{}) break;
    planned_at_ = {};
    if (attempt == Attempt::Failed) return step_of(failure_);
    if (attempt == Attempt::Moved) folder_.forget_names();
  }
  for (const auto& [key, state] : pieces_) {
    if (state.failures < kMostFailures || state.is_known || !state.aside.empty()) continue;
    failure_.reason = state.failed_with;
    return Step::Later;
  }
  return Step::Idle;
}

bool Shipper::is_refused_on_the_way(const SendAnswer& answer, Ingest& by) {
  if (answer.verdict != Verdict::Denied || answer.status < 400) return false;
  // Of the key, or of the address: nothing would go.
  if (answer.status == 401 || answer.status == 404 || answer.status == 405) return false;
  KnownServer server;
  return by.check(server).verdict == Verdict::Stored;
}

Shipper::Attempt Shipper::fail(SendAnswer answer, Entry* entry, Ingest& by) {
  if (entry != nullptr && is_refused_on_the_way(answer, by)) {
    answer.verdict = Verdict::Refused;
    answer.reason =
        by.address().url.origin() + " takes this key, but something on the way refuses this (" +
        std::to_string(answer.status) + " " + std::string(net::reason_of(answer.status)) + ")";
  }
  failure_ = answer;
  const bool is_refused =
      answer.verdict == Verdict::Refused || answer.verdict == Verdict::Elsewhere;
  if (is_refused && entry != nullptr) {
    PieceState& state = entry->second;
    if (answer.is_set_aside && answer.status == 422 && !std::exchange(state.is_sent_again, true)) {
      asked_at_.reset();  // of what came as it is here, the server tells that it was refused
      return Attempt::Done;
    }
    set_aside(state, answer.reason);
    // A proxy's word, or one about this request alone.
    if (!answer.is_set_aside) state.aside_until = Clock::now() + options_.aside_pause;
    return Attempt::Done;
  }
  if (answer.verdict != Verdict::Busy) return Attempt::Failed;
  // It may come back as another, or with less.
  asked_at_.reset();
  const bool is_patience = answer.status == 429 || answer.status == 507;
  if (entry == nullptr || is_patience) return Attempt::Failed;
  PieceState& state = entry->second;
  ++state.failures;
  state.again_at = Clock::now() + kFailedPause;
  state.failed_with = answer.reason;
  return Attempt::Failed;
}

void Shipper::set_aside(PieceState& state, std::string why) {
  if (state.aside.empty()) ++counts_.refused;
  state.aside = std::move(why);
}

void Shipper::set_aside(PieceState& state, const base::Status& why) {
  using base::Code;
  set_aside(state, why.message());
  const bool is_for_good =
      why.code() == Code::Corrupt || why.code() == Code::TooNew || why.code() == Code::LimitReached;
  if (!is_for_good) state.aside_until = Clock::now() + options_.aside_pause;
}

Shipper::Attempt Shipper::acknowledge(PieceState& state, uint64_t rows, uint64_t bytes) {
  if (!std::exchange(state.is_sent, true)) ++counts_.files;
  state.failures = 0;
  counts_.rows += rows;
  counts_.bytes += bytes;
  ++counts_.pieces;
  return Attempt::Done;
}

std::optional<bool> Shipper::confirms() {
  failure_ = {};
  if (!ask_server()) {
    if (failure_.verdict == Verdict::Gone) return false;
    return std::nullopt;
  }
  // A file that is another one by now is another file.
  for (Entry& entry : pieces_) {
    if (entry.second.sha256.empty()) continue;
    const auto file = open(entry);
    if (!file || file->stamp() != entry.second.stamp) entry.second.sha256.clear();
  }
  listing_ = &folder_.list();
  plan();
  return is_all_there();
}

bool Shipper::is_all_there() const {
  if (listing_->is_live || listing_->windows.empty() || !listing_->unreadable.empty()) return false;
  return std::all_of(pieces_.begin(), pieces_.end(), [](const Entry& entry) {
    const PieceState& state = entry.second;
    return state.aside.empty() && state.is_known && state.is_same;
  });
}

}  // namespace gpufl::agent
