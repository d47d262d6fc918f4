// SPDX-License-Identifier: Apache-2.0
#include "tests/standin/cupti/recording.hpp"

#include <cupti.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace gpufl::standin {
namespace {

constexpr char kMagic[8] = {'G', 'P', 'U', 'F', 'L', 'C', 'U', 'P'};
constexpr uint32_t kFormat = 1;

struct ChunkHead {
  uint32_t type, bytes;
};

template <typename Value>
Value value_at(const uint8_t* record, size_t offset) {
  Value value{};
  std::memcpy(&value, record + offset, sizeof value);
  return value;
}

template <typename Value>
void put_at(uint8_t* record, size_t offset, Value value) {
  std::memcpy(record + offset, &value, sizeof value);
}

}  // namespace

size_t name_offset(uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return offsetof(CUpti_ActivityKernel9, name);
    case CUPTI_ACTIVITY_KIND_MEMORY2: return offsetof(CUpti_ActivityMemory3, name);
    case CUPTI_ACTIVITY_KIND_DEVICE: return offsetof(CUpti_ActivityDevice4, name);
    default: return 0;
  }
}

std::vector<size_t> pointer_offsets(uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return {offsetof(CUpti_ActivityKernel9, reserved0),
              offsetof(CUpti_ActivityKernel9, pAccessPolicyWindow)};
    case CUPTI_ACTIVITY_KIND_MEMCPY: return {offsetof(CUpti_ActivityMemcpy5, reserved0)};
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return {offsetof(CUpti_ActivityMemcpyPtoP4, reserved0)};
    case CUPTI_ACTIVITY_KIND_MEMSET: return {offsetof(CUpti_ActivityMemset4, reserved0)};
    case CUPTI_ACTIVITY_KIND_MEMORY2: return {sizeof(CUpti_ActivityMemory3)};        // source, 12.9
    case CUPTI_ACTIVITY_KIND_OVERHEAD: return {sizeof(CUpti_ActivityOverhead) + 8};  // data, 12.9
    default: return {};
  }
}

std::vector<size_t> time_offsets(uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return {offsetof(CUpti_ActivityKernel9, start), offsetof(CUpti_ActivityKernel9, end),
              offsetof(CUpti_ActivityKernel9, queued), offsetof(CUpti_ActivityKernel9, submitted)};
    case CUPTI_ACTIVITY_KIND_MEMCPY:
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return {offsetof(CUpti_ActivityMemset4, start), offsetof(CUpti_ActivityMemset4, end)};
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return {offsetof(CUpti_ActivitySynchronization, start),
              offsetof(CUpti_ActivitySynchronization, end)};
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return {offsetof(CUpti_ActivityAPI, start), offsetof(CUpti_ActivityAPI, end)};
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return {offsetof(CUpti_ActivityOverhead, start), offsetof(CUpti_ActivityOverhead, end)};
    case CUPTI_ACTIVITY_KIND_MEMORY2: return {offsetof(CUpti_ActivityMemory3, timestamp)};
    default: return {};
  }
}

RecordingWriter* RecordingWriter::create(const char* path, uint32_t cupti_version) {
  FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return nullptr;
  const uint32_t head[] = {kFormat, cupti_version};
  std::fwrite(kMagic, sizeof kMagic, 1, file);
  std::fwrite(head, sizeof head, 1, file);
  return new RecordingWriter(file);
}

void RecordingWriter::write(Chunk type, const void* data, size_t bytes) {
  const ChunkHead head{static_cast<uint32_t>(type), static_cast<uint32_t>(bytes)};
  constexpr uint64_t kZeros = 0;
  std::fwrite(&head, sizeof head, 1, file_);
  std::fwrite(data, bytes, 1, file_);
  std::fwrite(&kZeros, (8 - bytes % 8) % 8, 1, file_);
}

void RecordingWriter::write_callbacks() {
  if (callbacks_.empty()) return;
  write(Chunk::Callback, callbacks_.data(), callbacks_.size() * sizeof callbacks_[0]);
  callbacks_.clear();
}

uint64_t RecordingWriter::string_number(const char* text) {
  if (text == nullptr) return 0;
  const auto [found, is_new] = strings_.try_emplace(text, strings_.size() + 1);
  if (is_new) write(Chunk::String, text, std::strlen(text));
  return found->second;
}

void RecordingWriter::callback(const RecordedCallback& callback) {
  const std::lock_guard lock(mutex_);
  callbacks_.push_back(callback);
}

