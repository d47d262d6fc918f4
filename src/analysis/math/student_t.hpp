// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pure functions; any thread.
namespace gpufl::analysis {

// The value that Student's t exceeds with this probability, below one half.
double student_t_quantile(double upper_tail, double degrees);

}  // namespace gpufl::analysis
