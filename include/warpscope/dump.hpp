// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <warpscope/decode.hpp>
#include <warpscope/side_block.hpp>
#include <warpscope/trace.hpp>

// Captures in files.
namespace ws {

// `error` says why there are no words, or which bytes at the end of the file make no word.
struct Dump {
  std::vector<uint64_t> words;
  std::string error;
};

inline Dump read_dump(const std::string& path) {
  static constexpr size_t kPiece = size_t{1} << 17;
  Dump dump;
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
  if (file == nullptr) {
    dump.error = path + ": " + std::strerror(errno);
    return dump;
  }
  size_t bytes = 0;
  for (size_t got = kPiece; got == kPiece;) {
    dump.words.resize((bytes + kPiece + 7) / 8);
    got = std::fread(reinterpret_cast<char*>(dump.words.data()) + bytes, 1, kPiece, file.get());
    bytes += got;
  }
  dump.words.resize(bytes / 8);
  if (std::ferror(file.get()) != 0) {
    dump.error = path + ": " + std::strerror(errno);
    dump.words.clear();
  } else if (bytes % 8 != 0) {
    dump.error = path + ": the last " + std::to_string(bytes % 8) + " bytes make no word";
  }
  return dump;
}

// Writes a capture; one with a side block gets the two words behind it that lead a reader there.
inline bool write_dump(const uint64_t* words, size_t n, const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  detail::ProblemTally ignored;
  const detail::CaptureParts parts = detail::find_parts(words, n, ignored);
  const detail::SideBlock side = detail::read_side_block(parts.side, parts.side_words, ignored);
  bool written = std::fwrite(words, sizeof *words, n, file) == n;
  if (side.words != nullptr && words[n - 1] != detail::kSideMagic) {
    const uint64_t ending[] = {side.size, detail::kSideMagic};
    written = written && std::fwrite(ending, sizeof ending, 1, file) == 1;
  }
  return std::fclose(file) == 0 && written;
}

// read_dump and decode_capture. What is wrong with the file is a problem of the trace.
inline Trace decode_file(const std::string& path, const DecodeOptions& options = {}) {
  const Dump dump = read_dump(path);
  Trace trace = decode_capture(dump.words, options);
  if (!dump.error.empty()) {
    const ProblemKind kind = dump.words.empty() ? ProblemKind::Unreadable : ProblemKind::WrongSize;
    trace.problems.insert(trace.problems.begin(), {kind, 1, kNoLane, dump.error});
  }
  return trace;
}

}  // namespace ws
