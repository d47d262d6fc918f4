// SPDX-License-Identifier: Apache-2.0
#include "hosting/hosted_server.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "hosting/file_limit.hpp"
#include "hosting/pages.hpp"
#include "hosting/shared_path.hpp"
#include "hosting/site_list.hpp"
#include "hosting/streams.hpp"
#include "net/target.hpp"
#include "server/engine.hpp"
#include "store/folder_blobs.hpp"
#include "store/folder_lock.hpp"
#include "store/sqlite_catalogue.hpp"

namespace gpufl::hosting {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Status;
using store::Role;

// Handlers wait for the disk, so there are more of them than cores.
constexpr size_t kWorkers = 24;
constexpr size_t kConnections = 1200;
constexpr size_t kStreams = 200;
constexpr size_t kQueued = 2000;
constexpr size_t kBodyBytes = size_t{4} << 20;  // of what has no sink
constexpr int64_t kLinkTime_ms = int64_t{24} * 3600 * 1000;
constexpr std::string_view kFirstWorkspace = "default";
constexpr std::string_view kFirstUser = "admin";
constexpr std::string_view kServer = "gpufl serve";  // in the audit log
constexpr int kKeyUseRounds = 10;

bool is_reading(const net::HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS";
}

class RunningHostedServer : public HostedServer {
 public:
  RunningHostedServer(HostedOptions options, std::unique_ptr<store::FolderLock> lock,
                      server::CacheFolder cache, std::unique_ptr<store::SessionStore> store,
                      std::unique_ptr<store::People> people, std::unique_ptr<OidcProvider> oidc)
      : options_(std::move(options)),
        lock_(std::move(lock)),
        store_(std::move(store)),
        people_(std::move(people)),
        oidc_(std::move(oidc)),
        engine_(options_.server, std::move(cache), options_.server.folder,
                [this](const server::AnalysisRequest& request, const Status& status) {
                  sites_.hear_of(request, status);
                }) {}
  ~RunningHostedServer() override {
    stop();
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_all();
    if (house_.joinable()) house_.join();
    store_->tell_of_changes({});
    sites_.clear();  // before what they share
  }
  RunningHostedServer(const RunningHostedServer&) = delete;
  RunningHostedServer& operator=(const RunningHostedServer&) = delete;

  // `files`: so many may be open.
  Status listen(uint64_t files) {
    net::HttpLimits limits;
    limits.workers = kWorkers;
    limits.connections = std::min(kConnections, connections_within(files));
    if (limits.connections < kConnections) {
      engine_.complain(fmt::format(
          "the hard limit of {} open files is enough for {} connections at a time, where {} could "
          "be served: raise it to {} (ulimit -Hn, or LimitNOFILE= of a systemd unit)",
          files, limits.connections, kConnections, files_for(kConnections)));
    }
    limits.event_streams = kStreams;
    limits.queued_requests = kQueued;
    limits.body_bytes = kBodyBytes;
    Status listening = engine_.listen(
        limits, [this](const net::HttpRequest& request) { return answer(request); },
        [this](const net::HttpRequest& head) { return check(head); });
    if (!listening) return listening;
    access_.emplace(*people_, engine_.endpoint().port, options_.server.public_url, options_.proxy);
    services_.emplace(
        *store_, *people_, *access_, [this](const std::string& line) { engine_.complain(line); },
        options_.pieces, options_.key_pieces, options_.tries);
    services_->oidc = oidc_.get();
    services_->address = address();
    routes_.emplace(*access_, *people_);
    add_page_routes(*routes_, *services_);
    add_ingest_routes(*routes_, *services_);
    add_account_routes(*routes_, *services_);
    add_oidc_routes(*routes_, *services_);
    add_workspace_routes(*routes_, *services_);
    add_share_routes(*routes_, *services_);
    make_sites();
    store_->tell_of_changes(
        [this](int64_t workspace, const fs::path& folder) { sites_.look_soon(workspace, folder); });
    if (Status made = make_first_link(); !made) return made;
    house_ = std::thread([this] { keep_house(); });
    pthread_setname_np(house_.native_handle(), "gpufl-house");
    engine_.open();
    return {};
  }

