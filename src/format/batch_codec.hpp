// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "format/batch.hpp"
#include "format/batch_view.hpp"
#include "format/decode_stats.hpp"

// A Batch as one NDJSON line, and back: SPEC.md, "Batches". No I/O. Stateless apart from scratch
// memory, so one codec object per thread.
namespace gpufl::format {

class BatchCodec {
 public:
  BatchCodec();
  ~BatchCodec();
  BatchCodec(const BatchCodec&) = delete;
  BatchCodec& operator=(const BatchCodec&) = delete;

  // Appends the line, its newline included: several lines when there are more than 16,384 rows.
  void encode(const Batch& batch, std::string& out) { encode(BatchView(batch), out); }
  void encode(const BatchView& rows, std::string& out);

  // Replaces `out`'s rows. The line has no newline; its "type" is out.kind()'s name. Anything that
  // is not a valid batch is Corrupt, with the byte and the reason, and leaves `out` empty; never
  // reads outside `line`. A line has at most 65,536 rows, which bounds memory.
  base::Status decode(std::string_view line, Batch& out, DecodeStats* stats = nullptr);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

// The value of a line's "type" without parsing the rest; empty when there is none. Writers put it
// first, so this looks at the beginning only.
std::string_view line_type(std::string_view line);

// What the line of a batch says of itself before its columns.
struct LineHead {
  int64_t rows = -1;      // -1: it does not begin as writers begin it
  bool has_span = false;  // the first and the last time of its rows
  int64_t span[2] = {0, 0};
};
LineHead line_head(std::string_view line);

}  // namespace gpufl::format
