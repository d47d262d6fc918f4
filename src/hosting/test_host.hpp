// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/eventually.hpp"
#include "base/json.hpp"
#include "hosting/hosted_server.hpp"
#include "net/test_client.hpp"
#include "store/folder_lock.hpp"
#include "store/test_pieces.hpp"

// For tests: a hosted server on loopback, with two workspaces, and what clients send it.
namespace gpufl::hosting::testing {

constexpr const char* kPassword = "correct horse battery";

class HostTest : public ::testing::Test {
 protected:
  void SetUp() override { start(); }

  HostedOptions options() {
    HostedOptions options;
    options.server.folder = folder_.path() / "data";
    options.server.cache = folder_.path() / "data/cache";
    options.server.pace = std::chrono::milliseconds(10);
    options.server.analysis_program = {"/bin/false"};
    options.server.log = server::LogFormat::Text;
    options.server.write_log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_ += line;
    };
    options.house_pace = std::chrono::milliseconds(10);
    options.tries.per_second = 1e-6;  // however long a busy machine takes to hash ten passwords
    return options;
  }
  void start() { start(options()); }
  void start(HostedOptions options) {
    server_.reset();
    auto started = HostedServer::start(std::move(options));
    ASSERT_TRUE(started) << started.status().text();
    server_ = std::move(*started);
    port_ = server_->endpoint().port;
  }
  // As `gpufl admin` does it, beside the server.
  std::unique_ptr<store::People> people() {
    auto opened = store::People::open(store::catalogue_file(folder_.path() / "data"));
    EXPECT_TRUE(opened) << opened.status().text();
    return std::move(*opened);
  }
  int64_t workspace(const std::string& name) {
    const auto people = this->people();
    const auto found = people->directory()->workspaces.find(name);
    return found != people->directory()->workspaces.end() ? found->second
                                                          : *people->add_workspace(name);
  }
  store::People::NewKey make_key(const std::string& in, store::Scope scope,
                                 int64_t expires_ms = 0) {
    store::ApiKey key;
    key.workspace = workspace(in);
    key.label = "key of " + in;
    key.scope = scope;
    key.made_by = "gpufl admin";
    key.expires_ms = expires_ms;
    return *people()->add_key(key);
  }
  // A login's cookie, as the header has it.
  std::string make_login(const std::string& name, const std::string& in, store::Role role) {
    const int64_t number = workspace(in);
    const auto people = this->people();
    const store::User* known = people->directory()->user_named(name);
    const int64_t user = known != nullptr ? known->id : *people->add_user(name);
    EXPECT_TRUE(people->set_role(user, number, role));
    return "Cookie: gpufl_session_" + std::to_string(port_) + "=" +
           *people->log_in(user, now_ms() + 3'600'000) + "\r\n";
  }
  static std::string bearer(const std::string& key) {
    return "Authorization: Bearer " + key + "\r\n";
  }
  std::string own_origin() const {
    return "Origin: http://127.0.0.1:" + std::to_string(port_) + "\r\n";
  }

  net::Response ask(const std::string& method, const std::string& target,
                    const std::string& headers = "", const std::string& body = "") {
    net::Client client(port_);
    const bool has_body = !body.empty() || method == "POST" || method == "PUT";
    const std::string host = headers.find("Host: ") == std::string::npos
                                 ? "Host: 127.0.0.1:" + std::to_string(port_) + "\r\n"
                                 : "";
    return client.ask(method + " " + target + " HTTP/1.1\r\n" + host + headers +
                      (has_body ? "Content-Length: " + std::to_string(body.size()) + "\r\n" : "") +
                      "\r\n" + body);
  }
  net::Response get(const std::string& target, const std::string& headers = "") {
    return ask("GET", target, headers);
  }
  net::Response post_json(const std::string& target, const base::Json& body,
                          const std::string& headers = "") {
    return ask("POST", target, "Content-Type: application/json\r\n" + headers, body.dump());
  }
  static base::Json json_of(const net::Response& response) {
    auto parsed = base::Json::parse(response.body);
    EXPECT_TRUE(parsed) << response.head << response.body;
    return parsed ? std::move(*parsed) : base::Json();
  }
  // A change by another program is seen a moment later.
  template <typename Question>
  void wait_for(int status, Question&& question) {
    EXPECT_TRUE(base::eventually([&] { return question().status == status; }))
        << question().status << " instead of " << status;
  }

  net::Response send(const std::string& key, const std::string& query, const std::string& body,
                     const std::string& headers = "") {
    return ask("POST", "/api/v1/events/stream?" + query, bearer(key) + headers, body);
  }
  // All files of a session, as an uploader sends them.
  void send_session(const std::string& key, const std::string& id) {
    store::testing::write_session(folder_.path() / id, id, 2, 50);
    send_files(key, id);
  }
  // Those of a session that is written already.
  void send_files(const std::string& key, const std::string& id) {
    for (const std::string& name : format::testing::file_names(folder_.path() / id)) {
      const std::string bytes = format::testing::read_text(folder_.path() / id / name);
      const auto parsed = format::parse_file_name(name);
      std::string query = "session=" + id;
      query += parsed ? "&kind=window&channel=" + std::string(format::to_string(*parsed->channel)) +
                            "&number=" + std::to_string(parsed->window)
                      : "&kind=manifest&version=1";
      const net::Response response = send(key, query, bytes);
      EXPECT_EQ(response.status, 200) << name << response.body;
    }
  }

  base::TempDir folder_;
  std::mutex mutex_;
  std::string log_;
  std::unique_ptr<HostedServer> server_;
  uint16_t port_ = 0;
  const std::string id_ = store::testing::session_id(1);
};

}  // namespace gpufl::hosting::testing
