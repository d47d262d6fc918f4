// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.hpp"
#include "base/status.hpp"
#include "net/http_message.hpp"
#include "server/analysis_pool.hpp"
#include "server/catalogue.hpp"
#include "server/routes.hpp"

// Answers that several routes give. Any thread.
namespace gpufl::server {

// With an ETag of its text, and 304 where the client has it.
net::HttpReply json_reply(const net::HttpRequest& request, const base::Json& json);
// What went wrong as a problem: 404 of NotFound, 507 of LimitReached.
net::HttpReply problem_of(const base::Status& status);
net::HttpReply no_such(std::string_view what, std::string_view id);

// The session that the path's {session} names; null: there is none, and no_such() says so.
SessionPtr session_of(const Catalogue& catalogue, const Call& call);

// Of an analysis that is not ready: 202 with how far it is, 503 where too many wait, or why it
// failed.
net::HttpReply unready_reply(const AnalysisState& state);
// The 202 of the table, and its schema.
Answer accepted_answer();
// A part of a result that is ready, with what it was made from in its headers.
net::HttpReply result_reply(const net::HttpRequest& request, AnalysisState& state,
                            const ResultPart& part);
// The whole result, or unready_reply().
net::HttpReply analysis_reply(const net::HttpRequest& request, AnalysisState state);

}  // namespace gpufl::server
