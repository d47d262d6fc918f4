// SPDX-License-Identifier: Apache-2.0
#include "report/diff_warps.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::WarpChange;

std::string change_text(const WarpChange& change) {
  if (change.count_a == 0) return "new";
  if (change.count_b == 0) return "gone";
  const std::string size =
      text::duration(change.change_ns() < 0 ? -change.change_ns() : change.change_ns());
  return (change.change_ns() < 0 ? "-" : "+") + size;
}

}  // namespace

void write_warp_changes(Page& page, std::span<const WarpChange> changes, size_t top) {
  if (changes.empty()) return;
  TextTable table{{{"kernel", true},
                   {"group", true},
                   {"event", true},
                   {"mean A"},
                   {"mean B"},
                   {"change"},
                   {"noise", false, 1},
                   {"path A", false, 2},
                   {"path B", false, 2}}};
  const size_t most = top == 0 ? changes.size() : top;
  size_t differ = 0;
  for (const WarpChange& change : changes) {
    if (!change.is_beyond_noise()) continue;
    if (++differ > most) continue;
    table.rows.push_back({change.kernel, change.group, change.event, text::duration(change.mean_a),
                          text::duration(change.mean_b), change_text(change),
                          "+-" + text::duration(change.noise_ns), text::percent(change.path_a),
                          text::percent(change.path_b)});
  }
  page.heading("Inside kernels", fmt::format("{} of {} events differ by more than the noise",
                                             differ, changes.size()));
  if (table.rows.empty()) return;
  page.table(table);
  write_more(page, differ, table.rows.size());
}

base::Json warp_changes_json(std::span<const WarpChange> changes) {
  base::Json list = base::Json::array();
  for (const WarpChange& change : changes) {
    base::Json json = base::Json::object();
    json.set("kernel", change.kernel).set("group", change.group).set("event", change.event);
    json.set("count_a", change.count_a).set("count_b", change.count_b);
    json.set("mean_a_ns", change.mean_a).set("mean_b_ns", change.mean_b);
    json.set("noise_ns", change.noise_ns).set("is_beyond_noise", change.is_beyond_noise());
    json.set("path_share_a", change.path_a).set("path_share_b", change.path_b);
    list.push(std::move(json));
  }
  return list;
}

}  // namespace gpufl::report
