// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "parts.hpp"
#include "server/server.hpp"
#include "server/site.hpp"

namespace gpufl::docs {
namespace {

namespace fs = std::filesystem;
using server::Parameter;
using server::Route;

std::string as_code(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string values_of(const Parameter& parameter) {
  if (parameter.type == Parameter::Type::Integer) {
    return std::to_string(parameter.least) + " to " + std::to_string(parameter.most);
  }
  std::string words;
  for (const std::string& word : parameter.choices) {
    words += (words.empty() ? "" : ", ") + as_code(word);
  }
  return words.empty() ? "text" : words;
}

std::string default_of(const Parameter& parameter) {
  if (parameter.is_required) return "required";
  return parameter.fallback.empty() ? "" : as_code(parameter.fallback);
}

std::vector<Part> parts_of(const server::Routes& routes) {
  std::vector<std::vector<std::string>> endpoints, parameters;
  for (const Route& route : routes.all()) {
    std::string types;
    for (const server::Answer& answer : route.answers) {
      const std::string type =
          answer.status == 200 ? as_code(answer.content_type) : std::to_string(answer.status);
      if (types.find(type) == std::string::npos) types += (types.empty() ? "" : ", ") + type;
    }
    endpoints.push_back({route.method + " " + as_code(route.pattern), route.summary, types});
    for (const Parameter& parameter : route.parameters) {
      parameters.push_back({as_code(route.pattern), as_code(parameter.name), values_of(parameter),
                            default_of(parameter), parameter.description});
    }
  }
  return {
      {"endpoints", table({"endpoint", "what", "answers"}, endpoints)},
      {"parameters", table({"endpoint", "parameter", "values", "default", "meaning"}, parameters)}};
}

// The table is made of handlers over services; none of them is called.
template <typename Use>
void with_routes(Use use) {
  std::string folder = (fs::temp_directory_path() / "gpufl_docs_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    std::exit(1);
  }
  {
    const auto cache = server::CacheFolder::open(folder);
    server::AnalysisPool analysis(*cache, {}, {}, nullptr);
    server::IndexPool indexes(cache->subfolder("index"));
    server::SharedWork shared{analysis, *cache, indexes, nullptr};
    const server::Site site(folder, std::chrono::seconds(1), *cache, shared);
    use(site.routes());
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

constexpr size_t kWidth = 100;

// In lines that people can read and compare: what fits on one is on one.
void append_pretty(const base::Json& json, size_t indent, size_t used, std::string& out) {
  const std::string line = json.dump();
  const bool is_object = json.is_object();
  if (used + line.size() <= kWidth || (!is_object && !json.is_array())) {
    out += line;
    return;
  }
  const std::string begin(indent + 2, ' ');
  bool is_first = true;
  const auto next = [&] {
    out += is_first ? "\n" : ",\n";
    is_first = false;
    out += begin;
  };
  out += is_object ? '{' : '[';
  for (const auto& [name, value] : json.members()) {
    next();
    const std::string key = base::Json(name).dump() + ": ";
    out += key;
    append_pretty(value, indent + 2, begin.size() + key.size(), out);
  }
  for (const base::Json& value : json.items()) {
    next();
    append_pretty(value, indent + 2, begin.size(), out);
  }
  out += '\n' + std::string(indent, ' ') + (is_object ? '}' : ']');
}

}  // namespace

std::vector<Part> http_api() {
  std::vector<Part> parts;
  with_routes([&](const server::Routes& routes) { parts = parts_of(routes); });
  return parts;
}

std::string openapi() {
  std::string text;
  with_routes([&](const server::Routes& routes) { append_pretty(routes.openapi(), 0, 0, text); });
  return text + "\n";
}

}  // namespace gpufl::docs
