// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "format/batch.hpp"

// A Batch as one NDJSON line, and back: SPEC.md, "Batches". No I/O. Stateless apart from scratch
// memory, so one codec object per thread.
namespace gpufl::format {

struct DecodeStats {
  uint64_t unknown_columns = 0;  // fields this version does not know: skipped
};

class BatchCodec {
 public:
  BatchCodec();
  ~BatchCodec();
  BatchCodec(const BatchCodec&) = delete;
  BatchCodec& operator=(const BatchCodec&) = delete;

  // Appends the line, its newline included.
  void encode(const Batch& batch, std::string& out);

  // Replaces `out`'s rows. The line has no newline; its "type" is out.kind()'s name. Anything that
  // is not a valid batch is Corrupt, with the byte and the reason; never reads outside `line`, and
  // memory stays proportional to the line.
  base::Status decode(std::string_view line, Batch& out, DecodeStats* stats = nullptr);

 private:
  struct Scratch;
  Scratch* scratch_;
};

// The value of a line's "type" without parsing the rest; empty when there is none. Writers put it
// first, so this looks at the beginning only.
std::string_view line_type(std::string_view line);

}  // namespace gpufl::format
