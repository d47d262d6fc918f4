// SPDX-License-Identifier: Apache-2.0
#include "parts.hpp"
#include "workbench/query.hpp"

namespace gpufl::docs {

std::vector<Part> queries() {
  std::vector<Part> parts;
  for (const workbench::QueryTable& from : workbench::query_tables()) {
    std::string text = paragraph(from.sentence) + "\n";
    if (from.has_range) {
      text += paragraph("Also `" + from.name +
                        "(from_ns := …, to_ns := …)`: only rows of that range of time.") +
              "\n";
    }
    if (from.view.empty()) {
      std::vector<std::vector<std::string>> rows;
      for (const auto& column : from.columns) {
        rows.push_back({"`" + column.name + "`", column.type, column.unit, column.meaning});
      }
      text += table({"column", "type", "unit", "what"}, rows);
    } else {
      text += "```sql\n" + from.view + "\n```\n";
    }
    parts.push_back({from.name, text});
  }
  return parts;
}

}  // namespace gpufl::docs
