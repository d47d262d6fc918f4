// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Who looks at the sessions of a site: somebody who may see all of them, or a guest, who sees one,
// and of that one not everything. A value; any thread.
namespace gpufl::server {

struct Viewer {
  std::string session = {};  // a guest's only one; empty: whoever looks sees all
  bool sees_source = true;   // text of the program's code
  bool sees_command = true;  // how and where the program was started
  bool sees_files = true;    // what was recorded, as it is: windows and exports
  auto operator<=>(const Viewer&) const = default;

  bool is_guest() const { return !session.empty(); }
  bool sees(std::string_view id) const { return !is_guest() || id == session; }
};

}  // namespace gpufl::server
