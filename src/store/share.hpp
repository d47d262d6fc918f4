// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// A link by which guests see one session for a while. Whoever has the link is a guest; what is kept
// of it are hashes. Plain data; any thread.
namespace gpufl::store {

struct Share {
  static constexpr size_t kMostOfWorkspace = 100;  // that count
  static constexpr int64_t kMostHours = 90 * 24;   // of one
  static constexpr int64_t kMostEnded = 200;       // of a workspace, that the list still has

  std::string id = {};  // hexadecimal digits; is no secret, and stands in addresses
  int64_t workspace = 0;
  std::string session = {};   // by the id that its recorder gave it
  bool with_source = false;   // text of the program's code
  bool with_command = false;  // how and where the program was started
  bool with_files = false;    // what was recorded, as it is; that has the others in it
  std::string made_by = {};
  int64_t created_ms = 0;
  int64_t expires_ms = 0;
  int64_t last_used_ms = 0;  // when a guest opened the link; 0: never
  bool is_revoked = false;   // by somebody, or with its session, or with all links of the workspace
  // Who made it is disabled, or may not make links of the workspace any more.
  bool is_orphan = false;
  std::string token_hash = {}, cookie_hash = {};

  bool is_valid(int64_t now_ms) const { return !is_revoked && !is_orphan && now_ms < expires_ms; }
};

// The id in a link's token, "gpfs_", that id and 64 hexadecimal digits more. Empty: it is none.
std::string_view share_of_token(std::string_view token);
// What a guest's browser keeps instead of the token, which cannot be found from it. All guests of
// a link have the same, so that nothing is kept for each.
std::string share_cookie(std::string_view token);

}  // namespace gpufl::store
