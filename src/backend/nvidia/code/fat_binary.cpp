// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/code/fat_binary.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "backend/nvidia/code/lz4_block.hpp"

namespace gpufl::backend {
namespace {

constexpr uint32_t kMagic = 0xBA55ED50;
constexpr uint16_t kCubin = 2;  // other entries hold PTX
constexpr uint64_t kLz4Flag = 0x2000, kZstdFlag = 0x8000;
constexpr uint64_t kMaxSectionNames = uint64_t{1} << 20;

// The linker leaves gaps between those of several object files.
constexpr uint64_t kAlignment = 8;
constexpr uint64_t kMaxGap = 4096;

struct ContainerHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t bytes;  // behind the header
};

struct EntryHeader {
  uint16_t kind;
  uint16_t version;
  uint32_t header_bytes;
  uint64_t bytes;  // behind the header
  uint32_t packed_bytes;
  uint32_t options;
  uint16_t minor, major;
  uint32_t architecture;
  uint32_t name, name_bytes;
  uint64_t flags;
  uint64_t reserved;
  uint64_t unpacked_bytes;
};
static_assert(sizeof(EntryHeader) == 64);

std::optional<FatCubin> cubin_of(const EntryHeader& entry, uint64_t at) {
  if (entry.kind != kCubin) return {};
  FatCubin cubin{entry.architecture, FatCubin::Packing::None, at + entry.header_bytes, entry.bytes,
                 entry.bytes};
  if ((entry.flags & (kLz4Flag | kZstdFlag)) != 0) {
    cubin.packing =
        (entry.flags & kZstdFlag) != 0 ? FatCubin::Packing::Zstd : FatCubin::Packing::Lz4;
    cubin.packed_bytes = entry.packed_bytes;
    cubin.bytes = entry.unpacked_bytes;
    if (cubin.packed_bytes > entry.bytes) return {};
  }
  if (cubin.bytes == 0 || cubin.bytes > kMaxCubinBytes) return {};
  return cubin;
}

// False: the visitor wants no more.
bool visit_entries(const ReadAt& read, FileRange range,
                   const std::function<bool(const FatCubin&)>& visit) {
  uint64_t at = range.begin;
  EntryHeader entry;
  while (range.end - at >= sizeof(entry) && read(at, &entry, sizeof(entry))) {
    const uint64_t room = range.end - at;
    if (entry.header_bytes < sizeof(entry) || entry.header_bytes > room ||
        entry.bytes > room - entry.header_bytes) {
      return true;
    }
    if (const auto cubin = cubin_of(entry, at); cubin && !visit(*cubin)) return false;
    at += entry.header_bytes + entry.bytes;
  }
  return true;
}

bool is_fat_binary_section(std::string_view name) {
  return name == ".nv_fatbin" || name == "__nv_relfatbin";
}

}  // namespace

ReadAt read_from(std::string_view bytes) {
  return [bytes](uint64_t offset, void* to, size_t count) {
    if (offset > bytes.size() || count > bytes.size() - offset) return false;
    std::memcpy(to, bytes.data() + offset, count);
    return true;
  };
}

std::vector<FileRange> fat_binary_sections(const ReadAt& read) {
  Elf64_Ehdr header;
  if (!read(0, &header, sizeof(header)) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shstrndx >= header.e_shnum) {
    return {};
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read(header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) return {};
  const Elf64_Shdr& texts = sections[header.e_shstrndx];
  std::string names(std::min<uint64_t>(texts.sh_size, kMaxSectionNames), '\0');
  if (!read(texts.sh_offset, names.data(), names.size())) return {};
  std::vector<FileRange> ranges;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_PROGBITS || section.sh_name >= names.size()) continue;
    if (!is_fat_binary_section(names.c_str() + section.sh_name)) continue;
    char last = 0;  // so that nothing larger than the file is believed
    if (section.sh_size == 0 || section.sh_size > UINT64_MAX - section.sh_offset ||
        !read(section.sh_offset + section.sh_size - 1, &last, 1)) {
      continue;
    }
    ranges.push_back({section.sh_offset, section.sh_offset + section.sh_size});
  }
  return ranges;
}

void for_each_cubin(const ReadAt& read, FileRange range,
                    const std::function<bool(const FatCubin&)>& visit) {
  uint64_t at = range.begin, gap = 0;
  ContainerHeader container;
  while (range.end - at >= sizeof(container) && read(at, &container, sizeof(container))) {
    const uint64_t room = range.end - at;
    const bool is_one = container.magic == kMagic && container.header_bytes >= sizeof(container) &&
                        container.header_bytes <= room &&
                        container.bytes <= room - container.header_bytes;
    if (!is_one) {
      gap += kAlignment;
      if (gap > kMaxGap || room < kAlignment) return;
      at += kAlignment;
      continue;
    }
    gap = 0;
    const uint64_t begin = at + container.header_bytes;
    at = begin + container.bytes;
    if (!visit_entries(read, {begin, at}, visit)) return;
    at = std::min(range.end,
                  (at - range.begin + kAlignment - 1) / kAlignment * kAlignment + range.begin);
  }
}

std::string_view CubinUnpacker::unpack(const ReadAt& read, const FatCubin& cubin) {
  if (cubin.bytes > kMaxCubinBytes || cubin.packed_bytes > kMaxCubinBytes) return {};
  std::string& packed = cubin.packing == FatCubin::Packing::None ? image_ : packed_;
  packed.resize(cubin.packed_bytes);
  if (!read(cubin.offset, packed.data(), packed.size())) return {};
  switch (cubin.packing) {
    case FatCubin::Packing::None: return image_;
    case FatCubin::Packing::Lz4:
      return unpack_lz4(packed_, cubin.bytes, image_) ? image_ : std::string_view();
    case FatCubin::Packing::Zstd:
      return zstd_.unpack(packed_, cubin.bytes, image_) ? image_ : std::string_view();
  }
  return {};
}

}  // namespace gpufl::backend
