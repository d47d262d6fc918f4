// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "server/figures_json.hpp"
#include "server/opened_index.hpp"
#include "server/replies.hpp"

namespace gpufl::server {
namespace {

constexpr int64_t kMostNames = 10'000;

net::HttpReply list_kernels(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  return index_reply(call.request(), kernels_json(*opened.session, *opened.open.names,
                                                  static_cast<size_t>(call.integer("limit", 100))));
}

net::HttpReply list_scopes(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  return index_reply(call.request(), scopes_json(*opened.session, *opened.open.names,
                                                 static_cast<size_t>(call.integer("limit", 100))));
}

net::HttpReply list_waits(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  return index_reply(call.request(), waits_json(*opened.session));
}

net::HttpReply list_copies(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  return index_reply(call.request(), copies_json(*opened.session, *opened.open.names));
}

net::HttpReply show_health(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  auto text = health_json(*opened.session, *opened.open.names);
  return text ? index_reply(call.request(), std::move(*text)) : problem_of(text.status());
}

net::HttpReply show_ledger(Services& services, const Call& call) {
  OpenedIndex opened = open_index(services, call);
  if (opened.session == nullptr) return std::move(opened.reply);
  auto text = ledger_json(*opened.session);
  return text ? index_reply(call.request(), std::move(*text)) : problem_of(text.status());
}

Parameter limit_parameter(const char* description) {
  return integer("limit", 1, kMostNames, 100, description);
}

}  // namespace

void add_figure_routes(Routes& routes, Services& services) {
  const auto add = [&](const char* path, const char* id, const char* summary,
                       const char* description, const char* schema,
                       const std::vector<Parameter>& parameters, IndexHandler handler,
                       bool is_of_names) {
    add_index_route(routes, services,
                    {path, id, summary, description, schema, parameters, handler, is_of_names});
  };
  add("/kernels", "list_kernels", "Kernels by name, most time first",
      "Kernels with statistics of their durations; relative_error is that of median, p90 and p99.",
      "KernelList", {limit_parameter("Kernels at the most.")}, list_kernels, true);
  add("/scopes", "list_scopes", "Scopes by name, most time first",
      "Scopes with statistics of their durations, and those that are open.", "ScopeList",
      {limit_parameter("Scopes at the most.")}, list_scopes, true);
  add("/waits", "list_waits", "Waits of the host for the GPU, by call",
      "Calls with statistics of how long each blocked the host.", "WaitList", {}, list_waits, true);
  add("/copies", "list_copies", "Copies and memsets",
      "Copies by direction, and memsets: how many, how long, how many bytes.", "CopyList", {},
      list_copies, true);
  add("/health", "show_health", "Readings of GPUs and the host, and events",
      "Of every series how many readings there are, their range and mean, and the last one; the "
      "first 200 events, and how many there are by name.",
      "Health", {}, show_health, false);
  add("/ledger", "show_ledger", "Whether everything is there",
      "The ledger with its verdict, what was asked for and available, and the session's own line.",
      "LedgerAnswer", {}, show_ledger, false);
}

}  // namespace gpufl::server
