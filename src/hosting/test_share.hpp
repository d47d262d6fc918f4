// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hosting/test_host.hpp"
#include "store/share.hpp"

// For tests: a hosted server whose workspace "lab" lets a member share its session, and guests.
namespace gpufl::hosting::testing {

using base::Json;

class ShareTest : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    prepare();
  }
  void prepare() {
    sender_ = make_key("lab", store::Scope::Ingest).text;
    wait_for(200, [&] { return get("/api/v1/ingest", bearer(sender_)); });
    admin_ = make_login("ada", "lab", store::Role::Admin) + own_origin();
    member_ = make_login("max", "lab", store::Role::Member) + own_origin();
    wait_for(200, [&] { return get("/w/lab/api/v1/audit", admin_); });
    wait_for(200, [&] { return get("/w/lab/api/v1/keys", member_); });
  }
  void send_one() {
    send_session(sender_, id_);
    wait_for(200, [&] { return get("/w/lab/api/v1/sessions/" + id_, member_); });
  }
  net::Response turn(bool is_on, const std::string& who) {
    return ask("PUT", "/w/lab/api/v1/sharing", who + "Content-Type: application/json\r\n",
               Json::object().set("is_on", is_on).dump());
  }
  static Json wanted(const std::string& session) { return Json::object().set("session", session); }

  struct Link {
    std::string id, token;
  };
  Link make_link(const Json& body) {
    const net::Response made = post_json("/w/lab/api/v1/shares", body, member_);
    EXPECT_EQ(made.status, 201) << made.body;
    const std::string link = json_of(made)["link"].as_string();
    const std::string address = "http://127.0.0.1:" + std::to_string(port_) + "/#shared=";
    EXPECT_TRUE(link.starts_with(address)) << link;
    return {json_of(made)["id"].as_string(), link.substr(std::min(link.size(), address.size()))};
  }
  // As `gpufl admin` could, beside the server.
  Link make_link_until(int64_t expires_ms) {
    store::Share share;
    share.workspace = workspace("lab");
    share.session = id_;
    share.made_by = "max";
    share.expires_ms = expires_ms;
    const auto made = people()->add_share(share);
    EXPECT_TRUE(made) << made.status().text();
    return {made->id, made->token};
  }

  net::Response open_link(const std::string& token, const std::string& headers = "") {
    return post_json("/api/v1/shared", Json::object().set("token", token), headers);
  }
  // As a browser shows it to addresses of that link.
  std::string cookie_of(const net::Response& opened) {
    const size_t at = opened.head.find("Set-Cookie: ");
    if (at == std::string::npos) return {};
    const size_t begin = at + 12;
    return "Cookie: " + opened.head.substr(begin, opened.head.find(';', begin) - begin) + "\r\n";
  }
  std::string guest_of(const Link& link) {
    net::Response opened;
    EXPECT_TRUE(base::eventually([&] {
      opened = open_link(link.token);
      return opened.status == 200;
    })) << opened.body;
    return cookie_of(opened);
  }
  static std::string below(const Link& link, const std::string& path = "/") {
    return "/shared/" + link.id + path;
  }

  std::string sender_, admin_, member_;
};

}  // namespace gpufl::hosting::testing
