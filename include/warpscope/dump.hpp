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

// The largest file that is read.
inline constexpr uint64_t kMaxDumpBytes = uint64_t{4} << 30;

// `error` says why there are no words, or which bytes at the end of the file make no word.
struct Dump {
  std::vector<uint64_t> words;
  std::string error;
  size_t odd_bytes = 0;  // at the end, that make no word
};

// Only a lack of memory throws.
inline Dump read_dump(const std::string& path) {
  static constexpr size_t kPiece = size_t{1} << 17;
  Dump dump;
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
  if (file == nullptr) {
    dump.error = path + ": " + std::strerror(errno);
    return dump;
  }
  const auto fail = [&](const char* why) {
    dump.error = path + ": " + why;
    dump.words.clear();
    return dump;
  };
  constexpr const char* kTooLarge = "larger than 4 GiB, the most that is read";
  // What has no end to seek, such as a pipe, is measured while it is read.
  if (std::fseek(file.get(), 0, SEEK_END) == 0) {
    const auto size = static_cast<uint64_t>(std::max(std::ftell(file.get()), 0L));
    if (size > kMaxDumpBytes) return fail(kTooLarge);
    dump.words.reserve((size + kPiece + 7) / 8);
    if (std::fseek(file.get(), 0, SEEK_SET) != 0) return fail(std::strerror(errno));
  }
  size_t bytes = 0;
  for (size_t got = kPiece; got == kPiece;) {
    if (bytes > kMaxDumpBytes) return fail(kTooLarge);
    dump.words.resize((bytes + kPiece + 7) / 8);
    got = std::fread(reinterpret_cast<char*>(dump.words.data()) + bytes, 1, kPiece, file.get());
    bytes += got;
  }
  if (std::ferror(file.get()) != 0) return fail(std::strerror(errno));
  dump.words.resize(bytes / 8);
  dump.odd_bytes = bytes % 8;
  if (dump.odd_bytes != 0) {
    dump.error = path + ": the last " + std::to_string(dump.odd_bytes) + " bytes make no word";
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

// read_dump and decode_capture. What is wrong with the file is a problem of the trace; of one that
// cannot be read it is the only one.
inline Trace decode_file(const std::string& path, const DecodeOptions& options = {}) {
  const Dump dump = read_dump(path);
  if (!dump.error.empty() && dump.odd_bytes == 0) {
    Trace unreadable;
    unreadable.problems = {{ProblemKind::Unreadable, 1, kNoLane, dump.error}};
    return unreadable;
  }
  Trace trace = decode_capture(dump.words, options);
  if (dump.odd_bytes == 0) return trace;
  // Of the problems that words can have it is the first.
  auto& problems = trace.problems;
  if (problems.empty() || problems.front().kind != ProblemKind::WrongSize) {
    problems.insert(problems.begin(), {ProblemKind::WrongSize, 1, kNoLane, dump.error});
  } else {
    ++problems.front().count;
    problems.front().text = dump.error + "; " + problems.front().text;
  }
  return trace;
}

}  // namespace ws
