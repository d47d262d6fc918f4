// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/ingest.hpp"
#include "agent/pace.hpp"
#include "agent/session_listing.hpp"

// Sends what a server lacks of one session, a piece at a time: live lines first, then sealed
// windows, code, symbols and the manifest. The server says what it has, so that any number of these
// can send the same session, and be killed, without losing or doubling anything. Writes nothing.
// One thread.
namespace gpufl::agent {

struct ShipOptions {
  // Not owned; null: as fast as it goes.
  Throttle* throttle = nullptr;
  std::function<bool()> is_stopped = {};
  // Also what the server has already. It says that it knows it.
  bool sends_all_again = false;
  // What a dead writer left unsealed is final once it has been unchanged for that long.
  std::chrono::nanoseconds final_after{0};
};

struct ShipCounts {
  uint64_t files = 0;   // of which something was sent
  uint64_t known = 0;   // that were there already
  uint64_t rows = 0;    // in what was sent
  uint64_t bytes = 0;   // as they were sent
  uint64_t pieces = 0;  // acknowledged
};

class Shipper {
 public:
  Shipper(SessionFolder folder, Ingest& ingest, ShipOptions options);

  enum class Step : uint8_t {
    Sent,    // a piece; there may be more
    Idle,    // the server has all that there is now
    Wait,    // it cannot be reached, or asks for patience: after wait(), again
    Gone,    // the session was deleted there: nothing more of it is sent
    Denied,  // nothing can be sent with this key and address
    Cancelled,
  };
  Step step();
  // Why, of the last step that was none of the first two.
  const std::string& reason() const { return reason_; }
  std::optional<std::chrono::seconds> wait() const { return wait_; }

  const std::string& session_id() const { return folder_.session_id(); }
  const std::filesystem::path& path() const { return folder_.folder().path(); }
  // Of the latest look at it.
  bool is_live() const { return listing_.is_live; }
  uint64_t bytes_left() const;  // of sealed windows
  const ShipCounts& counts() const { return counts_; }
  // What the server will not take, or contradicts: "device.3.log.zst: why".
  const std::map<std::string, std::string>& set_aside() const { return set_aside_; }
  const std::string& page() const { return known_.page; }

  // Asks the server once more, and says whether it has every file of a session that has ended.
  // Nothing: it could not be asked.
  std::optional<bool> confirms();

 private:
  struct Work {
    std::string kind;  // "window", "module", or one that is replaced as a whole
    ListedWindow window = {};
    std::string module = {};
  };

  std::optional<Step> ask_server();
  bool has_window(const ListedWindow& window, const KnownSession& known) const;
  bool has_version(const std::string& kind, const KnownSession& known) const;
  void plan();
  bool is_aside(const std::string& name) const { return set_aside_.contains(name); }
  std::optional<Step> send_live_lines();
  // Nothing: there was nothing to send.
  std::optional<Step> send_live(const ListedWindow& window);
  std::optional<Step> send(const Work& work);
  std::optional<Step> send_window(const ListedWindow& window);
  std::optional<Step> send_module(const std::string& hash);
  std::optional<Step> send_whole(const std::string& kind);
  // The body as the file has it.
  net::RequestBody body_of(const OpenFile& file, uint64_t bytes) const;
  bool pause_for(uint64_t bytes) const;
  // Of what is not acknowledged; `name` is the file's.
  Step fail(const SendAnswer& answer, const std::string& name);
  Step acknowledge(const std::string& name, uint64_t rows, uint64_t bytes);

  SessionFolder folder_;
  Ingest& ingest_;
  const ShipOptions options_;
  SessionListing listing_;
  std::deque<Work> work_;
  bool is_stale_ = false;  // a file of the listing has another name by now
  KnownSession known_;
  std::optional<std::chrono::steady_clock::time_point> asked_at_;
  std::string reason_;
  std::optional<std::chrono::seconds> wait_;
  ShipCounts counts_;
  std::set<std::string> sent_, known_files_;  // names
  std::map<std::string, std::string> set_aside_;
  std::map<std::string, int> contradictions_;  // offsets that the server did not stand by
};

}  // namespace gpufl::agent
