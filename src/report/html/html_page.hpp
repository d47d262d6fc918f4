// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/page.hpp"

// A report's parts as the body of an HTML page. Text from a log is escaped. One thread.
namespace gpufl::report {

class HtmlPage : public Page {
 public:
  void heading(std::string_view title, std::string_view remark = {},
               Tone tone = Tone::Plain) override;
  // Those that follow each other are one list.
  void field(std::string_view label, std::string_view value, Tone tone = Tone::Plain) override;
  void paragraph(size_t indent, std::string_view text, Tone tone = Tone::Plain,
                 size_t hanging = 0) override;
  // Can be sorted by the reader, unless its order is a tree's: rows that begin with spaces.
  void table(const TextTable& table) override;
  // A link: the page's script shows that time in the timeline.
  void moment(size_t indent, std::string_view text, int64_t start_ns, int64_t end_ns,
              size_t hanging = 0) override;
  bool has_timeline() const override { return true; }
  bool has_title() const override { return true; }
  // Of the session that is written next, on the timeline's axis.
  void set_offset(int64_t offset_ns) { offset_ns_ = offset_ns; }
  // An element of the page as it is.
  void element(std::string_view html);
  // What is written between the two can be folded away; its headings are not listed.
  void begin_fold(std::string_view title);
  void end_fold();

  struct Anchor {
    std::string id, title;
  };
  // Those that the page's contents list.
  const std::vector<Anchor>& headings() const { return headings_; }
  // The page so far, with everything closed.
  std::string finish();

 private:
  void close_fields();

  std::vector<Anchor> headings_;
  bool in_fields_ = false, in_fold_ = false;
  int64_t offset_ns_ = 0;
};

}  // namespace gpufl::report
