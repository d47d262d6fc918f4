// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

// The forms in which answers are written. Each use case says which of them it can.
namespace gpufl::workbench {

enum class Format : uint8_t { Text, Json, Markdown, Html, Junit };

std::string_view to_string(Format format);  // "text", "json", "md", "html", "junit"

// InvalidArgument where `word` names none of `known`: the sentence lists them.
base::Result<Format> format_named(std::string_view word, std::span<const Format> known);
// "text, md or json".
std::string listed(std::span<const Format> formats);

}  // namespace gpufl::workbench