void RecordingWriter::buffer(const uint8_t* data, size_t bytes,
                             const std::function<const uint8_t*(const uint8_t*)>& next) {
  const std::lock_guard lock(mutex_);
  write_callbacks();
  std::vector<uint8_t> copy(data, data + bytes);
  for (const uint8_t* record = next(nullptr); record != data + bytes;) {
    const uint8_t* const behind = next(record);
    const auto kind = value_at<uint32_t>(record, 0);
    const auto size = static_cast<uint32_t>(behind - record);
    if (sizes_.try_emplace(kind, size).second) {
      const uint32_t entry[] = {kind, size};
      write(Chunk::Size, entry, sizeof entry);
    }
    uint8_t* const place = copy.data() + (record - data);
    if (const size_t name = name_offset(kind)) {
      put_at(place, name, string_number(value_at<const char*>(record, name)));
    }
    for (const size_t pointer : pointer_offsets(kind)) {
      if (pointer + sizeof(void*) <= size) put_at(place, pointer, uint64_t{0});
    }
    record = behind;
  }
  write(Chunk::Buffer, copy.data(), copy.size());
}

void RecordingWriter::flush() {
  const std::lock_guard lock(mutex_);
  write_callbacks();
  std::fflush(file_);
}

void Recording::for_each(std::vector<uint64_t>& buffer,
                         const std::function<void(uint8_t*, uint32_t, size_t)>& visit) const {
  auto* const begin = reinterpret_cast<uint8_t*>(buffer.data());
  uint8_t* const end = begin + buffer.size() * sizeof(uint64_t);
  for (uint8_t* record = begin; record < end;) {
    const auto kind = value_at<uint32_t>(record, 0);
    const auto size = sizes.find(kind);
    if (size == sizes.end() || size->second > static_cast<size_t>(end - record)) return;
    visit(record, kind, size->second);
    record += size->second;
  }
}

bool Recording::read(const char* path, Recording& out) {
  FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  char magic[sizeof kMagic];
  uint32_t head[2];
  bool is_good = std::fread(magic, sizeof magic, 1, file) == 1 &&
                 std::fread(head, sizeof head, 1, file) == 1 &&
                 std::memcmp(magic, kMagic, sizeof magic) == 0 && head[0] == kFormat;
  if (is_good) out.cupti_version = head[1];
  Step step;
  for (ChunkHead chunk{}; is_good && std::fread(&chunk, sizeof chunk, 1, file) == 1;) {
    std::vector<uint64_t> words((chunk.bytes + 7) / 8);
    is_good = words.empty() || std::fread(words.data(), words.size() * 8, 1, file) == 1;
    if (!is_good) break;
    const auto* const bytes = reinterpret_cast<const uint8_t*>(words.data());
    switch (static_cast<Chunk>(chunk.type)) {
      case Chunk::Size:
        out.sizes[value_at<uint32_t>(bytes, 0)] = value_at<uint32_t>(bytes, 4);
        break;
      case Chunk::String:
        out.strings.emplace_back(reinterpret_cast<const char*>(bytes), chunk.bytes);
        break;
      case Chunk::Callback:
        step.callbacks.resize(chunk.bytes / sizeof(RecordedCallback));
        std::memcpy(step.callbacks.data(), bytes, step.callbacks.size() * sizeof(RecordedCallback));
        break;
      case Chunk::Buffer:
        step.buffer = std::move(words);
        out.steps.push_back(std::move(step));
        step = {};
        break;
    }
  }
  std::fclose(file);
  if (!step.callbacks.empty()) out.steps.push_back(std::move(step));
  for (Step& one : out.steps) {
    out.for_each(one.buffer, [&](uint8_t* record, uint32_t kind, size_t) {
      if (const size_t name = name_offset(kind)) {
        const auto number = value_at<uint64_t>(record, name);
        const bool is_known = number != 0 && number <= out.strings.size();
        put_at(record, name, is_known ? out.strings[number - 1].c_str() : nullptr);
      }
      for (const size_t time : time_offsets(kind)) {
        const auto ns = value_at<uint64_t>(record, time);
        if (ns == 0) continue;
        out.first_ns = out.first_ns == 0 ? ns : std::min(out.first_ns, ns);
        out.last_ns = std::max(out.last_ns, ns);
      }
    });
  }
  return is_good;
}

}  // namespace gpufl::standin
