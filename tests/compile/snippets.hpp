// SPDX-License-Identifier: Apache-2.0
#pragma once

// The examples of the guide and the API reference, as functions; snippets.cpp is C++17, as a user's
// program may be. Each runs inside a session.
namespace gpufl::snippets {

void train_two_batches();
void object_scope();
int lambda_scope();
void benchmark_loop(int& iterations);
void benchmark_without_repeat(int& iterations);
void benchmark_inside_lambda(int& iterations);
void best_practices();
void reference_scopes();
void system_phase();
bool unrecorded_phase();
void control_flow(int& steps);
bool monitor_keeps_types();
void counters();

}  // namespace gpufl::snippets
