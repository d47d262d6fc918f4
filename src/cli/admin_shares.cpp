// SPDX-License-Identifier: Apache-2.0
#include "cli/admin_shares.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "cli/print.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

using base::Status;
using store::Share;

constexpr int64_t kNsPerMs = 1'000'000;

std::string contents_text(const Share& share) {
  std::string text;
  if (share.with_source) text += ", with source";
  if (share.with_command) text += ", with command line";
  if (share.with_files) text += ", with files";
  return text;
}

std::string state_text(const Share& share) {
  if (share.is_revoked) return ", ended";
  if (share.is_orphan) return ", ended with the rights of " + text::make_harmless(share.made_by);
  return share.is_valid(base::wall_ns() / kNsPerMs) ? "" : ", expired";
}

}  // namespace

Status set_sharing(store::People& people, int64_t workspace, const std::string& word,
                   std::string_view actor) {
  const bool was_on = people.directory()->sharing.contains(workspace);
  const bool is_on = word.empty() ? was_on : word == "on";
  if (!word.empty()) {
    Status done = people.set_sharing(workspace, is_on);
    if (done && is_on != was_on) {
      done = people.audit(workspace, actor,
                          is_on ? "share links turned on" : "share links turned off", "");
    }
    if (!done) return done;
  }
  print(is_on ? "members can share sessions by links\n" : "sessions cannot be shared by links\n");
  return {};
}

Status list_shares(store::People& people, int64_t workspace) {
  const store::DirectoryPtr directory = people.directory();
  std::vector<const Share*> shares;
  for (const auto& [id, share] : directory->shares) {
    if (share.workspace == workspace) shares.push_back(&share);
  }
  std::sort(shares.begin(), shares.end(),
            [](const Share* a, const Share* b) { return a->created_ms < b->created_ms; });
  for (const Share* share : shares) {
    const std::string used =
        share->last_used_ms == 0 ? "never" : text::utc(share->last_used_ms * kNsPerMs);
    print(fmt::format("{} {}{}, by {}, expires {}, last used {}{}\n", share->id,
                      text::make_harmless(share->session), contents_text(*share),
                      text::make_harmless(share->made_by), text::utc(share->expires_ms * kNsPerMs),
                      used, state_text(*share)));
  }
  return {};
}

Status revoke_share(store::People& people, int64_t workspace, const std::string& id,
                    std::string_view actor) {
  const Status done = people.revoke_share(workspace, id);
  return done ? people.audit(workspace, actor, "share link ended", id) : done;
}

}  // namespace gpufl::cli
