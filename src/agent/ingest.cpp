// SPDX-License-Identifier: Apache-2.0
#include "agent/ingest.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/clock.hpp"
#include "base/sha256.hpp"
#include "net/target.hpp"

namespace gpufl::agent {
namespace {

using base::Json;
using Verdict = SendAnswer::Verdict;

constexpr std::string_view kDefaultPath = "/api/v1";
constexpr std::string_view kKeyPrefix = "gpfl_";
constexpr size_t kKeyDigits = 48;
constexpr size_t kChecksumDigits = 8;
constexpr size_t kMaxReason = 500;

// Numbers beyond what a double holds come as text.
uint64_t whole(const Json& value) {
  if (value.is_integer())
    return value.as_integer() < 0 ? 0 : static_cast<uint64_t>(value.as_integer());
  const std::string& text = value.as_string();
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// What the server says of an error, within bounds; what a proxy says of it is a page.
std::string detail_of(const net::ClientReply& reply, const Json& document) {
  std::string text = document["detail"].as_string();
  if (text.empty()) text = document["title"].as_string();
  if (text.empty()) {
    text = "it answered " + std::to_string(reply.status) + " " +
           std::string(net::reason_of(reply.status));
  }
  return text.substr(0, kMaxReason);
}

KnownWindow::State window_state(const std::string& word) {
  if (word == "sealed") return KnownWindow::State::Sealed;
  return word == "final" ? KnownWindow::State::Final : KnownWindow::State::Live;
}

Verdict verdict_of(const net::ClientReply& reply, const Json& document) {
  const std::string& state = document["state"].as_string();
  switch (reply.status) {
    case 200:
      if (state == "known") return Verdict::Known;
      return state == "superseded" ? Verdict::Superseded : Verdict::Stored;
    case 409: return document.find("expected") != nullptr ? Verdict::Elsewhere : Verdict::Refused;
    case 410: return Verdict::Gone;
    case 408:
    case 425:
    case 429:
    case 507: return Verdict::Busy;
    case 400:
    case 413:
    case 422: return Verdict::Refused;
    default: return reply.status >= 500 ? Verdict::Busy : Verdict::Denied;
  }
}

}  // namespace

bool is_key(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.size() != kKeyPrefix.size() + kKeyDigits + kChecksumDigits ||
      !text.starts_with(kKeyPrefix) ||
      !std::all_of(text.begin() + kKeyPrefix.size(), text.end(), is_digit)) {
    return false;
  }
  base::Sha256 hash;
  hash.add(text.substr(0, text.size() - kChecksumDigits));
  return text.ends_with(hash.finish().substr(0, kChecksumDigits));
}

base::Result<IngestAddress> make_address(const std::string& backend_url, const std::string& key,
                                         const std::string& api_path) {
  const auto refuse = [](const std::string& why) {
    return base::Status(base::Code::InvalidArgument, why);
  };
  if (backend_url.empty()) {
    return refuse("no server is named: run 'gpufl login URL', or set GPUFL_BACKEND_URL");
  }
  auto url = net::parse_url(backend_url);
  if (!url) return url.status();
  IngestAddress address{std::move(*url), api_path.empty() ? std::string(kDefaultPath) : api_path,
                        key, host_name()};
  while (address.api_path.ends_with('/')) address.api_path.pop_back();
  if (!address.api_path.starts_with('/') ||
      address.api_path.find_first_of("?#% \"<>\\\r\n") != std::string::npos) {
    return refuse("the API's path (GPUFL_API_PATH) is not a path like " +
                  std::string(kDefaultPath));
  }
  if (key.empty()) {
    return refuse("there is no key for " + address.url.origin() +
                  ": run 'gpufl login URL', or set GPUFL_API_KEY");
  }
  if (!is_key(key)) {
    return refuse("the key is not one that a server has given: it begins with gpfl_ and is " +
                  std::to_string(kKeyPrefix.size() + kKeyDigits + kChecksumDigits) +
                  " characters long; was all of it copied?");
  }
  return address;
}

Ingest::Ingest(IngestAddress address, std::unique_ptr<net::HttpClient> client)
    : address_(std::move(address)), client_(std::move(client)) {}

SendAnswer Ingest::exchange(net::ClientRequest request, Json& document) {
  request.target.insert(0, address_.api_path);
  request.headers.emplace_back("Authorization", "Bearer " + address_.key);
  request.headers.emplace_back("Accept", "application/json");
  const std::string server = address_.url.origin();
  const auto reply = client_->ask(request);
  SendAnswer answer;
  if (!reply) {
    answer.reason = reply.status().message();
    switch (reply.status().code()) {
      case base::Code::Cancelled: answer.verdict = Verdict::Cancelled; break;
      // Ours: a file that could not be read.
      case base::Code::InvalidArgument: answer.verdict = Verdict::Refused; break;
      case base::Code::PermissionDenied: answer.verdict = Verdict::Denied; break;
      default: answer.verdict = Verdict::Busy;
    }
    return answer;
  }
  if (auto parsed = Json::parse(reply->body)) document = std::move(*parsed);
  answer.status = reply->status;
  answer.verdict = verdict_of(*reply, document);
  const std::string& state = document["state"].as_string();
  answer.is_set_aside = state == "quarantined" || state == "conflict";
  answer.end = whole(document[reply->status == 409 ? "expected" : "end"]);
  if (reply->status == 200) {
    // A page of a proxy or of another program is no acknowledgement.
    if (document.is_object()) return answer;
    answer.verdict = Verdict::Denied;
    answer.reason = server + address_.api_path + " is not a gpufl server";
    return answer;
  }
  answer.wait = net::retry_after(*reply, base::wall_ns() / 1'000'000'000);
  answer.reason = server + ": " + detail_of(*reply, document);
  if (reply->status == 401) answer.reason = server + " does not know the key: it may be revoked";
  if (reply->status == 403) {
    answer.reason = server + address_.url.path + address_.api_path +
                    " does not let this key send sessions: is it one of the scope 'ingest', and "
                    "is the address right?";
  }
  if (reply->status >= 300 && reply->status < 400) {
    answer.reason = server + " sends on to '" + reply->header("Location").substr(0, kMaxReason) +
                    "': name that address instead";
  }
  return answer;
}

SendAnswer Ingest::explained(SendAnswer answer) const {
  if (answer.status == 404 || answer.status == 405) {
    answer.reason = address_.url.origin() + address_.url.path + address_.api_path +
                    " takes no sessions: is the address right, and GPUFL_API_PATH?";
  }
  return answer;
}

SendAnswer Ingest::send(const std::string& session, const Piece& piece) {
  net::ClientRequest request{"POST", "/events/stream?session=" + net::percent_encode(session)};
  request.target += "&kind=" + std::string(to_string(piece.kind));
  for (const auto& [name, value] : piece.parameters) {
    request.target += "&" + name + "=" + net::percent_encode(value);
  }
  if (!address_.sender.empty()) request.target += "&host=" + net::percent_encode(address_.sender);
  request.headers.emplace_back("Content-Type", "application/octet-stream");
  if (piece.is_zstd) request.headers.emplace_back("Content-Encoding", "zstd");
  request.body = piece.body;
  Json document;
  SendAnswer answer = exchange(std::move(request), document);
  return explained(std::move(answer));
}

SendAnswer Ingest::ask(const std::string& session, KnownSession& known) {
  known = {};
  Json document;
  SendAnswer answer =
      exchange({"GET", "/ingest/sessions/" + net::percent_encode(session)}, document);
  if (answer.verdict == Verdict::Gone) {
    known.is_deleted = true;
    return answer;
  }
  // Nothing is there yet.
  if (answer.status == 404) {
    answer.verdict = Verdict::Stored;
    return answer;
  }
  if (answer.verdict != Verdict::Stored) return answer;
  known.is_deleted = document["state"].as_string() == "deleted";
  for (const Json& window : document["windows"].items()) {
    known.windows[{window["channel"].as_string(), whole(window["number"])}] = {
        window_state(window["state"].as_string()), whole(window["end"]),
        window["sha256"].as_string()};
  }
  for (const PieceKind kind : kReplacedKinds) {
    const Json* const file = document.find(to_string(kind));
    if (file != nullptr)
      known.files[kind] = {whole((*file)["version"]), (*file)["sha256"].as_string()};
  }
  for (const Json& refused : document["refused"].items()) {
    const std::string& why = refused["reason"].as_string();
    known.refused[refused["sha256"].as_string()] = why.substr(0, kMaxReason);
  }
  for (const Json& hash : document["modules"].items()) known.modules.insert(hash.as_string());
  known.page = page_address(document["page"].as_string());
  return answer;
}

SendAnswer Ingest::check(KnownServer& server) {
  Json document;
  SendAnswer answer = exchange({"GET", "/ingest"}, document);
  if (answer.verdict == Verdict::Stored) {
    server = {document["workspace"].as_string(), document["generation"].as_string()};
    if (document["scope"].as_string() == "read") {
      answer.verdict = Verdict::Denied;
      answer.reason = address_.url.origin() +
                      ": the key may only read; sessions are sent with one of the scope 'ingest'";
    }
  }
  return explained(std::move(answer));
}

std::string Ingest::page_address(const std::string& path) const {
  if (path.empty()) return {};
  // Pages stand beside `api`; where a proxy calls the API something else, below the address.
  std::string prefix = address_.url.path;
  if (address_.api_path.ends_with(kDefaultPath)) {
    prefix += address_.api_path.substr(0, address_.api_path.size() - kDefaultPath.size());
  }
  return address_.url.origin() + prefix + "/" + path;
}

}  // namespace gpufl::agent
