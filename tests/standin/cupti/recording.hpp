// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

// What passed between CUPTI and a tool, in a file: buffers of records with their pointers taken
// out, and callbacks, in the order in which they came. Read and written on the machines that x86-64
// and CUPTI have in common: little-endian, 64 bits. For tests: nothing here ships.
//
//   file:  "GPUFLCUP", u32 format (1), u32 version of CUPTI, chunks
//   chunk: u32 type, u32 bytes, payload, zeros up to 8 bytes
namespace gpufl::standin {

enum class Chunk : uint32_t {
  Size = 1,      // u32 kind, u32 bytes: before the first record of that kind
  String = 2,    // text; strings are numbered from 1
  Buffer = 3,    // records; a pointer to a name is the string's number, other pointers are 0
  Callback = 4,  // RecordedCallback, as they came since the chunk before
};

struct RecordedCallback {
  uint32_t domain, id, site, correlation, context, thread;
  int32_t result;  // at exit
  uint32_t reserved;
};
static_assert(sizeof(RecordedCallback) == 32);

// Where a record holds a pointer to a string; 0: nowhere.
size_t name_offset(uint32_t kind);
// Where it holds other pointers: they mean nothing elsewhere.
std::vector<size_t> pointer_offsets(uint32_t kind);
// Where it holds times of CUPTI's clock.
std::vector<size_t> time_offsets(uint32_t kind);

// Any thread.
class RecordingWriter {
 public:
  // nullptr on failure, with errno.
  static RecordingWriter* create(const char* path, uint32_t cupti_version);

  void callback(const RecordedCallback& callback);
  // `next(record)` is the record behind it, or the buffer's end; null gives the first one.
  void buffer(const uint8_t* data, size_t bytes,
              const std::function<const uint8_t*(const uint8_t*)>& next);
  void flush();

 private:
  explicit RecordingWriter(FILE* file) : file_(file) {}
  void write(Chunk type, const void* data, size_t bytes);
  void write_callbacks();
  uint64_t string_number(const char* text);

  std::mutex mutex_;
  FILE* file_;
  std::map<std::string, uint64_t, std::less<>> strings_;
  std::map<uint32_t, uint32_t> sizes_;
  std::vector<RecordedCallback> callbacks_;
};

// A whole recording, in memory. Strings live as long as it does: records point to them.
struct Recording {
  struct Step {
    std::vector<RecordedCallback> callbacks;
    std::vector<uint64_t> buffer;  // words, because records are aligned to 8 bytes
  };
  uint32_t cupti_version = 0;
  std::map<uint32_t, uint32_t> sizes;  // of records, by kind
  std::vector<std::string> strings;
  std::vector<Step> steps;  // callbacks, then the buffer behind them
  uint64_t first_ns = 0, last_ns = 0;

  // False: the file is not there, or is not one.
  static bool read(const char* path, Recording& out);
  // Calls visit(record, kind, bytes) for each record of a buffer.
  void for_each(std::vector<uint64_t>& buffer,
                const std::function<void(uint8_t*, uint32_t, size_t)>& visit) const;
};

}  // namespace gpufl::standin
