// SPDX-License-Identifier: Apache-2.0
#include "symbols/python_frames.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

#include "symbols/address.hpp"
#include "symbols/code_stack.hpp"
#include "symbols/python_lines.hpp"

namespace gpufl::symbols {

namespace {

// Appends one character as UTF-8. False: it does not fit.
bool append_utf8(uint32_t character, std::span<char> buffer, size_t& size) {
  char bytes[4];
  size_t count = 0;
  const auto continuation = [&](int shift) {
    bytes[count++] = static_cast<char>(0x80 | (character >> shift & 0x3f));
  };
  // Python keeps bytes of file names that are no text as lone surrogates, which UTF-8 cannot hold.
  if (character >= 0xd800 && character < 0xe000) character = '?';
  if (character < 0x80) {
    bytes[count++] = static_cast<char>(character);
  } else if (character < 0x800) {
    bytes[count++] = static_cast<char>(0xc0 | character >> 6);
    continuation(0);
  } else if (character < 0x10000) {
    bytes[count++] = static_cast<char>(0xe0 | character >> 12);
    continuation(6);
    continuation(0);
  } else {
    bytes[count++] = static_cast<char>(0xf0 | (character >> 18 & 7));
    continuation(12);
    continuation(6);
    continuation(0);
  }
  if (size + count > buffer.size()) return false;
  std::memcpy(buffer.data() + size, bytes, count);
  size += count;
  return true;
}

template <typename Unit>
std::string_view to_utf8(const char* data, size_t length, std::span<char> buffer) {
  size_t size = 0;
  for (size_t i = 0; i < length; ++i) {
    Unit unit;
    std::memcpy(&unit, data + i * sizeof(unit), sizeof(unit));
    if (!append_utf8(unit, buffer, size)) break;
  }
  return {buffer.data(), size};
}

// Size, beginning and end.
uint64_t fingerprint(const char* data, size_t size) {
  uint64_t head = 0, tail = 0;
  if (size >= sizeof(head)) {
    std::memcpy(&head, data, sizeof(head));
    std::memcpy(&tail, data + size - sizeof(tail), sizeof(tail));
  } else {
    for (size_t i = 0; i < size; ++i) head = head << 8 | static_cast<uint8_t>(data[i]);
  }
  // Turned, because in eight bytes the two are the same.
  return mix_hash(head + size, std::rotl(tail, 23));
}

// The characters of a string object, as the interpreter keeps them.
struct Characters {
  const char* data = nullptr;
  size_t length = 0;
  size_t width = 0;  // bytes of a character; 0: it is none that code objects have
  bool is_ascii = false;

