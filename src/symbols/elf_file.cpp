// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace gpufl::symbols {
namespace {

constexpr size_t kMaxBuildIdBytes = 64;
constexpr size_t kMaxSymbols = size_t{1} << 25;
// Symbols before an address that are looked at: those in between are aliases and inner labels.
constexpr size_t kMaxOverlap = 16;

std::string hex(const unsigned char* bytes, size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320u : 0);
    table[i] = value;
  }
  return table;
}();

bool is_code(const GElf_Sym& symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

uint8_t rank_of(const GElf_Sym& symbol) {
  const auto binding = GELF_ST_BIND(symbol.st_info);
  const int rank = binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;
  const bool is_function = GELF_ST_TYPE(symbol.st_info) != STT_NOTYPE;
  return static_cast<uint8_t>(rank + (is_function ? 4 : 0) + (symbol.st_size != 0 ? 8 : 0));
}

}  // namespace

base::Result<std::unique_ptr<ElfFile>> ElfFile::open(const LibdwApi& libdw,
                                                     const std::filesystem::path& path) {
  std::unique_ptr<ElfFile> file(new ElfFile(libdw, path));
  // A path from a log may name anything: no waiting for a pipe, no terminal, no device.
  file->fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file->fd_ < 0) return base::Status::from_errno(errno, path.string());
  struct stat facts{};
  if (fstat(file->fd_, &facts) != 0) return base::Status::from_errno(errno, path.string());
  if (!S_ISREG(facts.st_mode)) {
    return base::Status(base::Code::Corrupt, path.string() + " is not a regular file");
  }
  file->modified_wall_ns_ = int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
  file->elf_ = libdw.elf_begin(file->fd_, ELF_C_READ_MMAP, nullptr);
  GElf_Ehdr header;
  if (file->elf_ == nullptr || libdw.elf_kind(file->elf_) != ELF_K_ELF ||
      libdw.gelf_getehdr(file->elf_, &header) == nullptr) {
    return base::Status(base::Code::Corrupt, path.string() + " is not an ELF file");
  }
  file->build_id_ = file->read_build_id();
  return file;
}

ElfFile::~ElfFile() {
  if (elf_ != nullptr) libdw_.elf_end(elf_);
  if (fd_ >= 0) ::close(fd_);
}

std::string ElfFile::build_id_in(Elf_Data* notes) const {
  if (notes == nullptr) return {};
  GElf_Nhdr note;
  size_t name = 0, description = 0, offset = 0;
  while ((offset = libdw_.gelf_getnote(notes, offset, &note, &name, &description)) > 0) {
    const auto* bytes = static_cast<const unsigned char*>(notes->d_buf);
    const bool is_gnu = note.n_namesz == 4 && std::memcmp(bytes + name, "GNU", 4) == 0;
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID && note.n_descsz > 0 &&
        note.n_descsz <= kMaxBuildIdBytes) {
      return hex(bytes + description, note.n_descsz);
    }
  }
  return {};
}

