// SPDX-License-Identifier: Apache-2.0
#include "workbench/answer_format.hpp"

namespace gpufl::workbench {

std::string_view to_string(Format format) {
  switch (format) {
    case Format::Text: return "text";
    case Format::Json: return "json";
    case Format::Markdown: return "md";
    case Format::Html: return "html";
    case Format::Junit: return "junit";
  }
  return "?";
}

std::string listed(std::span<const Format> formats) {
  std::string text;
  for (size_t i = 0; i < formats.size(); ++i) {
    if (i > 0) text += i + 1 < formats.size() ? ", " : " or ";
    text += to_string(formats[i]);
  }
  return text;
}

base::Result<Format> format_named(std::string_view word, std::span<const Format> known) {
  for (const Format format : known) {
    if (word == to_string(format)) return format;
  }
  return base::Status(base::Code::InvalidArgument,
                      "no format '" + std::string(word) + "': " + listed(known));
}

}  // namespace gpufl::workbench