  const net::Endpoint& endpoint() const override { return engine_.endpoint(); }
  std::string address() const override {
    return engine_.front().address("http", endpoint().text()) + "/";
  }
  const std::string& first_link() const override { return first_link_; }
  const std::vector<HostedRoutes::Row>& rows() const override { return routes_->rows(); }
  size_t stop() override {
    sites_.close_streams();
    return engine_.stop();
  }

 private:
  // Whose pages a request is about, and which of them.
  struct Target {
    int64_t workspace = 0;
    std::string path;
  };

  // Nothing: it is about no workspace that there is.
  std::optional<Target> target_of(const net::HttpRequest& request, const Caller& caller) const {
    constexpr std::string_view kPrefix = "/w/";
    const std::string& path = request.path;
    if (!path.starts_with(kPrefix)) {
      // A key names its workspace by itself.
      if (caller.kind != Caller::Kind::Key) return std::nullopt;
      return Target{caller.workspace, path};
    }
    const size_t end = path.find('/', kPrefix.size());
    if (end == std::string::npos) return std::nullopt;
    const store::DirectoryPtr directory = people_->directory();
    const auto found = directory->workspaces.find(
        std::string_view(path).substr(kPrefix.size(), end - kPrefix.size()));
    if (found == directory->workspaces.end()) return std::nullopt;
    return Target{found->second, path.substr(end)};
  }

  net::HeadVerdict check(const net::HttpRequest& head) {
    const Caller caller = access_->caller_of(head);
    if (auto refusal = access_->refuse(head, caller, routes_->is_open(head.path))) {
      return {to_login(head, caller, std::move(*refusal))};
    }
    return verdict_on_body(head, caller, *services_);
  }

  // Who opens the page of a workspace without a cookie is led to where they get one.
  net::HttpReply to_login(const net::HttpRequest& head, const Caller& caller,
                          net::HttpReply refusal) const {
    const bool is_for_guests = is_shared_path(head.path);
    const bool is_page = refusal.status == 401 && caller.kind == Caller::Kind::Nobody &&
                         head.method == "GET" && (head.path.starts_with("/w/") || is_for_guests) &&
                         server::bearer_of(head).empty() &&
                         head.header("Accept").find("text/html") != std::string::npos;
    if (!is_page) return refusal;
    net::HttpReply reply{.status = 303};
    // As many steps up as the path is deep, so that it holds below a proxy's prefix.
    std::string up = "./";
    for (const char c : std::string_view(head.path).substr(1)) up += c == '/' ? "../" : "";
    // A link without a token: the page says that it does not count.
    if (is_for_guests) up += "#shared=";
    // Afterwards it leads to what was asked for: browsers keep the fragment of the address.
    const std::string_view below = std::string_view(head.path).substr(sizeof("/w/") - 1);
    const std::string_view workspace = below.substr(0, below.find('/'));
    if (!is_for_guests && store::is_workspace_name(workspace)) {
      up.append("?workspace=").append(workspace);
    }
    reply.headers.emplace_back("Location", std::move(up));
    return reply;
  }

  // What guests see of a workspace, at the address of their link.
  net::HttpReply answer_guest(const net::HttpRequest& request, const Caller& caller) {
    if (const int wait = services_->guests.take(caller.share); wait > 0) {
      net::HttpReply busy =
          net::problem(429, net::reason_of(429), "too many requests by this link");
      busy.headers.emplace_back("Retry-After", std::to_string(wait));
      return busy;
    }
    net::HttpRequest asked = request;
    asked.path = split_shared_path(request.path).rest;
    // Addresses of the page are relative to its folder.
    if (asked.path.empty()) return not_found();
    const auto site = sites_.find(caller.workspace);
    if (!site) return net::problem(503);
    net::HttpReply reply = site->answer(asked, caller.viewer);
    if (reply.status >= 400) reply = without_detail(std::move(reply));
    return streams_.watch(std::move(reply),
                          [this, caller] { return access_->still_counts(caller, {}); });
  }