// Sections first: the segments of a file that holds only debug information point to nothing.
std::string ElfFile::read_build_id() const {
  for (Elf_Scn* section = nullptr; (section = libdw_.elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (libdw_.gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_NOTE) continue;
    std::string found = build_id_in(libdw_.elf_getdata(section, nullptr));
    if (!found.empty()) return found;
  }
  size_t count = 0;
  if (libdw_.elf_getphdrnum(elf_, &count) != 0) return {};
  for (size_t i = 0; i < std::min<size_t>(count, 1024); ++i) {
    GElf_Phdr header;
    if (libdw_.gelf_getphdr(elf_, static_cast<int>(i), &header) == nullptr) break;
    if (header.p_type != PT_NOTE) continue;
    std::string found = build_id_in(
        libdw_.elf_getdata_rawchunk(elf_, static_cast<int64_t>(header.p_offset), header.p_filesz,
                                    header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR));
    if (!found.empty()) return found;
  }
  return {};
}

std::optional<ElfFile::DebugLink> ElfFile::debug_link() const {
  size_t names = 0;
  if (libdw_.elf_getshdrstrndx(elf_, &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = libdw_.elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (libdw_.gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = libdw_.elf_strptr(elf_, names, header.sh_name);
    if (name == nullptr || std::string_view(name) != ".gnu_debuglink") continue;
    const Elf_Data* data = libdw_.elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    // The file's name, its zero, padding to four bytes, and a checksum.
    const auto* text = static_cast<const char*>(data->d_buf);
    const size_t length = strnlen(text, data->d_size);
    const size_t crc_at = (length + 4) & ~size_t{3};
    DebugLink link{std::string(text, length), 0};
    // A name with folders in it would lead out of those that are searched.
    if (length == 0 || crc_at + 4 > data->d_size || link.name.find('/') != std::string::npos) {
      return {};
    }
    std::memcpy(&link.crc, text + crc_at, sizeof(link.crc));
    return link;
  }
  return {};
}

uint32_t ElfFile::crc() const {
  uint32_t value = 0xFFFFFFFFu;
  std::vector<unsigned char> buffer(size_t{1} << 16);
  off_t offset = 0;
  while (true) {
    const ssize_t got = ::pread(fd_, buffer.data(), buffer.size(), offset);
    if (got <= 0) break;
    offset += got;
    for (ssize_t i = 0; i < got; ++i) {
      value = kCrcTable[(value ^ buffer[static_cast<size_t>(i)]) & 255] ^ (value >> 8);
    }
  }
  return ~value;
}

void ElfFile::read_symbols(Elf_Scn* section, const GElf_Shdr& header) {
  Elf_Data* data = libdw_.elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  const size_t count = std::min<size_t>(data->d_size / header.sh_entsize, kMaxSymbols);
  uint64_t last_section = SHN_UNDEF, section_end = 0;
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (libdw_.gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE || !is_code(symbol) ||
        symbol.st_name == 0) {
      continue;
    }
    if (symbol.st_shndx != last_section) {
      GElf_Shdr code;
      Elf_Scn* holder = libdw_.elf_getscn(elf_, symbol.st_shndx);
      last_section = symbol.st_shndx;
      const bool is_executable = holder != nullptr &&
                                 libdw_.gelf_getshdr(holder, &code) != nullptr &&
                                 (code.sh_flags & SHF_EXECINSTR) != 0;
      section_end = is_executable ? code.sh_addr + code.sh_size : 0;
    }
    if (symbol.st_value >= section_end) continue;
    const bool is_sized = symbol.st_size != 0;
    const uint64_t size = std::min(symbol.st_size, section_end - symbol.st_value);
    symbols_.push_back({symbol.st_value, is_sized ? symbol.st_value + size : section_end,
                        symbol.st_name, header.sh_link, rank_of(symbol), is_sized});
  }
}

void ElfFile::read_symbols() {
  symbols_read_ = true;
  for (Elf_Scn* section = nullptr; (section = libdw_.elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (libdw_.gelf_getshdr(section, &header) == nullptr) continue;
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
      read_symbols(section, header);
    }
  }
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.rank > b.rank;
  });
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                             [](const Symbol& a, const Symbol& b) { return a.begin == b.begin; }),
                 symbols_.end());
  for (size_t i = 0; i + 1 < symbols_.size(); ++i) {
    if (!symbols_[i].is_sized) symbols_[i].end = std::min(symbols_[i].end, symbols_[i + 1].begin);
  }
}

bool ElfFile::has_symbols() {
  if (!symbols_read_) read_symbols();
  return !symbols_.empty();
}

std::string ElfFile::find_symbol(uint64_t address) {
  if (!symbols_read_) read_symbols();
  const auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](uint64_t wanted, const Symbol& symbol) { return wanted < symbol.begin; });
  const auto count = std::min<ptrdiff_t>(after - symbols_.begin(), kMaxOverlap);
  for (auto at = after; at != after - count;) {
    --at;
    if (address >= at->end) continue;
    const char* name = libdw_.elf_strptr(elf_, at->strings, at->name);
    return name != nullptr ? name : std::string();
  }
  return {};
}

}  // namespace gpufl::symbols
