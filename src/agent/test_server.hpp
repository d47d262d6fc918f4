// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/ingest.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "base/temp_dir.hpp"
#include "format/seal.hpp"
#include "net/http_server.hpp"

// For tests: a server that takes sessions as docs/design/hosting.md says, keeps them in memory, and
// misbehaves as a test wants it to.
namespace gpufl::agent::testing {

inline std::string sha256_of(const std::string& text) {
  base::Sha256 hash;
  hash.add(text);
  return hash.finish();
}

inline std::string make_key(char digit = '1') {
  const std::string key = "gpfl_" + std::string(48, digit);
  return key + sha256_of(key).substr(0, 8);
}

class StandInServer {
 public:
  struct Window {
    std::string sealed, live;
    bool is_final = false;
  };
  struct Session {
    std::map<std::pair<std::string, std::string>, Window> windows;  // by channel and number
    std::map<std::string, std::pair<uint64_t, std::string>> whole;  // version and bytes, by kind
    std::map<std::string, std::string> modules;
    std::map<std::string, std::string> refused;  // reasons by SHA-256
    bool is_deleted = false;
  };
  // Before anything else; with the lock held. What it returns is the answer.
  using Mischief = std::function<std::optional<net::HttpReply>(const net::HttpRequest&, Session&)>;

  explicit StandInServer(std::string api_path = "/api/v1") : api_path_(std::move(api_path)) {
    net::HttpLimits limits;
    limits.body_bytes = size_t{128} << 20;
    limits.read_time = limits.body_time = limits.write_time = limits.handler_time =
        std::chrono::minutes(2);
    auto server = net::HttpServer::start(
        {"127.0.0.1", 0}, [this](const net::HttpRequest& request) { return answer(request); },
        limits);
    EXPECT_TRUE(server) << server.status().text();
    server_ = std::move(*server);
  }

  std::string url() const { return "http://" + server_->endpoint().text(); }
  void be_mischievous(Mischief mischief) {
    const std::lock_guard lock(mutex_);
    mischief_ = std::move(mischief);
  }
  Session session(const std::string& id) {
    const std::lock_guard lock(mutex_);
    return sessions_[id];
  }
  void change(const std::string& id, const std::function<void(Session&)>& change) {
    const std::lock_guard lock(mutex_);
    change(sessions_[id]);
  }
  // Of the store: "" is a server that does not say.
  void set_generation(const std::string& generation) {
    const std::lock_guard lock(mutex_);
    generation_ = generation;
  }
  // Of the key, likewise.
  void set_scope(const std::string& scope) {
    const std::lock_guard lock(mutex_);
    scope_ = scope;
  }
  // How often it was asked what it has of sessions.
  int questions() {
    const std::lock_guard lock(mutex_);
    return questions_;
  }
  std::vector<std::string> session_ids() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> ids;
    for (const auto& [id, session] : sessions_) ids.push_back(id);
    return ids;
  }
  int requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  int posts() {
    const std::lock_guard lock(mutex_);
    return posts_;
  }

 private:
  static net::HttpReply json(const std::string& text, int status = 200) {
    return net::reply_with("application/json", text, status);
  }
  static net::HttpReply state(const char* word) {
    return json("{\"state\":\"" + std::string(word) + "\"}");
  }

  net::HttpReply answer(const net::HttpRequest& request) {
    const std::lock_guard lock(mutex_);
    ++requests_;
    if (request.header("Authorization") != "Bearer " + make_key()) return net::problem(401);
    if (request.path == api_path_ + "/ingest") {
      base::Json document = base::Json::object();
      document.set("workspace", "team").set("page", "w/team/");
      if (!generation_.empty()) document.set("generation", generation_);
      if (!scope_.empty()) document.set("scope", scope_);
      return json(document.dump());
    }
    const std::string known = api_path_ + "/ingest/sessions/";
    if (request.path.starts_with(known)) {
      const std::string id = request.path.substr(known.size());
      ++questions_;
      if (mischief_) {
        if (auto reply = mischief_(request, sessions_[id])) return std::move(*reply);
      }
      const auto found = sessions_.find(id);
      return found == sessions_.end() ? net::problem(404) : json(tell(id, found->second));
    }
    if (request.path != api_path_ + "/events/stream" || request.method != "POST") {
      return net::problem(404);
    }
    ++posts_;
    Session& session = sessions_[request.query_value("session").value_or("")];
    if (mischief_) {
      if (auto reply = mischief_(request, session)) return std::move(*reply);
    }
    if (session.is_deleted) return net::problem(410, "the session was deleted");
    return take(request, session);
  }

