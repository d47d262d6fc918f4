// SPDX-License-Identifier: Apache-2.0
#include "net/router.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gpufl::net {
namespace {

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const size_t slash = path.find('/');
    segments.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

enum class Kind : char { Literal = 'a', One = 'b', Rest = 'c' };

Kind kind_of(std::string_view segment) {
  if (!segment.starts_with('{') || !segment.ends_with('}')) return Kind::Literal;
  return segment.ends_with("*}") ? Kind::Rest : Kind::One;
}

std::string_view name_of_segment(std::string_view segment) {
  return segment.substr(1, segment.size() - (kind_of(segment) == Kind::Rest ? 3 : 2));
}

// A letter for each segment of the pattern, by which the more special of two sorts first. Nothing:
// it does not match.
std::optional<std::string> match(const std::vector<std::string>& pattern,
                                 const std::vector<std::string>& path) {
  std::string letters;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const Kind kind = kind_of(pattern[i]);
    letters += static_cast<char>(kind);
    if (kind == Kind::Rest) return letters;
    if (i >= path.size()) return std::nullopt;
    if (kind == Kind::Literal ? pattern[i] != path[i] : path[i].empty()) return std::nullopt;
  }
  if (pattern.size() != path.size()) return std::nullopt;
  return letters;
}

PathParameters capture(const std::vector<std::string>& pattern,
                       const std::vector<std::string>& path) {
  PathParameters parameters;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const Kind kind = kind_of(pattern[i]);
    if (kind == Kind::One) parameters.add(name_of_segment(pattern[i]), path[i]);
    if (kind != Kind::Rest) continue;
    std::string rest;
    for (size_t k = i; k < path.size(); ++k) rest += (k == i ? "" : "/") + path[k];
    parameters.add(name_of_segment(pattern[i]), rest);
  }
  return parameters;
}

HttpReply with_allow(HttpReply reply, const std::vector<std::string>& methods) {
  std::string allow = "OPTIONS";
  for (const std::string& method : methods) {
    allow += ", " + method;
    if (method == "GET") allow += ", HEAD";
  }
  reply.headers.emplace_back("Allow", std::move(allow));
  return reply;
}

}  // namespace

const std::string& PathParameters::operator[](std::string_view name) const {
  static const std::string empty;
  for (const auto& [key, value] : values_) {
    if (key == name) return value;
  }
  return empty;
}

void PathParameters::add(std::string_view name, std::string_view value) {
  values_.emplace_back(name, value);
}

Router& Router::add(std::string_view method, std::string_view pattern, Handler handler) {
  routes_.push_back({std::string(method), split_path(pattern), std::move(handler)});
  return *this;
}

std::vector<const Router::Route*> Router::of_path(const std::vector<std::string>& path) const {
  std::string best;
  std::vector<const Route*> found;
  for (const Route& route : routes_) {
    const auto letters = match(route.segments, path);
    if (!letters || (!found.empty() && *letters > best)) continue;
    if (found.empty() || *letters < best) found.clear();
    best = *letters;
    found.push_back(&route);
  }
  return found;
}

bool Router::is_meant(const Route& route, const HttpRequest& request) {
  return route.method == request.method || (request.method == "HEAD" && route.method == "GET");
}

std::optional<Router::Found> Router::find(const HttpRequest& request) const {
  const std::vector<std::string> path = split_path(request.path);
  for (const Route* route : of_path(path)) {
    if (!is_meant(*route, request)) continue;
    return Found{static_cast<size_t>(route - routes_.data()), capture(route->segments, path)};
  }
  return std::nullopt;
}

HttpReply Router::answer(const HttpRequest& request) const {
  if (request.path == "*") return with_allow({.status = 204}, {"GET"});
  const std::vector<std::string> path = split_path(request.path);
  const std::vector<const Route*> found = of_path(path);
  if (found.empty()) return problem(404);

  std::vector<std::string> methods;
  for (const Route* route : found) {
    if (is_meant(*route, request)) return route->handler(request, capture(route->segments, path));
    methods.push_back(route->method);
  }
  if (request.method == "OPTIONS") return with_allow({.status = 204}, methods);
  return with_allow(problem(405), methods);
}

}  // namespace gpufl::net
