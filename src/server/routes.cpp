// SPDX-License-Identifier: Apache-2.0
#include "server/routes.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpufl::server {
namespace {

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

std::string mistake_in(const Parameter& parameter, const std::string& value) {
  if (count_characters(value) > parameter.longest) {
    return fmt::format("{} is longer than {} characters", parameter.name, parameter.longest);
  }
  if (parameter.type == Parameter::Type::Integer) {
    const auto number = whole_number(value);
    if (number && *number >= parameter.least && *number <= parameter.most) return {};
    return fmt::format("{} is a whole number from {} to {}", parameter.name, parameter.least,
                       parameter.most);
  }
  // A NUL would end a name early for whoever reads it as C does.
  if (value.find('\0') != std::string::npos) return parameter.name + " contains a NUL";
  const auto& choices = parameter.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return {};
  }
  return fmt::format("{} is one of {}", parameter.name, fmt::join(choices, ", "));
}

// Whether a path is the pattern, whose last segment may be a "{name}".
bool is_one_of(std::string_view pattern, std::string_view path) {
  const size_t brace = pattern.find('{');
  if (brace == std::string_view::npos) return path == pattern;
  return path.size() > brace && path.starts_with(pattern.substr(0, brace)) &&
         path.find('/', brace) == std::string_view::npos;
}

// Nothing: the guest may ask.
std::optional<net::HttpReply> refuse_guest(const Route& route, std::string_view session,
                                           const Viewer& viewer) {
  switch (route.guests) {
    case Guests::Refused: return net::problem(404);
    case Guests::Filtered: return std::nullopt;
    case Guests::OfSession:
    case Guests::OfFiles: break;
  }
  if (session != viewer.session) return net::problem(404);
  if (route.guests == Guests::OfSession || viewer.sees_files) return std::nullopt;
  return net::problem(403, net::reason_of(403), "this link is without the files of the session");
}

}  // namespace

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // not the rest of one
  }));
}

Parameter text_parameter(std::string name, std::string description) {
  return {.name = std::move(name), .description = std::move(description)};
}

Parameter required_text(std::string name, std::string description) {
  Parameter parameter = text_parameter(std::move(name), std::move(description));
  parameter.is_required = true;
  return parameter;
}

Parameter choice(std::string name, std::vector<std::string> choices, std::string fallback,
                 std::string description) {
  Parameter parameter = text_parameter(std::move(name), std::move(description));
  parameter.choices = std::move(choices);
  parameter.fallback = std::move(fallback);
  return parameter;
}

Parameter integer(std::string name, int64_t least, int64_t most, int64_t fallback,
                  std::string description) {
  Parameter parameter = text_parameter(std::move(name), std::move(description));
  parameter.type = Parameter::Type::Integer;
  parameter.least = least;
  parameter.most = most;
  parameter.fallback = std::to_string(fallback);
  return parameter;
}

Parameter moment(std::string name, std::string description) {
  constexpr int64_t kMost = int64_t{1} << 61;
  Parameter parameter = integer(std::move(name), -kMost, kMost, 0, std::move(description));
  parameter.fallback.clear();
  return parameter;
}

std::vector<Parameter> range_parameters(std::vector<Parameter> more) {
  std::vector<Parameter> all = {
      moment("from", "First nanosecond since the session began; left out: where it begins."),
      moment("to", "The nanosecond behind the last; left out: where the session ends.")};
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

std::optional<std::string> Call::text(std::string_view name) const {
  return request_.query_value(name);
}

std::string Call::text(std::string_view name, std::string_view fallback) const {
  return text(name).value_or(std::string(fallback));
}

std::optional<int64_t> Call::integer(std::string_view name) const {
  const auto value = text(name);
  return value ? whole_number(*value) : std::nullopt;
}

int64_t Call::integer(std::string_view name, int64_t fallback) const {
  return integer(name).value_or(fallback);
}

std::string mistake_in_query(const net::NamedTexts& query, const std::vector<Parameter>& table) {
  for (const auto& [name, value] : query) {
    const auto of_name = [&name = name](const auto& one) { return one.name == name; };
    const auto found = std::find_if(table.begin(), table.end(), of_name);
    if (found == table.end()) return fmt::format("there is no parameter '{}'", name);
    const auto times = std::count_if(query.begin(), query.end(),
                                     [&name = name](const auto& one) { return one.first == name; });
    if (times > 1) return fmt::format("{} is given more than once", name);
    std::string mistake = mistake_in(*found, value);
    if (!mistake.empty()) return mistake;
  }
  for (const Parameter& parameter : table) {
    const auto is_it = [&](const auto& one) { return one.first == parameter.name; };
    if (parameter.is_required && std::none_of(query.begin(), query.end(), is_it)) {
      return parameter.name + " is required";
    }
  }
  return {};
}

void Routes::add(Route route) {
  // Handlers are called by answer(), which knows who looks.
  router_.add(route.method, route.pattern, [](const net::HttpRequest&, const net::PathParameters&) {
    return net::problem(404);
  });
  routes_.push_back(std::move(route));
}

net::HttpReply Routes::answer(const net::HttpRequest& request, const Viewer& viewer) const {
  const auto found = router_.find(request);
  // Which methods there are is nothing for guests.
  if (!found) return viewer.is_guest() ? net::problem(404) : router_.answer(request);
  const Route& route = routes_[found->number];
  if (viewer.is_guest()) {
    if (auto refusal = refuse_guest(route, found->path["session"], viewer)) {
      return std::move(*refusal);
    }
  }
  const std::string mistake = mistake_in_query(request.query, route.parameters);
  if (!mistake.empty()) return net::problem(400, "Wrong parameter", mistake);
  return route.handler(Call(request, found->path, viewer));
}

bool Routes::is_open(std::string_view path) const {
  return std::any_of(routes_.begin(), routes_.end(), [&](const Route& route) {
    return route.is_open && is_one_of(route.pattern, path);
  });
}

}  // namespace gpufl::server