  static std::string tell(const std::string& id, const Session& session) {
    using base::Json;
    Json document = Json::object(), windows = Json::array(), modules = Json::array();
    for (const auto& [key, window] : session.windows) {
      Json one = Json::object();
      one.set("channel", key.first).set("number", key.second);
      one.set("state", !window.sealed.empty() ? "sealed" : window.is_final ? "final" : "live");
      one.set("end", std::to_string(window.live.size()));
      if (!window.sealed.empty()) one.set("sha256", sha256_of(window.sealed));
      if (window.sealed.empty() && window.is_final) one.set("sha256", sha256_of(window.live));
      windows.push(std::move(one));
    }
    for (const auto& [kind, whole] : session.whole) {
      document.set(kind, Json::object()
                             .set("version", std::to_string(whole.first))
                             .set("sha256", sha256_of(whole.second)));
    }
    for (const auto& [hash, bytes] : session.modules) modules.push(hash);
    Json refused = Json::array();
    for (const auto& [sha256, reason] : session.refused) {
      refused.push(
          Json::object().set("what", "a file").set("sha256", sha256).set("reason", reason));
    }
    document.set("refused", std::move(refused));
    document.set("state", session.is_deleted ? "deleted" : "open");
    document.set("windows", std::move(windows)).set("modules", std::move(modules));
    document.set("page", "w/team/#/s/" + id);
    return document.dump();
  }

  net::HttpReply take(const net::HttpRequest& request, Session& session) {
    const auto value = [&](const char* name) { return request.query_value(name).value_or(""); };
    const std::string kind = value("kind");
    if (kind == "module") {
      EXPECT_EQ(value("sha256"), sha256_of(request.body));
      const bool is_new = session.modules.emplace(value("hash"), request.body).second;
      return state(is_new ? "stored" : "known");
    }
    if (kind != "window" && kind != "live") {
      auto& [version, bytes] = session.whole[kind];
      const uint64_t offered = std::stoull(value("version"));
      if (offered < version) return state("superseded");
      if (offered == version && bytes == request.body) return state("known");
      version = offered;
      bytes = request.body;
      return state("stored");
    }
    Window& window = session.windows[{value("channel"), value("number")}];
    return kind == "window" ? take_window(request, window) : take_live(request, window);
  }

  static net::HttpReply take_window(const net::HttpRequest& request, Window& window) {
    EXPECT_EQ(request.query_value("sha256"), sha256_of(request.body));
    if (window.sealed == request.body) return state("known");
    if (!window.sealed.empty()) return json(R"({"title":"conflict","state":"conflict"})", 409);
    window.sealed = request.body;
    return state("stored");
  }

  static net::HttpReply take_live(const net::HttpRequest& request, Window& window);

  const std::string api_path_;
  std::mutex mutex_;
  std::map<std::string, Session> sessions_;
  Mischief mischief_;
  std::string generation_, scope_;
  int requests_ = 0, posts_ = 0, questions_ = 0;
  std::unique_ptr<net::HttpServer> server_;
};

inline net::HttpReply StandInServer::take_live(const net::HttpRequest& request, Window& window) {
  const auto value = [&](const char* name) { return request.query_value(name).value_or(""); };
  std::string text = request.body;
  if (request.header("Content-Encoding") == "zstd") {
    const base::TempDir dir;
    const auto packed = dir.path() / "packed";
    std::ofstream(packed, std::ios::binary) << request.body;
    text.clear();
    const auto outcome = format::read_window(packed, [&](std::string_view line) {
      text.append(line) += '\n';
      return true;
    });
    EXPECT_TRUE(outcome.status) << outcome.status.text();
    text += outcome.tail;
  }
  if (!window.sealed.empty()) return state("superseded");
  if (value("offset") != std::to_string(window.live.size())) {
    return json(
        "{\"title\":\"elsewhere\",\"expected\":\"" + std::to_string(window.live.size()) + "\"}",
        409);
  }
  const bool is_final = value("final") == "1";
  EXPECT_TRUE(is_final || text.ends_with('\n')) << "whole lines only";
  window.live += text;
  if (is_final) {
    EXPECT_EQ(value("sha256"), sha256_of(window.live));
  }
  window.is_final = is_final;
  return json("{\"state\":\"stored\",\"end\":\"" + std::to_string(window.live.size()) + "\"}");
}

}  // namespace gpufl::agent::testing
