// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

// Views that every query has besides the tables: what people ask most, as SQL that they can start
// from. Constant.
namespace gpufl::sql {

struct View {
  std::string_view name;
  std::string_view sentence;  // for people
  std::string_view query;
};

std::span<const View> views();

}  // namespace gpufl::sql
