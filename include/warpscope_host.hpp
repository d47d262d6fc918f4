// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads what warpscope.cuh recorded: decodes a capture, tells how long things took, writes it for
// Chrome and Perfetto. C++17 and the standard library only; nothing here throws for what a buffer
// holds. Every function is free of state, so any thread may call it.
#include <warpscope/capture.hpp>
#include <warpscope/chrome_trace.hpp>
#include <warpscope/decode.hpp>
#include <warpscope/dialect.hpp>
#include <warpscope/dump.hpp>
#include <warpscope/flows.hpp>
#include <warpscope/names.hpp>
#include <warpscope/perfetto_trace.hpp>
#include <warpscope/problems.hpp>
#include <warpscope/statistics.hpp>
#include <warpscope/trace.hpp>
