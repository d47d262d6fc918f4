// SPDX-License-Identifier: Apache-2.0
#include "server/withheld.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace gpufl::server {
namespace {

using base::Json;

constexpr std::string_view kInstead = "…";
// How and where a program was started.
constexpr std::array<std::string_view, 6> kTextsOfStart = {"command",   "process", "host",
                                                           "container", "boot_id", "os"};
constexpr std::array<std::string_view, 4> kCode = {"lines", "source", "code", "ptx"};
// Of a command as short as that, the words that are the same would go, too.
constexpr size_t kShortestCommand = 4;

template <size_t kCount>
bool is_one_of(std::string_view name, const std::array<std::string_view, kCount>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_in_path(char c) {
  return static_cast<unsigned char>(c) > ' ' &&
         std::string_view("\"'(),;<>[]{}").find(c) == std::string_view::npos;
}

// "f at /home/me/a.py:6" as "f at a.py:6": folders are those of whoever started the program.
std::string without_folders(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool begins =
        text[at] == '/' && (at == 0 || !is_in_path(text[at - 1]) || text[at - 1] == '=');
    if (!begins) {
      out += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_in_path(text[end])) ++end;
    const std::string_view path = text.substr(at, end - at);
    out += path.substr(path.rfind('/') + (path.size() > 1 ? 1 : 0));
    at = end;
  }
  return out;
}

void find_commands(const Json& value, std::vector<std::string>& found) {
  for (const Json& item : value.items()) find_commands(item, found);
  for (const auto& [name, member] : value.members()) {
    const std::string& text = member.as_string();
    if (name == "command" && text.size() >= kShortestCommand) found.push_back(text);
    find_commands(member, found);
  }
}

class Rest {
 public:
  Rest(const Json& document, const Viewer& viewer, std::string_view folder)
      : viewer_(viewer), folder_(folder) {
    if (!folder.empty()) hidden_.emplace_back(folder);
    if (!viewer.sees_command) find_commands(document, hidden_);
  }

  // `is_code`: of a program, in which a slash may be anything.
  Json of(const Json& value, bool is_code = false) const {
    if (value.is_string()) return is_code ? code_of(value.as_string()) : text_of(value.as_string());
    if (value.is_array()) {
      Json list = Json::array();
      for (const Json& item : value.items()) {
        if (!is_about_start(item)) list.push(of(item, is_code));
      }
      return list;
    }
    if (!value.is_object()) return value;
    Json object = Json::object();
    for (const auto& [name, member] : value.members()) {
      object.set(text_of(name), member_of(value, name, member));
    }
    return object;
  }

 private:
  std::string text_of(const std::string& text) const {
    return viewer_.sees_command ? code_of(text) : without_folders(code_of(text));
  }
  std::string code_of(std::string text) const {
    if (text == folder_) return {};
    for (const std::string& hidden : hidden_) {
      for (size_t at = 0; (at = text.find(hidden, at)) != std::string::npos;) {
        text.replace(at, hidden.size(), kInstead);
        at += kInstead.size();
      }
    }
    return text;
  }

  // Variables of the environment that were passed over.
  bool is_about_start(const Json& item) const {
    return !viewer_.sees_command && item["name"].as_string() == "option_warning";
  }

  Json member_of(const Json& object, std::string_view name, const Json& member) const {
    if (!viewer_.sees_command) {
      if (member.is_string() && is_one_of(name, kTextsOfStart)) return "";
      if (member.is_array() && name == "hosts") return Json::array();
      if (member.is_integer() && name == "pid") return 0;
      // A line of a file. What is asked about it, its label does, too.
      if (name == "full_name" && member.as_string().starts_with('/')) {
        return text_of(object["label"].is_string() ? object["label"].as_string()
                                                   : last_part(member.as_string()));
      }
      // Folders are those of the one who started it.
      const bool is_file = name == "file" || name == "module" ||
                           (name == "path" && object["lines"].is_array());  // of a source text
      if (member.is_string() && is_file) {
        return text_of(last_part(member.as_string()));
      }
    }
    if (!viewer_.sees_source) {
      if (member.is_array() && (name == "sources" || name == "ptx")) return Json::array();
      const bool is_line = object.find("line") != nullptr && object["type"].as_string() != "event";
      if (is_line && member.is_string() && name == "source") return {};
      if (is_line && member.is_string() && name == "code") return "";
    }
    return of(member, is_one_of(name, kCode));
  }

  const Viewer& viewer_;
  const std::string_view folder_;
  std::vector<std::string> hidden_;
};

}  // namespace

Json without_withheld(const Json& document, const Viewer& viewer, std::string_view folder) {
  return Rest(document, viewer, folder).of(document);
}

std::string text_without_withheld(std::string_view text, const Viewer& viewer,
                                  std::string_view folder) {
  const auto document = Json::parse(text);
  if (!document) return "{}\n";
  return without_withheld(*document, viewer, folder).dump() + "\n";
}

Json guest_argument(const Viewer& viewer) {
  return Json::object()
      .set("session", viewer.session)
      .set("sees_source", viewer.sees_source)
      .set("sees_command", viewer.sees_command);
}

Viewer viewer_of_argument(const Json& argument) {
  return {.session = argument["session"].as_string(),
          .sees_source = argument["sees_source"].as_bool(),
          .sees_command = argument["sees_command"].as_bool(),
          .sees_files = false};
}

}  // namespace gpufl::server
