// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/catalogue.hpp"

// Which sessions a list shows, in which order, and where its next page begins. A cursor is a place
// in the order and not a number, so that sessions which come or go meanwhile neither repeat nor
// hide others. Pure functions.
namespace gpufl::server {

struct SessionQuery {
  std::string text = {};  // in the name, the command, the host or the id, of any case; empty: all
  std::string state = {}, host = {}, app = {}, engine = {}, run = {};  // empty: any
  std::string sort = "-start";                                         // one of session_sorts()
  size_t limit = 100;
  std::string cursor = {};  // of the page before
};
const std::vector<std::string>& session_sorts();

struct SessionPage {
  std::vector<SessionPtr> sessions;
  size_t matches = 0;       // on all pages
  std::string next_cursor;  // empty: this is the last page
};
// Nothing: the cursor is not one of ours.
std::optional<SessionPage> choose(std::vector<SessionPtr> sessions, const SessionQuery& query);

}  // namespace gpufl::server
