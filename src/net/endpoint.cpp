// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace gpufl::net {
namespace {

bool is_v4(const std::string& address) {
  in_addr parsed;
  return inet_pton(AF_INET, address.c_str(), &parsed) == 1;
}

bool is_v6(const std::string& address) {
  in6_addr parsed;
  return inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool Endpoint::is_loopback() const {
  in_addr v4;
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6;
  return inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string Endpoint::text() const {
  const bool bracketed = address.find(':') != std::string::npos;
  return (bracketed ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

std::optional<std::string> usual_address(std::string_view text) {
  const std::string address(text);
  std::array<char, INET6_ADDRSTRLEN> out{};
  in_addr v4;
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) {
    return inet_ntop(AF_INET, &v4, out.data(), out.size());
  }
  in6_addr v6;
  if (inet_pton(AF_INET6, address.c_str(), &v6) != 1) return std::nullopt;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    return inet_ntop(AF_INET, &v6.s6_addr[12], out.data(), out.size());
  }
  return inet_ntop(AF_INET6, &v6, out.data(), out.size());
}

std::string network_of(const std::string& address) {
  in6_addr v6;
  if (inet_pton(AF_INET6, address.c_str(), &v6) != 1) return address;
  std::fill(std::begin(v6.s6_addr) + 8, std::end(v6.s6_addr), uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> out{};
  return inet_ntop(AF_INET6, &v6, out.data(), out.size());
}

base::Result<Endpoint> parse_endpoint(std::string_view text, const Endpoint& fallback) {
  const auto refuse = [&](const std::string& why) {
    return base::Status(base::Code::InvalidArgument, "'" + std::string(text) + "' " + why);
  };
  if (text.starts_with(':') && !is_v6(std::string(text))) {
    return refuse("has no address; write 127.0.0.1" + std::string(text) + " or 0.0.0.0" +
                  std::string(text));
  }

  std::string_view address, port;
  if (all_digits(text)) {
    port = text;
  } else if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return refuse("has no closing bracket");
    address = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return refuse("is not [ADDRESS]:PORT");
    port = rest.empty() ? rest : rest.substr(1);
    if (!rest.empty() && port.empty()) return refuse("has no port after the colon");
  } else if (is_v6(std::string(text))) {
    address = text;
  } else {
    const size_t colon = text.find(':');
    address = text.substr(0, colon);
    if (colon != std::string_view::npos) {
      port = text.substr(colon + 1);
      if (port.empty()) return refuse("has no port after the colon");
    }
  }

  Endpoint endpoint = fallback;
  if (!port.empty()) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), value);
    if (error != std::errc{} || end != port.data() + port.size() || value > 65535) {
      return refuse("has no port from 0 to 65535; write for example " + fallback.text());
    }
    endpoint.port = static_cast<uint16_t>(value);
  }
  if (address == "localhost") {
    endpoint.address = "127.0.0.1";
  } else if (all_digits(text)) {
    return endpoint;
  } else {
    endpoint.address = address;
    if (!is_v4(endpoint.address) && !is_v6(endpoint.address)) {
      return refuse("is not a numeric address with a port; write for example " + fallback.text());
    }
  }
  return endpoint;
}

}  // namespace gpufl::net