  size_t bytes() const { return length * width; }
};

Characters characters_of(const PythonLayout& layout, const char* object) {
  constexpr uint32_t kCompact = 0x20, kAscii = 0x40;
  const auto state = load_field<uint32_t>(object, layout.text_state);
  // Strings of old C extensions are not compact.
  if ((state & kCompact) == 0) return {};
  const bool is_ascii = (state & kAscii) != 0;
  return {object + (is_ascii ? layout.ascii_data : layout.compact_data),
          static_cast<size_t>(load_field<int64_t>(object, layout.text_length)), state >> 2 & 7,
          is_ascii};
}

// Cut at the buffer's size where it has to be converted.
std::string_view text_of(const Characters& characters, std::span<char> buffer) {
  if (characters.is_ascii) return {characters.data, characters.length};
  switch (characters.width) {
    case 1: return to_utf8<uint8_t>(characters.data, characters.length, buffer);
    case 2: return to_utf8<uint16_t>(characters.data, characters.length, buffer);
    case 4: return to_utf8<uint32_t>(characters.data, characters.length, buffer);
    default: return {};
  }
}

std::span<const uint8_t> line_table_of(const PythonLayout& layout, const char* code) {
  const auto* bytes = load_field<const char*>(code, layout.code_line_table);
  return {reinterpret_cast<const uint8_t*>(bytes + layout.bytes_data),
          static_cast<size_t>(load_field<int64_t>(bytes, layout.bytes_size))};
}

uint64_t fingerprint_of(const PythonLayout& layout, const char* code) {
  const auto* name = load_field<const char*>(code, layout.code_name);
  const Characters characters = characters_of(layout, name);
  const std::span<const uint8_t> table = line_table_of(layout, code);
  return fingerprint(characters.data, characters.bytes()) ^
         fingerprint(reinterpret_cast<const char*>(table.data()), table.size());
}

}  // namespace

uint64_t PythonPlaces::identity_by_texts(const PythonLayout& layout, const char* code,
                                         uint32_t first_line) noexcept {
  const uint64_t texts = mix_hash(load_field<uintptr_t>(code, layout.code_filename),
                                  load_field<uintptr_t>(code, layout.code_name));
  return mix_hash(mix_hash(texts, fingerprint_of(layout, code)), first_line);
}

uint32_t PythonPlaces::intern(const PythonLayout& layout, const char* code,
                              int64_t offset) noexcept {
  const Place place{.code = reinterpret_cast<uintptr_t>(code),
                    .identity = identity_of(layout, code),
                    .offset = offset,
                    .line = 0,
                    .function_text = 0,
                    .file_text = 0,
                    .is_users = false};
  const uint64_t hash = mix_hash(mix_hash(0, place.code), static_cast<uint64_t>(offset));
  const uint32_t known = ids_.find(hash, [&](uint32_t id) { return is_equal(places_[id], place); });
  return known != 0 ? known : add(layout, hash, place);
}

[[gnu::noinline]] uint32_t PythonPlaces::add(const PythonLayout& layout, uint64_t hash,
                                             Place place) noexcept {
  const uint32_t id = ids_.new_id();
  if (id == 0 || places_.size() == 0) return 0;
  char buffer[2048];
  const auto text = [&](uintptr_t object) {
    return texts_.intern(text_of(characters_of(layout, at_address(object)), buffer));
  };
  const char* code = at_address(place.code);
  const auto first_line = load_field<int32_t>(code, layout.code_first_line);
  place.function_text = text(load_field<uintptr_t>(code, layout.code_name));
  place.file_text = text(load_field<uintptr_t>(code, layout.code_filename));
  place.is_users = origin_of_python(texts_.text(place.file_text)) == Origin::User;
  const std::span<const uint8_t> table = line_table_of(layout, code);
  place.line = static_cast<int32_t>(layout.line_table_is_pairs
                                        ? line_in_pairs(table, first_line, place.offset)
                                        : line_in_locations(table, first_line, place.offset));
  places_[id] = place;
  return ids_.publish(hash, id, [&](uint32_t other) { return is_equal(places_[other], place); });
}

PythonPlaces::View PythonPlaces::get(uint32_t id) const noexcept {
  if (id >= places_.size()) return {};
  const Place& place = places_[id];
  return {texts_.text(place.function_text), texts_.text(place.file_text), place.line};
}

bool PythonWalk::next_run(uintptr_t& anchor) {
  // A run may hold as many frames as the recursion limit allows.
  constexpr int kMaxRunFrames = 1 << 16;
  const PythonLayout& layout = runtime_.layout;
  skip_shims();
  if (frame_ == nullptr) return false;
  is_run_over_ = false;
  anchor = UINTPTR_MAX;
  if (layout.entry == PythonLayout::Entry::Shim) {
    const char* frame = frame_;
    for (int i = 0; frame != nullptr && i < kMaxRunFrames; ++i) {
      if (is_shim(frame)) {
        anchor = reinterpret_cast<uintptr_t>(frame);
        break;
      }
      frame = load_field<const char*>(frame, layout.frame_previous);
    }
  } else if (cframe_ != nullptr) {
    anchor = reinterpret_cast<uintptr_t>(cframe_);
    cframe_ = load_field<const char*>(cframe_, layout.cframe_previous);
  }
  return true;
}

bool PythonWalk::is_code(const char* code) const {
  return code != nullptr &&
         load_field<const void*>(code, runtime_.layout.object_type) == runtime_.code_type;
}

int64_t PythonWalk::offset_of(const char* code, uintptr_t instruction) const {
  if (runtime_.layout.instruction_is_index) return static_cast<int64_t>(instruction) * 2;
  return static_cast<int64_t>(
      instruction - reinterpret_cast<uintptr_t>(code + runtime_.layout.code_instructions));
}

bool PythonWalk::next_frame(const char*& code, int64_t& offset) {
  const PythonLayout& layout = runtime_.layout;
  if (is_run_over_ || frame_ == nullptr || is_shim(frame_)) return false;
  const char* frame = frame_;
  uintptr_t instruction = 0;
  leave_frame(code, instruction);
  if (!is_code(code)) {
    frame_ = nullptr;
    return false;
  }
  offset = offset_of(code, instruction);
  is_run_over_ = layout.entry == PythonLayout::Entry::EveryFrame ||
                 (layout.entry == PythonLayout::Entry::Flag &&
                  load_field<uint8_t>(frame, layout.frame_entry) != 0);
  return true;
}

}  // namespace gpufl::symbols
