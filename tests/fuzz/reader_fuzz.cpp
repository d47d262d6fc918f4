// SPDX-License-Identifier: Apache-2.0
// Bytes that nobody meant to be a log, given to everything that reads one. The first byte of an
// input says what the rest is:
//   l  one line: a batch of any kind, a JSON document, a file name
//   L  a live file          R  a raw window
//   Z  a sealed file        C  the text inside a sealed file
//   M  the manifest
// The files go into a session in memory (/dev/shm) whose other files are sound; it is then read,
// printed and verified.
#include <stdlib.h>
#include <zstd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "format/batch_codec.hpp"
#include "format/flat_row.hpp"
#include "format/ledger.hpp"
#include "format/manifest.hpp"
#include "format/seal.hpp"
#include "format/session_files.hpp"
#include "format/session_header.hpp"
#include "format/session_reader.hpp"
#include "format/verify.hpp"

namespace gpufl::format {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSessionLine =
    R"({"type":"session","format":1,"session_id":"20261115T034512Z-1f2e3d4c5b6a7988",)"
    R"("start_wall_ns":"1794714312000000000","start_monotonic_ns":"86400000000000"})"
    "\n";

const fs::path& session_dir() {
  static const fs::path dir = [] {
    std::string pattern = "/dev/shm/gpufl_fuzz_XXXXXX";
    const fs::path made = mkdtemp(pattern.data());
    static const struct Cleaner {
      fs::path path;
      ~Cleaner() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
      }
    } cleaner{made};
    return made;
  }();
  return dir;
}

void write_file(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string compressed(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

struct FlatVisitor final : Visitor {
  FlatRows rows;
  std::string text;
  void on_batch(const Batch& batch, const Dictionaries& dictionaries) override {
    text.clear();
    rows.append(batch, dictionaries, text);
  }
  void on_object(Kind kind, const base::Json& line) override {
    text.clear();
    rows.append(kind, line, text);
    if (kind == Kind::Ledger) static_cast<void>(Ledger::from_json(line).to_json().dump());
  }
};

void read_session() {
  const auto reader = SessionReader::open(session_dir());
  if (reader) {
    FlatVisitor visitor;
    reader->read(visitor);
  }
  static_cast<void>(verify_session(session_dir()).to_json().dump());
}

void check_round_trip(const Batch& batch, BatchCodec& codec) {
  std::string again;
  codec.encode(batch, again);
  Batch back(batch.kind());
  for (size_t begin = 0, row = 0; begin < again.size();) {
    const size_t end = again.find('\n', begin);
    if (!codec.decode(std::string_view(again).substr(begin, end - begin), back)) abort();
    for (size_t column = 0; column < batch.kind_spec().columns.size(); ++column) {
      if (batch.has(column) != back.has(column)) abort();
      for (size_t i = 0; batch.has(column) && i < back.rows(); ++i) {
        if (back.column(column)[i] != batch.column(column)[row + i]) abort();
      }
    }
    row += back.rows();
    begin = end + 1;
  }
}

void read_line(std::string_view line) {
  static_cast<void>(parse_file_name(line.substr(0, 64)));
  if (const auto json = base::Json::parse(line)) {
    const auto again = base::Json::parse(json->dump());
    if (!again || again->dump() != json->dump()) abort();
    static_cast<void>(SessionHeader::from_json(*json));
    static_cast<void>(ManifestEntry::from_json(*json));
  }
  const KindSpec* kind = find_kind(line_type(line));
  if (kind == nullptr || !kind->is_batch()) return;
  BatchCodec codec;
  Batch batch(kind->kind);
  if (codec.decode(line, batch) && !batch.empty()) check_round_trip(batch, codec);
}

void read_file(char form, std::string_view bytes) {
  const fs::path& dir = session_dir();
  for (const auto& entry : fs::directory_iterator(dir)) fs::remove(entry.path());
  std::string manifest(kSessionLine);
  if (form == 'M') manifest.assign(bytes);
  write_file(dir / "manifest.ndjson", manifest);
  write_file(dir / "system.log", kSessionLine);
  if (form == 'L') write_file(dir / "device.log", bytes);
  if (form == 'R') {
    write_file(dir / "device.1.log", bytes);
    static_cast<void>(seal_window(dir / "device.1.log", dir / "device.1.log.zst"));
  }
  if (form == 'Z') write_file(dir / "device.1.log.zst", bytes);
  if (form == 'C') write_file(dir / "device.1.log.zst", compressed(bytes));
  read_session();
}

}  // namespace
}  // namespace gpufl::format

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const char form = static_cast<char>(data[0]);
  if (form == 'l') {
    gpufl::format::read_line(bytes);
  } else if (std::string_view("LRZCM").find(form) != std::string_view::npos) {
    gpufl::format::read_file(form, bytes);
  }
  return 0;
}
