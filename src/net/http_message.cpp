// SPDX-License-Identifier: Apache-2.0
#include "net/http_message.hpp"

#include <algorithm>
#include <array>

#include "base/json.hpp"

namespace gpufl::net {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

struct StatusName {
  int status;
  std::string_view name;
};
constexpr std::array kStatusNames = {
    StatusName{100, "Continue"},
    StatusName{101, "Switching Protocols"},
    StatusName{200, "OK"},
    StatusName{201, "Created"},
    StatusName{202, "Accepted"},
    StatusName{203, "Non-Authoritative Information"},
    StatusName{204, "No Content"},
    StatusName{205, "Reset Content"},
    StatusName{206, "Partial Content"},
    StatusName{300, "Multiple Choices"},
    StatusName{301, "Moved Permanently"},
    StatusName{302, "Found"},
    StatusName{303, "See Other"},
    StatusName{304, "Not Modified"},
    StatusName{305, "Use Proxy"},
    StatusName{307, "Temporary Redirect"},
    StatusName{308, "Permanent Redirect"},
    StatusName{400, "Bad Request"},
    StatusName{401, "Unauthorized"},
    StatusName{402, "Payment Required"},
    StatusName{403, "Forbidden"},
    StatusName{404, "Not Found"},
    StatusName{405, "Method Not Allowed"},
    StatusName{406, "Not Acceptable"},
    StatusName{407, "Proxy Authentication Required"},
    StatusName{408, "Request Timeout"},
    StatusName{409, "Conflict"},
    StatusName{410, "Gone"},
    StatusName{411, "Length Required"},
    StatusName{412, "Precondition Failed"},
    StatusName{413, "Content Too Large"},
    StatusName{414, "URI Too Long"},
    StatusName{415, "Unsupported Media Type"},
    StatusName{416, "Range Not Satisfiable"},
    StatusName{417, "Expectation Failed"},
    StatusName{421, "Misdirected Request"},
    StatusName{422, "Unprocessable Content"},
    StatusName{426, "Upgrade Required"},
    StatusName{428, "Precondition Required"},
    StatusName{429, "Too Many Requests"},
    StatusName{431, "Request Header Fields Too Large"},
    StatusName{500, "Internal Server Error"},
    StatusName{501, "Not Implemented"},
    StatusName{502, "Bad Gateway"},
    StatusName{503, "Service Unavailable"},
    StatusName{504, "Gateway Timeout"},
    StatusName{505, "HTTP Version Not Supported"},
    StatusName{507, "Insufficient Storage"},
};

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

const std::string* find_header(const NamedTexts& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (equals_ignoring_case(key, name)) return &value;
  }
  return nullptr;
}

std::string HttpRequest::header(std::string_view name) const {
  const std::string_view separator = equals_ignoring_case(name, "cookie") ? "; " : ", ";
  std::string joined;
  bool is_first = true;
  for (const auto& [key, value] : headers) {
    if (!equals_ignoring_case(key, name)) continue;
    if (!is_first) joined += separator;
    joined += value;
    is_first = false;
  }
  return joined;
}

bool HttpRequest::has_header(std::string_view name) const {
  return find_header(headers, name) != nullptr;
}

std::optional<std::string> HttpRequest::query_value(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

HttpReply reply_with(std::string content_type, std::string body, int status) {
  HttpReply reply;
  reply.status = status;
  reply.content_type = std::move(content_type);
  reply.body = std::move(body);
  return reply;
}

HttpReply problem(int status, std::string_view title, std::string_view detail) {
  base::Json document = base::Json::object();
  document.set("title", title).set("status", status);
  if (!detail.empty()) document.set("detail", detail);
  return reply_with("application/problem+json", document.dump() + "\n", status);
}

HttpReply problem(int status) { return problem(status, reason_of(status)); }

std::string_view reason_of(int status) {
  for (const auto& [number, name] : kStatusNames) {
    if (number == status) return name;
  }
  return "Unknown";
}

}  // namespace gpufl::net
