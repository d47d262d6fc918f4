// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "base/status.hpp"
#include "import/text_source.hpp"
#include "import/trace.hpp"

// Reads what torch.profiler's export_chrome_trace wrote, event by event: memory follows the rows of
// the trace, not its text. One thread.
namespace gpufl::importing {

using ByteProgress = std::function<void(uint64_t done, uint64_t total)>;

// A trace that ends early is read as far as it is whole, and says so (Trace::truncated). Corrupt:
// it is no JSON, or nothing of it is whole; Unsupported: JSON, but no trace; NotFound: it is empty.
base::Result<Trace> read_torch_trace(TextSource& source, const ByteProgress& progress);

}  // namespace gpufl::importing
