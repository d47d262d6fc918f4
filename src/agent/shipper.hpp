// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/ingest.hpp"
#include "agent/live_text.hpp"
#include "agent/pace.hpp"
#include "agent/redaction.hpp"
#include "agent/session_listing.hpp"

// Sends what a server lacks of one session, a piece at a time: live lines first, then sealed
// windows, code, symbols and the manifest. The server says what it has, so that any number of these
// can send the same session, and be killed, without losing or doubling anything. Writes nothing
// into the session's folder. One thread.
namespace gpufl::agent {

struct ShipOptions {
  // Not owned; null: as fast as it goes.
  Throttle* throttle = nullptr;
  std::function<bool()> is_stopped = {};
  // Also what the server has already. It says that it knows it.
  bool sends_all_again = false;
  // What a dead writer left unsealed is final once it has been unchanged for that long.
  std::chrono::nanoseconds final_after{0};
  // What may pass is tried again then: a proxy's refusal, a full disk here.
  std::chrono::nanoseconds aside_pause{std::chrono::minutes(10)};
  Redaction redaction = {};
  // Called about once a second while a file is being sent, so that others need not wait for it.
  std::function<void()> meanwhile = {};
};

struct ShipCounts {
  uint64_t files = 0;    // of which something was sent
  uint64_t known = 0;    // that were there already
  uint64_t rows = 0;     // in what was sent
  uint64_t bytes = 0;    // as they were sent
  uint64_t pieces = 0;   // acknowledged
  uint64_t refused = 0;  // set aside
};

class Shipper {
 public:
  Shipper(SessionFolder folder, Ingest& ingest, ShipOptions options);
  Shipper(const Shipper&) = delete;
  Shipper& operator=(const Shipper&) = delete;

  enum class Step : uint8_t {
    Sent,    // a piece, or compared one with the server's; there may be more
    Idle,    // the server has all that there is now, but for what was set aside
    Later,   // likewise, but for what has failed several times: that is tried again in time
    Wait,    // it cannot be reached, or asks for patience: after wait(), again
    Gone,    // the session was deleted there: nothing more of it is sent
    Denied,  // nothing can be sent with this key and address
    Cancelled,
  };
  Step step();
  // Live lines alone, of what is known of the session. `by` may be another connection than step()
  // uses, which is in the middle of a file.
  Step step_live(Ingest& by);
  // Why, of the last step that was none of Sent and Idle.
  const std::string& reason() const { return failure_.reason; }
  std::optional<std::chrono::seconds> wait() const { return failure_.wait; }
  // Of Wait: what holds for one session holds for all.
  bool is_for_all() const;

  const std::string& session_id() const { return folder_.session_id(); }
  const std::filesystem::path& path() const { return folder_.folder().path(); }
  // Of the latest look at it.
  bool is_live() const { return listing_ != nullptr && listing_->is_live; }
  // Nobody writes it, and what is left unsealed of it is not final yet: there will be more to send.
  bool is_settling() const;
  uint64_t bytes_left() const;  // of all that is not sent yet
  const ShipCounts& counts() const { return counts_; }
  // What the server will not take, or contradicts: "device.3.log.zst": why.
  std::map<std::string, std::string> set_aside() const;
  bool has_set_aside() const;
  // What is there, of the latest look at it, and cannot be read: why, by name.
  std::map<std::string, std::string> unreadable() const;
  const std::string& page() const { return known_.page; }

  // Asks the server once more, and says whether it has every file of a session that has ended, byte
  // for byte. Nothing: it could not be asked.
  std::optional<bool> confirms();
  // What the server has is to be asked again: it may have come back as another.
  void forget_known() { asked_at_.reset(); }

 private:
  using Clock = std::chrono::steady_clock;

  // A sealed window and its live lines are two pieces.
  struct PieceKey {
    PieceKind kind = PieceKind::Window;
    format::Channel channel = format::Channel::System;
    uint64_t number = 0;
    std::string hash = {};  // of modules

