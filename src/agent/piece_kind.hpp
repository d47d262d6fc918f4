// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

// What a session is sent as (docs/design/hosting.md, "What is sent").
namespace gpufl::agent {

enum class PieceKind : uint8_t { Window, Live, Manifest, Symbols, Disassembly, Module };

// As requests name it.
constexpr std::string_view to_string(PieceKind kind) {
  switch (kind) {
    case PieceKind::Window: return "window";
    case PieceKind::Live: return "live";
    case PieceKind::Manifest: return "manifest";
    case PieceKind::Symbols: return "symbols";
    case PieceKind::Disassembly: return "disassembly";
    case PieceKind::Module: break;
  }
  return "module";
}

// Those that later versions replace as a whole.
inline constexpr PieceKind kReplacedKinds[] = {PieceKind::Disassembly, PieceKind::Symbols,
                                               PieceKind::Manifest};

}  // namespace gpufl::agent
