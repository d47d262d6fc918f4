// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/compare/group.hpp"

// Sides whose scopes have nothing to do with each other, so that kernels are compared whatever the
// scopes they were launched in. Pure functions.
namespace gpufl::analysis::compare {

bool has_scopes(const Group& group);
// Whether some scope of one has the name of one of the other, wherever it is open; also where
// neither has any.
bool have_scopes_in_common(const Group& a, const Group& b);

// Launches are then those of one configuration in whatever scope.
void leave_scopes_out(Group& group);

}  // namespace gpufl::analysis::compare