    auto operator<=>(const PieceKey&) const = default;
  };
  struct PieceState {
    std::string file;       // its name
    uint64_t rows = 0;      // of a sealed window
    uint64_t version = 0;   // of what is replaced as a whole
    uint64_t bytes = 0;     // of the file, when it was seen last
    uint64_t look = 0;      // which saw it last
    bool is_sent = false;   // some of it
    bool is_known = false;  // the server has it, by its own word; of bytes says is_same
    bool is_same = false;   // the same bytes
    std::string aside;      // why it is not sent; empty: it is
    Clock::time_point aside_until = Clock::time_point::max();
    bool is_sent_again = false;  // it may have been damaged on its way
    // That the server could not take it in a row; from then on it waits for the others.
    int failures = 0;
    Clock::time_point again_at{};
    std::string failed_with;
    // The hash is that of the file as it was then; of what is sent of it, where that is a copy.
    FileStamp stamp;
    std::string sha256;
    std::optional<format::SealedWindow> copied;  // of a redacted window
    Clock::time_point sent_at{};                 // of what is replaced as a whole
    // Of live lines:
    LiveCursor cursor;
    int contradictions = 0;           // offsets that the server did not stand by
    Clock::time_point quiet_since{};  // `bytes` has been the same
  };
  using Entry = std::pair<const PieceKey, PieceState>;

  enum class Attempt : uint8_t {
    Done,     // something was sent or found out
    Nothing,  // there was nothing to do
    Moved,    // a file has another name by now: look again
    Failed,   // as failure_ says
  };
  struct Outgoing {
    OpenFile file;
    uint64_t bytes = 0;
    std::string sha256;
  };

  bool ask_server();  // false: as failure_ says
  Step step_of(const SendAnswer& answer) const;
  // Looks at the folder, and works out what is to be sent.
  void plan();
  PieceState& see(const PieceKey& key, const std::string& file);
  void plan_piece(Entry& entry);
  // By what it has told; fills is_known and is_same.
  void compare(Entry& entry) const;
  bool may_go(const PieceState& state, Clock::time_point now) const;
  bool is_due(const Entry& entry, Clock::time_point now) const;
  bool is_all_there() const;

  Attempt send_live_lines(Ingest& by);
  Attempt send_live(const ListedWindow& window, Ingest& by);
  Attempt send_lines(Entry& entry, const OpenFile& file, const LiveLines& lines, Ingest& by);
  Attempt correct_live(Entry& entry, const OpenFile& file, const SendAnswer& answer);
  KnownWindow& known_window(const PieceKey& key);
  bool is_quiet(PieceState& state, uint64_t size) const;

  Attempt send_file(Entry& entry);
  // As it is to be sent, hashed. Nothing: it has gone, or is set aside.
  std::optional<Outgoing> prepare(Entry& entry);
  base::Result<OpenFile> open(const Entry& entry) const;
  base::Result<OpenFile> copy_of(Entry& entry, const OpenFile& file);
  Attempt acknowledge_file(Entry& entry, const Outgoing& outgoing, const std::string& sha256);
  net::RequestBody body_of(const OpenFile& file, uint64_t bytes);
  // For the bandwidth; false: it was stopped.
  bool pause_for(uint64_t bytes, Clock::time_point at_latest, bool is_file);

  // Whether the server takes the key, so that somebody before it dislikes this piece alone.
  static bool is_refused_on_the_way(const SendAnswer& answer, Ingest& by);
  Attempt fail(SendAnswer answer, Entry* entry, Ingest& by);
  void set_aside(PieceState& state, std::string why);
  // For good only where that cannot be otherwise later.
  void set_aside(PieceState& state, const base::Status& why);
  Attempt acknowledge(PieceState& state, uint64_t rows, uint64_t bytes);

  SessionFolder folder_;
  Ingest& ingest_;
  const ShipOptions options_;
  Redactor redactor_;
  const SessionListing* listing_ = nullptr;  // of folder_; none before the first look
  std::map<PieceKey, PieceState> pieces_;    // of what the folder has now
  std::deque<PieceKey> work_;
  uint64_t looks_ = 0;
  uint64_t planned_version_ = 0;    // of the listing
  Clock::time_point planned_at_{};  // none: plan again
  KnownSession known_;
  std::optional<Clock::time_point> asked_at_;
  SendAnswer failure_;
  Clock::time_point meanwhile_at_{};
  ShipCounts counts_;
};

}  // namespace gpufl::agent