  // What goes wrong names files and folders. Those who may know find it in their own answers.
  static net::HttpReply without_detail(net::HttpReply reply) {
    net::HttpReply plain = net::problem(reply.status);
    if (const std::string* wait = net::find_header(reply.headers, "Retry-After")) {
      plain.headers.emplace_back("Retry-After", *wait);
    }
    return plain;
  }

  // Pages of a workspace have addresses relative to its folder.
  net::HttpReply to_folder(net::HttpRequest request, const Caller& caller) const {
    const std::string name = request.path.substr(request.path.rfind('/') + 1);
    request.path += '/';
    const auto target = target_of(request, caller);
    if (!target || target->path != "/" || !caller.may_read(target->workspace)) return not_found();
    net::HttpReply reply{.status = 308};
    reply.headers.emplace_back("Location", "./" + name + "/");
    return reply;
  }

  net::HttpReply answer(const net::HttpRequest& request) {
    const Caller caller = access_->caller_of(request);
    // What was checked with the head may have changed while the body came.
    if (auto refusal = access_->refuse(request, caller, routes_->is_open(request.path))) {
      return std::move(*refusal);
    }
    if (routes_->has(request)) return routes_->answer(request);
    if (caller.kind == Caller::Kind::Guest) return answer_guest(request, caller);
    const auto target = target_of(request, caller);
    if (!target) return to_folder(request, caller);
    const bool knows_of_it = caller.kind == Caller::Kind::Key
                                 ? caller.workspace == target->workspace
                                 : caller.has_role(target->workspace, Role::Viewer);
    if (!knows_of_it) return not_found();
    const bool may = is_reading(request) ? caller.may_read(target->workspace)
                                         : caller.has_role(target->workspace, Role::Member);
    if (!may) return forbidden("your role or key does not allow this");
    const auto site = sites_.find(target->workspace);
    if (!site) return net::problem(503);
    net::HttpRequest asked = request;
    asked.path = target->path;
    const std::string cookie = access_->cookie_of(request);
    net::HttpReply reply = site->answer(asked);
    // Notes and tags, which all of the workspace see.
    if (!is_reading(request) && reply.status < 300) {
      services_->audit.write(target->workspace, caller.name, "changed", target->path);
    }
    return streams_.watch(std::move(reply),
                          [this, caller, cookie] { return access_->still_counts(caller, cookie); });
  }

  void make_sites() {
    sites_.add_new(*people_->directory(), *store_, options_.server.pace, engine_.shared());
  }

  // Where nobody can log in who may do everything.
  Status make_first_link() {
    // Whoever a proxy calls by that name would be this admin.
    if (!options_.proxy.header.empty()) return {};
    const store::DirectoryPtr before = people_->directory();
    if (before->has_admin(oidc_ ? oidc_->issuer() : "")) return {};
    const store::User* user = before->user_named(kFirstUser);
    int64_t id = user == nullptr ? 0 : user->id;
    if (user == nullptr) {
      const auto added = people_->add_user(kFirstUser);
      if (!added) return added.status();
      id = *added;
    }
    // Whoever has that name already is an admin once the link is taken, and not before.
    const auto secret = people_->invite(id, now_ms() + kLinkTime_ms, true);
    if (!secret) return secret.status();
    services_->audit.write(0, kServer, "first link made", kFirstUser);
    // Behind the '#', so that no log of a proxy and no history of another machine has it.
    first_link_ = address() + "#invitation=" + *secret;
    return {};
  }

  void keep_house() {
    std::unique_lock lock(mutex_);
    for (int round = 1;; ++round) {
      changed_.wait_for(lock, options_.house_pace, [&] { return is_stopping_; });
      const bool is_last = is_stopping_;
      lock.unlock();
      if (!is_last) {
        // Where the file cannot be read now, what was known before goes on.
        (void)people_->refresh();
        make_sites();
        streams_.end_unwanted();
      }
      // After whoever may do no more has been stopped: these wait for the disk and other programs.
      if (round % kKeyUseRounds == 0 || is_last) {
        (void)people_->note_uses(access_->take_uses());
        (void)people_->note_share_uses(access_->take_share_uses());
      }
      services_->audit.flush();
      if (!is_last) note_expired();
      if (!is_last) remove_notes();
      lock.lock();
      if (is_last) return;
    }
  }

