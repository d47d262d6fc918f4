// SPDX-License-Identifier: Apache-2.0
#include "export/table_list.hpp"
#include "parts.hpp"

namespace gpufl::docs {
namespace {

using exporting::ColumnHead;

// A Table of export/session_tables.hpp that keeps what its columns are, by the types that
// python/bindings/frame.hpp gives them.
class Headings {
 public:
  static constexpr bool kIsResolved = true;

  template <typename Column>
  void number(const ColumnHead& head, const Column&) {
    add(head, "int64");
  }
  template <typename Column>
  void number(const ColumnHead& head, const Column&, int64_t) {
    add(head, "Int64");
  }
  template <typename Read>
  void computed(const ColumnHead& head, Read) {
    add(head, "Int64");
  }
  void looked_up(const ColumnHead& head, const std::vector<uint32_t>&,
                 const std::vector<int64_t>&) {
    add(head, "Int64");
  }
  template <typename Column>
  void ids(const ColumnHead& head, const Column&, bool) {
    add(head, "UInt64");
  }
  template <typename Read>
  void reals(const ColumnHead& head, Read) {
    add(head, "float64");
  }
  template <typename Column, typename Text>
  void texts(const ColumnHead& head, const Column&, const Text&) {
    add(head, "category");
  }
  template <typename Key, typename Text>
  void texts_by(const ColumnHead& head, const Key&, const Text&) {
    add(head, "category");
  }
  bool wants(std::string_view) const { return true; }
  void keep(const std::shared_ptr<const void>&) {}

  std::string text() const { return table({"column", "dtype", "unit", "what"}, rows_); }

 private:
  void add(const ColumnHead& head, const char* dtype) {
    std::string meaning(head.meaning);
    for (const format::Word& word : head.words) {
      if (word.word.empty()) continue;
      meaning += (meaning.size() == head.meaning.size() ? ": `" : ", `");
      meaning += std::string(word.word) + "`";
    }
    rows_.push_back({"`" + head.name + "`", dtype, std::string(head.unit), meaning});
  }
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace

std::vector<Part> frames() {
  const analysis::SessionData nothing;
  const timeline::SessionTexts texts(nothing);
  std::vector<Part> parts;
  for (const auto& each : exporting::session_tables<Headings>()) {
    Headings headings;
    each.describe(headings, texts, each.kind);
    parts.push_back({std::string(each.frame), paragraph(each.sentence) + "\n" + headings.text()});
  }
  return parts;
}

}  // namespace gpufl::docs
