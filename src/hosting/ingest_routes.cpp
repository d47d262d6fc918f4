// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "format/session_files.hpp"
#include "hosting/hosted_routes.hpp"
#include "net/compression.hpp"
#include "net/target.hpp"
#include "text/display.hpp"

namespace gpufl::hosting {
namespace {

using base::Json;
using base::Status;
using server::Parameter;
using store::Outcome;
using store::Piece;
using store::PieceKind;

constexpr const char* kStream = "/api/v1/events/stream";
constexpr const char* kNeedsSender = "this takes a key with the scope 'ingest'";
constexpr size_t kMostBlob = size_t{512} << 20;
constexpr size_t kStrangersBytes = size_t{16} << 10;
constexpr size_t kPeoplesBytes = size_t{1} << 20;
constexpr size_t kMostLiveText = size_t{16} << 20;
// A window of 10 MB takes 80 seconds on a line of a megabit.
constexpr std::chrono::minutes kBlobTime{15};
constexpr int64_t kMostNumber = int64_t{1} << 53;
constexpr size_t kLongestHost = 128;

// A piece goes to the store's disk as it arrives.
class PieceSink : public net::BodySink {
 public:
  using Room = store::Admission::ReservationPtr;
  // `room`: for all of it; null: how much will come was not said.
  PieceSink(store::SessionStore& store, int64_t workspace, Room room)
      : store_(store), workspace_(workspace), knows_size_(room != nullptr) {
    if (room) rooms_.push_back(std::move(room));
  }

  void take(std::string_view part) noexcept override {
    try {
      if (status_ && !blob_) begin();
      if (status_ && !knows_size_) reserve(part.size());
      if (status_) status_ = blob_->append(part);
      if (status_) hash_.add(part);
    } catch (const std::exception& thrown) {
      status_ = {base::Code::LimitReached, thrown.what()};
    }
  }
  // Into the piece; ok, or why it could not be kept.
  Status finish(Piece& piece) {
    if (status_ && !blob_) begin();
    if (!status_) return status_;
    piece.sha256 = hash_.finish();
    piece.blob = std::move(blob_);
    return {};
  }

 private:
  void begin() {
    auto blob = store_.receive();
    if (blob) blob_ = std::move(*blob);
    if (!blob) status_ = blob.status();
  }

  void reserve(size_t bytes) {
    for (; left_ < bytes && status_; left_ += kRoomStep) {
      std::string why;
      rooms_.push_back(store_.reserve(workspace_, kRoomStep, false, why));
      if (!rooms_.back()) status_ = {base::Code::LimitReached, why};
    }
    left_ -= std::min(left_, bytes);
  }