  // What retention took away stands in the log of those who set it.
  void note_expired() {
    for (const auto& [workspace, session, reason] : store_->take_expired()) {
      const Status noted = people_->audit(workspace, "retention", reason, session);
      if (!noted) engine_.complain("cannot note that " + session + " has gone: " + noted.message());
    }
  }

  void remove_notes() {
    for (const auto& [workspace, session] : store_->take_gone()) {
      sites_.remove_notes(workspace, session);
    }
  }

  const HostedOptions options_;
  const std::unique_ptr<store::FolderLock> lock_;
  const std::unique_ptr<store::SessionStore> store_;
  const std::unique_ptr<store::People> people_;
  const std::unique_ptr<OidcProvider> oidc_;  // null: there is none
  SiteList sites_;
  server::Engine engine_;
  Streams streams_;
  std::optional<Access> access_;
  std::optional<HostedServices> services_;
  std::optional<HostedRoutes> routes_;
  std::string first_link_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::thread house_;
};

Status check_address(const HostedOptions& options) {
  const server::ServerOptions& server = options.server;
  if (!server.listen.is_loopback() && !options.allow_plain_http) {
    return {
        Code::InvalidArgument,
        fmt::format("{} is not a loopback address, and nothing would be encrypted: passwords, keys "
                    "and sessions could be read on the way. Put a proxy with TLS on this machine "
                    "and listen on loopback, or say --allow-plain-http",
                    server.listen.text())};
  }
  if (!server.listen.is_loopback() && !server.public_url) {
    return {
        Code::InvalidArgument,
        "where others connect, give the address as --public-url: the server compares it with the "
        "Origin of requests, to refuse those of other sites"};
  }
  if (!server.public_url) return {};
  const std::string first = server.public_url->path.substr(0, server.public_url->path.find('/', 1));
  if (first != "/w" && first != kSharedFolder && first != "/account.js" &&
      first != "/account.css") {
    return {};
  }
  return {Code::InvalidArgument, "--public-url has a path that is the server's own: " + first};
}

}  // namespace

base::Result<std::unique_ptr<HostedServer>> HostedServer::start(HostedOptions options) {
  if (Status checked = check_address(options); !checked) return checked;
  std::unique_ptr<OidcProvider> oidc;
  if (options.oidc) {
    auto made = OidcProvider::make(*options.oidc);
    if (!made) return made.status();
    oidc = std::move(*made);
  }
  std::error_code error;
  // One that does not exist yet would stay relative.
  fs::path folder = fs::absolute(options.server.folder, error);
  if (!error) folder = fs::weakly_canonical(folder, error);
  if (error) return Status::from_errno(error.value(), options.server.folder.string());
  options.server.folder = folder;
  const uint64_t files = raise_file_limit();
  fs::create_directories(folder.parent_path(), error);
  auto lock = store::FolderLock::take(folder);
  if (!lock) return lock.status();
  auto people = store::People::open(store::catalogue_file(folder));
  if (!people) return people.status();
  if ((*people)->directory()->workspaces.empty()) {
    const auto added = (*people)->add_workspace(kFirstWorkspace);
    if (!added) return added.status();
  }
  auto blobs = store::FolderBlobs::open(folder);
  if (!blobs) return blobs.status();
  auto catalogue = store::SqliteCatalogue::open(store::catalogue_file(folder));
  if (!catalogue) return catalogue.status();
  auto store = store::SessionStore::open(std::move(*blobs), std::move(*catalogue),
                                         folder / "journal", options.store);
  if (!store) return store.status();
  auto cache = server::CacheFolder::open(options.server.cache);
  if (!cache) return cache.status();
  cache->sweep();
  auto server =
      std::make_unique<RunningHostedServer>(std::move(options), std::move(*lock), std::move(*cache),
                                            std::move(*store), std::move(*people), std::move(oidc));
  if (Status listening = server->listen(files); !listening) return listening;
  return std::unique_ptr<HostedServer>(std::move(server));
}

}  // namespace gpufl::hosting
