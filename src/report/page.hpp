// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What the parts of a report are written to: a text for a terminal, or Markdown. Each part is
// written once and looks right in both. Text from a log may be handed over as it is: a page makes
// it harmless. One thread.
namespace gpufl::report {

enum class Tone { Plain, Strong, Good, Warning };

struct TextColumn {
  std::string title;
  bool is_left = false;
  // Where the page is too narrow for all, those with the highest number go first; 0 stays.
  int drop_order = 0;
};

// One column takes what the others leave, and is cut where that is too little.
struct TextTable {
  std::vector<TextColumn> columns;
  std::vector<std::vector<std::string>> rows = {};
  size_t flexible = 0;
  size_t min_flexible = 20;  // others are dropped until it has these, where it needs them

  // Leaves out the columns that say nothing in any row: "-", "unknown", or no text.
  void drop_empty_columns();
};

class Page {
 public:
  virtual ~Page() = default;

  // `remark` follows after ": ".
  virtual void heading(std::string_view title, std::string_view remark = {},
                       Tone tone = Tone::Plain) = 0;
  virtual void field(std::string_view label, std::string_view value, Tone tone = Tone::Plain) = 0;
  // A field whose value is to be copied to a shell: on one line, however long.
  virtual void command(std::string_view label, std::string_view command) { field(label, command); }
  // Wrapped at spaces, and never inside a path; lines after the first are indented by `hanging`
  // more.
  virtual void paragraph(size_t indent, std::string_view text, Tone tone = Tone::Plain,
                         size_t hanging = 0) = 0;
  // From here on, paragraphs and fields are cut after as many lines; 0: they are not. Returns what
  // it was before. A page that has no lines leaves them whole.
  virtual size_t limit_paragraphs(size_t /*lines*/) { return 0; }
  virtual void table(const TextTable& table) = 0;
  // Whether table() has room for the column of that title.
  virtual bool shows(const TextTable& table, std::string_view title) const;
  // A paragraph about a span of the session's time, which a page with a timeline leads to.
  virtual void moment(size_t indent, std::string_view text, int64_t /*start_ns*/,
                      int64_t /*end_ns*/, size_t hanging = 0) {
    paragraph(indent, text, Tone::Plain, hanging);
  }
  virtual bool has_timeline() const { return false; }
  // Whether it names what it reports by itself, as a document does.
  virtual bool has_title() const { return false; }

  // All of it; ends with a newline.
  const std::string& text() const { return text_; }

 protected:
  std::string text_;
};

}  // namespace gpufl::report
