// SPDX-License-Identifier: Apache-2.0
#include "format/batch_codec.hpp"

#include <algorithm>

#include "format/batch_decoder.hpp"
#include "format/batch_encoder.hpp"
#include "format/line_scanner.hpp"

namespace gpufl::format {

struct BatchCodec::Scratch {
  BatchEncoder encoder;
  BatchDecoder decoder;
};

BatchCodec::BatchCodec() : scratch_(std::make_unique<Scratch>()) {}
BatchCodec::~BatchCodec() = default;

void BatchCodec::encode(const BatchView& rows, std::string& out) {
  // Evenly, so that no short line is left over.
  const size_t lines = std::max<size_t>(1, (rows.rows() + kRowsPerLine - 1) / kRowsPerLine);
  for (size_t i = 0; i < lines; ++i) {
    const size_t first = rows.rows() * i / lines;
    const size_t end = rows.rows() * (i + 1) / lines;
    scratch_->encoder.append_line(rows, first, end - first, out);
  }
}

base::Status BatchCodec::decode(std::string_view line, Batch& out, DecodeStats* stats) {
  DecodeStats ignored;
  return scratch_->decoder.decode(line, out, stats != nullptr ? *stats : ignored);
}

std::string_view line_type(std::string_view line) {
  constexpr std::string_view kStart = "{\"type\":\"";
  if (line.substr(0, kStart.size()) != kStart) return {};
  line.remove_prefix(kStart.size());
  const size_t end = line.find('"');
  return end == std::string_view::npos ? std::string_view() : line.substr(0, end);
}

LineHead line_head(std::string_view line) {
  LineHead head;
  LineScanner scanner(line);
  std::string_view key;
  std::string_view type;
  scanner.expect('{') && scanner.read_string(key) && scanner.expect(':') &&
      scanner.read_string(type) && scanner.expect(',') && scanner.read_string(key) &&
      scanner.expect(':');
  if (scanner.failed() || key != "n" || !scanner.read_integer(head.rows)) return {};
  if (scanner.accept(',') && scanner.read_string(key) && key == "span" && scanner.expect(':')) {
    size_t count = 0;
    head.has_span = scanner.read_integer_list(head.span, 2, count) && count == 2;
  }
  return head;
}

}  // namespace gpufl::format
