// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_message.hpp"
#include "server/access_guard.hpp"

// What every server does to requests before its routes see them, and to their answers: the prefix
// of a proxy, fields that keep browsers from misusing an answer, and no paths of this machine. Any
// thread.
namespace gpufl::server {

class Front {
 public:
  // `hidden`: a folder that no problem may name.
  Front(const std::optional<PublicUrl>& public_url, const std::filesystem::path& hidden);

  // The request without the prefix of a proxy that leaves it in place; nothing: it has none.
  std::optional<net::HttpRequest> without_prefix(const net::HttpRequest& asked) const;
  // The prefix alone leads to the page's address, because that of its files is relative to it.
  std::optional<net::HttpReply> to_slash(const net::HttpRequest& asked) const;
  net::HttpReply with_common_fields(net::HttpReply reply) const;
  // "https://host/prefix", as users see it; `endpoint` where no proxy stands before the server.
  std::string address(std::string_view scheme, std::string_view endpoint) const;

 private:
  bool has_prefix(std::string_view path) const;
  void hide_folder(net::HttpReply& reply) const;

  const std::optional<PublicUrl> public_url_;
  const std::string hidden_;  // as JSON has it
};

// The text with another word for `path`.
std::string without_path(std::string text, std::string_view path);
// As JSON has it, without its quotes.
std::string inside_json(const std::string& text);

}  // namespace gpufl::server
