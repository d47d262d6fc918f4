// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "server/viewer.hpp"

// What a guest's link does not include, taken out of documents that were made for everybody. It
// goes by the names of members, whatever document they are in, so that a new document is covered,
// too; and what was the command line goes wherever it stands. Pure functions; any thread.
namespace gpufl::server {

// `folder`: of the session, which no guest is told.
base::Json without_withheld(const base::Json& document, const Viewer& viewer,
                            std::string_view folder);
// The same of a document as text; of what is not JSON, nothing is left.
std::string text_without_withheld(std::string_view text, const Viewer& viewer,
                                  std::string_view folder);

// A guest as an analysis in a child process is told of them, and back.
base::Json guest_argument(const Viewer& viewer);
Viewer viewer_of_argument(const base::Json& argument);

}  // namespace gpufl::server
