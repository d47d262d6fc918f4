// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "agent/piece_kind.hpp"
#include "base/json.hpp"
#include "base/status.hpp"
#include "net/http_client.hpp"

// What a server takes sessions by (docs/design/hosting.md, "What is sent"), as questions and
// answers. One thread.
namespace gpufl::agent {

struct IngestAddress {
  net::Url url;
  std::string api_path = "/api/v1";
  std::string key;
  std::string sender;  // this machine's name, for the server's limits
};
// Checked: InvalidArgument with a sentence where one of them cannot be meant. An empty `api_path`
// is the usual one.
base::Result<IngestAddress> make_address(const std::string& backend_url, const std::string& key,
                                         const std::string& api_path);
// Whether it has the form that servers give keys, and not a slip in it.
bool is_key(std::string_view text);

// A piece of a session. What is not of its kind stays empty.
struct Piece {
  PieceKind kind = PieceKind::Window;
  net::NamedTexts parameters;
  net::RequestBody body;
  bool is_zstd = false;  // the body is compressed on its way
};

struct SendAnswer {
  enum class Verdict : uint8_t {
    Stored,      // it is on the server's disk
    Known,       // it was there before
    Superseded,  // something better is there
    Elsewhere,   // live lines: they go on at `end`
    Refused,     // not taken, with the reason
    Gone,        // the session was deleted there
    Busy,        // later, when `wait` is over
    Denied,      // the key or the address: nothing can be sent
    Cancelled,
  } verdict = Verdict::Busy;
  int status = 0;                            // of HTTP; 0: there was no answer
  uint64_t end = 0;                          // live lines: how much of the text is there
  std::optional<std::chrono::seconds> wait;  // as the server asks
  std::string reason;                        // of all but the first three: for people
  bool is_set_aside = false;                 // of Refused: on the server, which has looked at it
};

struct KnownWindow {
  enum class State : uint8_t { Live, Final, Sealed } state = State::Live;
  uint64_t end = 0;    // of text that is not sealed
  std::string sha256;  // of the sealed file, or of the final text; empty: the server does not say

  // It is there, and nothing says with which bytes.
  bool is_untold() const { return state == State::Sealed && sha256.empty(); }
};
struct KnownFile {
  uint64_t version = 0;
  std::string sha256;
};
// What a server has of a session.
struct KnownSession {
  bool is_deleted = false;
  std::map<std::pair<std::string, uint64_t>, KnownWindow> windows;  // by channel and number
  std::map<PieceKind, KnownFile> files;
  std::set<std::string, std::less<>> modules;
  // What it did not take, by the SHA-256 of the bytes, with the reason.
  std::map<std::string, std::string, std::less<>> refused;
  std::string page;  // address for people; empty: the server says none
};

// What a server says of itself and of the key.
struct KnownServer {
  std::string workspace;
  std::string generation;  // another one after a restore; empty: the server does not say
};

class Ingest {
 public:
  Ingest(IngestAddress address, std::unique_ptr<net::HttpClient> client);

  SendAnswer send(const std::string& session, const Piece& piece);
  // `known` is empty where the server has nothing of it. Verdict Stored: it was answered.
  SendAnswer ask(const std::string& session, KnownSession& known);
  // Whether the key may send: Stored, or why not.
  SendAnswer check(KnownServer& server);

  const IngestAddress& address() const { return address_; }

 private:
  SendAnswer exchange(net::ClientRequest request, base::Json& document);
  // Says more where nothing is there that would take sessions.
  SendAnswer explained(SendAnswer answer) const;
  // Of a path below the server's root.
  std::string page_address(const std::string& path) const;

  const IngestAddress address_;
  const std::unique_ptr<net::HttpClient> client_;
};

}  // namespace gpufl::agent
