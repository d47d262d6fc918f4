// SPDX-License-Identifier: Apache-2.0
// Bytes that nobody meant to be a trace, given to the reader of torch.profiler's. The first byte
// says in which pieces the rest is read; what comes out must not depend on it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "import/text_source.hpp"
#include "import/torch_trace.hpp"

namespace gpufl::importing {
namespace {

constexpr size_t kWhole = size_t{1} << 20;

void compare(std::string_view text, size_t piece_bytes) {
  const auto in_pieces = TextSource::of(text, piece_bytes);
  const auto at_once = TextSource::of(text, kWhole);
  const auto a = read_torch_trace(*in_pieces, {});
  const auto b = read_torch_trace(*at_once, {});
  if (a.is_ok() != b.is_ok()) abort();
  if (!a.is_ok()) return;
  if (a->truncated != b->truncated || a->kernels.size() != b->kernels.size() ||
      a->calls.size() != b->calls.size() || a->not_imported != b->not_imported ||
      a->wall_of_zero_ns != b->wall_of_zero_ns) {
    abort();
  }
}

}  // namespace
}  // namespace gpufl::importing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  gpufl::importing::compare(text, size_t{data[0]} + 1);
  return 0;
}
