// SPDX-License-Identifier: Apache-2.0
#include "format/schema.hpp"

#include <algorithm>
#include <array>

#include "format/kind_columns.hpp"

namespace gpufl::format {
namespace {

constexpr std::array<KindSpec, kKindCount> kKinds = {{
#define GPUFL_OBJECT(Id, name, channel) {Kind::Id, #name, Channel::channel, {}, {}, {}, {}},
#define GPUFL_KIND(Id, name, channel, file, frame, sentence) \
  {Kind::Id, #name, Channel::channel, kColumnsOf<Kind::Id>, file, frame, sentence},
#include "format/kinds.def"
}};

// A row may lack what is not required: the description says what that means.
constexpr bool says_what_absence_means(const ColumnSpec& column) {
  return column.required || column.absence != Absence::Impossible;
}
static_assert(std::all_of(kKinds.begin(), kKinds.end(), [](const KindSpec& kind) {
  return std::all_of(kind.columns.begin(), kind.columns.end(), says_what_absence_means);
}));

}  // namespace

std::string_view to_string(Channel channel) {
  constexpr std::string_view kNames[kChannelCount] = {"device", "scope", "system", "code"};
  return kNames[static_cast<size_t>(channel)];
}

std::string_view to_string(Dict dict) {
  constexpr std::string_view kNames[kDictCount] = {"none",   "name",  "text", "metric",
                                                   "config", "stack", "frame"};
  return kNames[static_cast<size_t>(dict)];
}

const KindSpec& spec(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

const KindSpec* find_kind(std::string_view name) {
  for (const KindSpec& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

size_t duration_of(const KindSpec& kind, size_t time_column) {
  const size_t next = time_column + 1;
  if (kind.columns[time_column].type != ColumnType::Time || next >= kind.columns.size() ||
      kind.columns[next].type != ColumnType::Duration) {
    return kNoColumn;
  }
  return next;
}

size_t first_time(const KindSpec& kind) {
  for (size_t i = 0; i < kind.columns.size(); ++i) {
    if (kind.columns[i].type == ColumnType::Time) return i;
  }
  return kNoColumn;
}

}  // namespace gpufl::format