  static constexpr size_t kRoomStep = size_t{4} << 20;
  store::SessionStore& store_;
  const int64_t workspace_;
  const bool knows_size_;
  std::vector<Room> rooms_;
  size_t left_ = 0;  // of them, where the size is not known
  store::IncomingPtr blob_;
  base::Sha256 hash_;
  Status status_;
};

Json state_json(std::string_view state) { return Json::object().set("state", state); }

net::HttpReply wait(net::HttpReply reply, int seconds) {
  reply.headers.emplace_back("Retry-After", std::to_string(seconds));
  return reply;
}

net::HttpReply reply_to(const Outcome& outcome, const Piece& piece, HostedServices& services) {
  using What = Outcome::What;
  const auto good = [&](std::string_view state) {
    Json answer = state_json(state);
    if (piece.kind == PieceKind::Live) answer.set("end", std::to_string(outcome.end));
    return json(answer);
  };
  switch (outcome.what) {
    case What::Stored: return good("stored");
    case What::Known: return good("known");
    case What::Superseded: return good("superseded");
    case What::Behind:
      return problem_with(409, "lines before these are missing",
                          Json::object().set("expected", std::to_string(outcome.end)));
    case What::Conflict: return problem_with(409, outcome.why, state_json("conflict"));
    case What::Quarantined: return problem_with(422, outcome.why, state_json("quarantined"));
    case What::Gone: return net::problem(410, "Gone", "the session was deleted");
    case What::Full: return wait(net::problem(507, net::reason_of(507), outcome.why), 60);
    case What::Busy: return wait(net::problem(429, net::reason_of(429), outcome.why), 1);
    case What::Failed: break;
  }
  services.complain(fmt::format("cannot keep {} of {}: {}", piece.describe(), piece.session,
                                text::make_harmless(outcome.why)));
  return wait(net::problem(503, "Not kept", "the server could not keep it"), 5);
}

// What the query says of a piece. Empty: it can be one; else what is wrong.
std::string fill(const server::Call& call, Piece& piece) {
  const auto kind = store::find_piece_kind(call.text("kind", ""));
  piece.kind = *kind;  // one of the table's choices
  piece.session = call.text("session", "");
  piece.told_sha256 = call.text("sha256", "");
  piece.is_final = call.text("final", "") == "1";
  piece.offset = static_cast<uint64_t>(call.integer("offset", 0));
  piece.number = static_cast<uint64_t>(call.integer("number", 0));
  piece.version = static_cast<uint64_t>(call.integer("version", 0));
  piece.hash = call.text("hash", "");
  if (!store::is_session_id(piece.session)) return "session is not the id of a session";
  if (!piece.told_sha256.empty() && !store::is_sha256(piece.told_sha256)) {
    return "sha256 is 64 hexadecimal digits in lower case";
  }
  switch (piece.kind) {
    case PieceKind::Window:
    case PieceKind::Live: {
      const auto channel = format::find_channel(call.text("channel", ""));
      if (!channel || piece.number == 0) return "channel and number are required";
      piece.channel = *channel;
      if (piece.is_final && piece.told_sha256.empty()) return "final takes sha256";
      return {};
    }
    case PieceKind::Module:
      return store::is_module_hash(piece.hash) ? "" : "hash is 16 hexadecimal digits";
    case PieceKind::Manifest:
    case PieceKind::Symbols:
    case PieceKind::Disassembly: break;
  }
  return piece.version > 0 ? "" : "version is required";
}

net::HttpReply take_piece(const HostedCall& asked, HostedServices& services) {
  const net::HttpRequest& request = asked.call.request();
  Piece piece;
  piece.workspace = asked.workspace;
  piece.sender = text::make_harmless(asked.call.text("host", asked.caller.name));
  if (const std::string mistake = fill(asked.call, piece); !mistake.empty()) {
    return net::problem(400, "Wrong parameter", mistake);
  }
  if (piece.kind == PieceKind::Live) {
    auto text = request.header("Content-Encoding").empty()
                    ? std::optional(request.body)
                    : net::unpack_zstd(request.body, kMostLiveText);
    if (!text) {
      return problem_with(422, "the body is damaged, or holds more than 16 MiB",
                          state_json("refused"));
    }
    piece.text = std::move(*text);
  } else {
    auto* const sink = dynamic_cast<PieceSink*>(request.sink.get());
    if (sink == nullptr) return net::problem(400);
    const Status kept = sink->finish(piece);
    if (!kept) return reply_to(store::outcome_of(kept), piece, services);
  }
  const PieceKind kind = piece.kind;
  Piece told;  // for the answer
  told.kind = kind;
  told.session = piece.session;
  told.channel = piece.channel;
  told.number = piece.number;
  told.hash = piece.hash;
  return reply_to(services.store.take(std::move(piece)), told, services);
}

std::string page_of(const std::string& workspace) {
  return "w/" + net::percent_encode(workspace) + "/";
}

net::HttpReply show_session(const HostedCall& asked, HostedServices& services) {
  const std::string& id = asked.call.path("session");
  auto status = services.store.status(asked.workspace, id);
  if (!status) {
    return reply_to(store::outcome_of(status.status()), Piece(), services);
  }
  if (!*status) return not_found();
  const store::SessionStatus& session = **status;
  Json answer = Json::object();
  answer.set("session", session.session.name);
  answer.set("state", session.session.is_deleted ? "deleted" : "open");
  Json windows = Json::array();
  for (const store::StoredWindow& window : session.contents.windows) {
    Json one = Json::object();
    one.set("channel", format::to_string(window.channel));
    one.set("number", std::to_string(window.number)).set("state", store::to_string(window.state));
    if (!window.sha256.empty()) one.set("sha256", window.sha256);
    const bool is_sealed = window.state == store::WindowState::Sealed;
    one.set(is_sealed ? "bytes" : "end", std::to_string(window.bytes));
    windows.push(std::move(one));
  }
  answer.set("windows", std::move(windows));
  for (const store::StoredFile& file : session.contents.files) {
    answer.set(
        file.kind,
        Json::object().set("version", std::to_string(file.version)).set("sha256", file.sha256));
  }
  Json modules = Json::array();
  for (const store::StoredModule& module : session.contents.modules) modules.push(module.hash);
  answer.set("modules", std::move(modules));
  Json refused = Json::array();
  for (const store::SetAside& one : session.refused) {
    refused.push(
        Json::object().set("what", one.what).set("sha256", one.sha256).set("reason", one.reason));
  }
  answer.set("refused", std::move(refused));
  answer.set("is_pinned", session.session.is_pinned);
  answer.set("page", page_of(asked.workspace_name) + "#/s/" + net::percent_encode(id));
  return json(answer);
}

Parameter number(std::string name, int64_t least, std::string description) {
  Parameter parameter =
      server::integer(std::move(name), least, kMostNumber, 0, std::move(description));
  parameter.fallback.clear();
  return parameter;
}

Parameter required_choice(std::string name, std::vector<std::string> choices,
                          std::string description) {
  Parameter parameter =
      server::choice(std::move(name), std::move(choices), "", std::move(description));
  parameter.is_required = true;
  return parameter;
}

std::vector<Parameter> piece_parameters() {
  Parameter host = server::text_parameter("host", "The sender's name.");
  host.longest = kLongestHost;
  return {
      server::required_text("session", "The session's id."),
      required_choice("kind", {"window", "live", "manifest", "symbols", "disassembly", "module"},
                      "What the body is."),
      server::choice("channel", {"device", "scope", "system", "code"}, "", "Of a window."),
      number("number", 1, "Of a window."),
      number("offset", 0, "Where in the window's text the body begins."),
      server::choice("final", {"0", "1"}, "0", "1: the text ends with this body."),
      server::text_parameter("sha256", "Of the file, or of the whole text."),
      number("version", 1, "Of a file that is replaced by later ones."),
      server::text_parameter("hash", "Of a module."),
      std::move(host)};
}

// Why none of a piece is to be sent, as far as its head tells. `room`: for its body.
std::optional<net::HttpReply> refuse_piece(const net::HttpRequest& head, const Caller& caller,
                                           HostedServices& services, Piece& piece,
                                           PieceSink::Room& room) {
  static const std::vector<Parameter> parameters = piece_parameters();
  const net::PathParameters none;
  const server::Call call(head, none);
  std::string mistake = server::mistake_in_query(head.query, parameters);
  if (mistake.empty()) mistake = fill(call, piece);
  if (!mistake.empty()) return net::problem(400, "Wrong parameter", mistake);
  const bool is_live = piece.kind == PieceKind::Live;
  const std::string coding = head.header("Content-Encoding");
  if (is_live && !coding.empty() && coding != "zstd") {
    return net::problem(415, net::reason_of(415), "Content-Encoding is zstd or absent");
  }
  const std::string key = std::to_string(caller.id);
  int patience = services.key_pieces.take(key);
  if (patience == 0) patience = services.pieces.take(key + " " + call.text("host", caller.name));
  if (patience > 0) return wait(net::problem(429, net::reason_of(429)), patience);
  const store::Admission& admission = services.store.admission();
  if (admission.is_deleted(caller.workspace, piece.session)) {
    return reply_to({store::Outcome::What::Gone, 0, {}}, piece, services);
  }
  uint64_t bytes = 0;
  const std::string length = head.header("Content-Length");
  const auto [end, wrong] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  const bool is_known = wrong == std::errc() && end == length.data() + length.size();
  if (!is_known || bytes > kMostBlob) return std::nullopt;  // the parser has its own say on these
  std::string why;
  room = services.store.reserve(caller.workspace, bytes, piece.kind == PieceKind::Window, why);
  if (!room) return reply_to({store::Outcome::What::Full, 0, why}, piece, services);
  return std::nullopt;
}

}  // namespace

net::HeadVerdict verdict_on_body(const net::HttpRequest& head, const Caller& caller,
                                 HostedServices& services) {
  net::HeadVerdict verdict;
  verdict.is_trusted = caller.kind == Caller::Kind::Key || caller.kind == Caller::Kind::Person;
  // Strangers have names and passwords to send, or a link's token; guests have nothing; people have
  // notes.
  verdict.body_bytes = verdict.is_trusted ? kPeoplesBytes : kStrangersBytes;
  if (head.method != "POST" || head.path != kStream) return verdict;
  if (caller.kind != Caller::Kind::Key || caller.scope != store::Scope::Ingest) {
    verdict.reply = forbidden(kNeedsSender);
    return verdict;
  }
  Piece piece;
  PieceSink::Room room;
  verdict.reply = refuse_piece(head, caller, services, piece, room);
  verdict.body_bytes = 0;  // as much as the server takes into memory
  if (verdict.reply || piece.kind == PieceKind::Live) return verdict;
  verdict.sink = std::make_shared<PieceSink>(services.store, caller.workspace, std::move(room));
  verdict.sink_bytes = kMostBlob;
  verdict.sink_time = kBlobTime;
  return verdict;
}

void add_ingest_routes(HostedRoutes& routes, HostedServices& services) {
  routes.add(Need::Sender,
             {.method = "POST",
              .pattern = kStream,
              .id = "take_piece",
              .summary = "A piece of a session",
              .parameters = piece_parameters()},
             [&](const HostedCall& call) { return take_piece(call, services); });
  routes.add(Need::AnyKey,
             {.pattern = "/api/v1/ingest", .id = "show_workspace", .summary = "Whose a key is"},
             [&](const HostedCall& asked) {
               return json(Json::object()
                               .set("workspace", asked.workspace_name)
                               .set("page", page_of(asked.workspace_name))
                               .set("scope", store::to_string(asked.caller.scope))
                               .set("generation", services.store.generation()));
             });
  routes.add(Need::AnyKey,
             {.pattern = "/api/v1/ingest/sessions/{session}",
              .id = "show_received",
              .summary = "What the server has of a session"},
             [&](const HostedCall& call) { return show_session(call, services); });
}

}  // namespace gpufl::hosting
