// SPDX-License-Identifier: Apache-2.0
// Bytes that a sender says are a piece of a session, given to all that a server looks at them with
// before it keeps them: as a file of each kind, as live lines, packed and plain, and as both sides
// of the comparison of a sealed window with its lines. Whatever they are, looking ends in bounded
// memory, and what is accepted is what readers can rely on.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "net/compression.hpp"
#include "store/piece.hpp"

namespace gpufl::store {
namespace {

constexpr size_t kMostText = size_t{1} << 20;
// A piece claims to be of the session that its bytes name, so that more than the first line is
// read.
constexpr std::string_view kIdMember = "\"session_id\":\"";

void require(bool holds) {
  if (!holds) std::abort();
}

class InMemory : public IncomingBlob {
 public:
  explicit InMemory(std::string_view bytes)
      : file_(::memfd_create("piece", MFD_CLOEXEC)),
        size_(bytes.size()),
        path_("/proc/self/fd/" + std::to_string(file_)) {
    require(file_ >= 0 &&
            ::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  ~InMemory() override { ::close(file_); }

  base::Status append(std::string_view) override { return {}; }
  base::Status sync() override { return {}; }
  uint64_t size() const override { return size_; }
  const std::filesystem::path& path() const override { return path_; }

 private:
  const int file_;
  const uint64_t size_;
  const std::filesystem::path path_;
};

std::string id_in(std::string_view text) {
  const size_t at = text.find(kIdMember);
  if (at == std::string_view::npos) return {};
  const std::string_view id = text.substr(at + kIdMember.size());
  return std::string(id.substr(0, id.find('"')));
}

Piece piece_of(PieceKind kind, std::string_view text) {
  Piece piece;
  piece.workspace = 1;
  piece.kind = kind;
  piece.session = id_in(text);
  piece.channel = text.find("\"channel\":\"system\"") != std::string_view::npos
                      ? format::Channel::System
                      : format::Channel::Device;
  piece.number = 1;
  piece.version = 1;
  piece.hash = "0123456789abcdef";
  return piece;
}

bool takes_lines(std::string_view text, uint64_t offset, bool is_final) {
  Piece piece = piece_of(PieceKind::Live, text);
  piece.offset = offset;
  piece.is_final = is_final;
  piece.text = text;
  return static_cast<bool>(check_live_text(piece));
}

void look_at_lines(std::string_view text) {
  const bool is_taken = takes_lines(text, 0, false);
  require(!is_taken || (text.ends_with('\n') && takes_lines(text, 0, true)));
  (void)takes_lines(text, text.size(), false);
  if (!is_taken) return;
  // As it grows: each half of what is taken whole is taken, too.
  const size_t half = text.find('\n', text.size() / 2);
  if (half + 1 >= text.size()) return;
  require(takes_lines(text.substr(half + 1), half + 1, false));
  Piece begin = piece_of(PieceKind::Live, text);
  begin.text = text.substr(0, half + 1);
  require(static_cast<bool>(check_live_text(begin)));
}

void look_at_files(std::string_view bytes, std::string_view text) {
  for (const PieceKind kind : {PieceKind::Window, PieceKind::Manifest, PieceKind::Module}) {
    Piece piece = piece_of(kind, text);
    piece.blob = std::make_unique<InMemory>(bytes);
    const bool is_taken = static_cast<bool>(check_blob(piece));
    require(!is_taken || kind == PieceKind::Module || !bytes.empty());
    piece.told_sha256 = std::string(64, '0');
    require(!check_blob(piece));
    if (kind != PieceKind::Window) continue;
    const auto same = has_same_rows(piece.blob->path(), piece.blob->path());
    require(!is_taken || (same && *same));
  }
}

}  // namespace
}  // namespace gpufl::store

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpufl;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto unpacked = net::unpack_zstd(bytes, store::kMostText);
  if (unpacked) store::require(unpacked->size() <= store::kMostText);
  const std::string_view text = unpacked ? std::string_view(*unpacked) : bytes;
  store::look_at_lines(text);
  store::look_at_files(bytes, text);
  return 0;
}
