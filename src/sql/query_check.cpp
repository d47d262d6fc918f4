// SPDX-License-Identifier: Apache-2.0
#include "sql/query_check.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

namespace gpufl::sql {
namespace {

// Of DuckDB's table functions those that make rows or tell of the database. The others read files,
// run a text as another query, or turn something on.
constexpr std::array<std::string_view, 20> kHarmless = {"duckdb_columns",
                                                        "duckdb_functions",
                                                        "duckdb_keywords",
                                                        "duckdb_memory",
                                                        "duckdb_settings",
                                                        "duckdb_tables",
                                                        "duckdb_types",
                                                        "duckdb_views",
                                                        "generate_series",
                                                        "histogram",
                                                        "histogram_values",
                                                        "icu_calendar_names",
                                                        "json_each",
                                                        "json_tree",
                                                        "pg_timezone_names",
                                                        "pragma_table_info",
                                                        "pragma_version",
                                                        "range",
                                                        "repeat",
                                                        "unnest"};
// Of the others those that plan a text as another query, or write to DuckDB's own log.
constexpr std::array<std::string_view, 2> kHarmful = {"json_serialize_plan", "write_log"};

template <size_t count>
bool has(const std::array<std::string_view, count>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

base::Status refused(const std::string& name) {
  return {base::Code::InvalidArgument,
          "queries cannot call " + name + "(): it reads or changes something other than sessions"};
}

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Takes the word from the beginning of `text`, if it is there.
bool take_word(std::string_view& text, std::string_view word) {
  std::string_view rest = text;
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  if (lower(rest.substr(0, word.size())) != word) return false;
  rest.remove_prefix(word.size());
  if (rest.empty() || !is_space(rest.front())) return false;
  text = rest;
  return true;
}

// Reads JSON from left to right and keeps the objects that are open, however many they are.
class TreeWalk {
 public:
  TreeWalk(std::string_view text, const std::function<bool(std::string_view)>& is_table)
      : text_(text), is_table_(is_table) {}

  base::Status walk() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        base::Status status = on_text(take_text());
        if (!status) return status;
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') {
        open_.push_back({std::exchange(key_, {}), false});
      } else if (c == '}' || c == ']') {
        if (open_.empty()) return malformed();
        open_.pop_back();
        key_ = {};
      } else if (c == ',') {
        key_ = {};
      }
    }
    return open_.empty() ? base::Status() : malformed();
  }

 private:
  struct Open {
    std::string_view key;  // under which it stands
    bool is_table_function;
  };

  static base::Status malformed() {
    return {base::Code::InvalidArgument, "DuckDB's tree of the query cannot be read"};
  }
  // Between its quotes, as it stands there.
  std::string_view take_text() {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const std::string_view taken = text_.substr(begin, at_ - begin);
    ++at_;
    return taken;
  }
  base::Status on_text(std::string_view text) {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    if (at_ < text_.size() && text_[at_] == ':') {
      ++at_;
      key_ = text;
      return {};
    }
    if (open_.empty()) return {};
    if (key_ == "type" && text == "TABLE_FUNCTION") open_.back().is_table_function = true;
    if (key_ != "function_name") return {};
    const std::string name = lower(text);
    const bool is_of_table = open_.back().key == "function" && open_.size() > 1 &&
                             open_[open_.size() - 2].is_table_function;
    if (is_of_table && !is_table_(name) && !has(kHarmless, name)) return refused(name);
    return has(kHarmful, name) ? refused(name) : base::Status();
  }

  std::string_view text_;
  const std::function<bool(std::string_view)>& is_table_;
  size_t at_ = 0;
  std::string_view key_;  // of the value that comes next
  std::vector<Open> open_;
};

}  // namespace

base::Status check_tree(std::string_view tree,
                        const std::function<bool(std::string_view)>& is_table) {
  return TreeWalk(tree, is_table).walk();
}

std::string_view without_explain(std::string_view query) {
  std::string_view rest = query;
  if (!take_word(rest, "explain")) return query;
  take_word(rest, "analyze");
  return rest;
}

}  // namespace gpufl::sql
