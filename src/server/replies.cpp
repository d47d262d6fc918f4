// SPDX-License-Identifier: Apache-2.0
#include "server/replies.hpp"

#include <utility>

#include <fmt/format.h>

#include "net/fields.hpp"

namespace gpufl::server {
namespace {

using base::Code;
using base::Json;

constexpr const char* kJson = "application/json";
constexpr int kRetryAfter_s = 1;

int status_of(Code code) {
  switch (code) {
    case Code::InvalidArgument: return 400;
    case Code::NotFound: return 404;
    case Code::PermissionDenied: return 403;
    case Code::Corrupt:
    case Code::TooNew:
    case Code::Unsupported: return 422;
    case Code::LimitReached: return 507;
    case Code::Unavailable:
    case Code::Cancelled: return 503;
    default: return 500;
  }
}

std::string_view word_of(AnalysisState::State state) {
  return state == AnalysisState::State::Running ? "running" : "queued";
}

}  // namespace

net::HttpReply json_reply(const net::HttpRequest& request, const Json& json) {
  std::string text = json.dump() + "\n";
  const std::string etag = net::etag_of(text);
  return with_etag(request, net::reply_with(kJson, std::move(text)), etag);
}

net::HttpReply problem_of(const base::Status& status) {
  const int number = status_of(status.code());
  const bool is_limit = status.code() == Code::LimitReached;
  return net::problem(number, is_limit ? "Limit reached" : net::reason_of(number),
                      status.message());
}

net::HttpReply no_such(std::string_view what, std::string_view id) {
  return net::problem(404, "Not found", fmt::format("there is no {} '{}'", what, id));
}

SessionPtr session_of(const Catalogue& catalogue, const Call& call) {
  return catalogue.find(call.path("session"));
}

net::HttpReply unready_reply(const AnalysisState& state) {
  using State = AnalysisState::State;
  if (state.state == State::Failed) return problem_of(state.failure);
  net::HttpReply reply;
  if (state.state == State::Busy) {
    reply = net::problem(503, "Busy", "too many analyses are waiting");
  } else {
    Json json = Json::object();
    json.set("state", word_of(state.state)).set("progress", state.progress);
    reply = net::reply_with(kJson, json.dump() + "\n", 202);
  }
  reply.headers.emplace_back("Retry-After", std::to_string(kRetryAfter_s));
  reply.headers.emplace_back("Cache-Control", "no-store");
  return reply;
}

Answer accepted_answer() {
  return {202, kJson, "The analysis is not ready yet. Ask again after Retry-After seconds.",
          schema_ref("Accepted")};
}

net::HttpReply result_reply(const net::HttpRequest& request, AnalysisState& state,
                            const ResultPart& part) {
  const std::string etag = fmt::format("\"{}-{}\"", state.result->key(), part.offset);
  net::HttpReply reply = state.result->reply(part, kJson);
  reply.headers.emplace_back("Gpufl-Current", state.is_current ? "true" : "false");
  return with_etag(request, std::move(reply), etag);
}

net::HttpReply analysis_reply(const net::HttpRequest& request, AnalysisState state) {
  if (state.state != AnalysisState::State::Ready) return unready_reply(state);
  return result_reply(request, state, state.result->whole());
}

}  // namespace gpufl::server
