// SPDX-License-Identifier: Apache-2.0
#include "bindings/session_frames.hpp"

#include <algorithm>

#include "export/table_list.hpp"

namespace gpufl::python {
namespace {

using Tables = std::vector<exporting::SessionTable<FrameBuilder>>;

const Tables& all_tables() {
  static const Tables tables = exporting::session_tables<FrameBuilder>();
  return tables;
}

}  // namespace

std::vector<std::string_view> frame_names() {
  std::vector<std::string_view> names;
  for (const auto& table : all_tables()) names.push_back(table.frame);
  return names;
}

Frame session_frame(const timeline::SessionTexts& texts, std::string_view name) {
  const auto table = std::find_if(all_tables().begin(), all_tables().end(),
                                  [name](const auto& each) { return each.frame == name; });
  if (table == all_tables().end()) return {};
  FrameBuilder frame(table->rows(texts.tables(), table->kind));
  table->describe(frame, texts, table->kind);
  return frame.finish();
}

}  // namespace gpufl::python
