// SPDX-License-Identifier: Apache-2.0
#include "agent/credentials.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/json.hpp"
#include "net/url.hpp"

namespace gpufl::agent {
namespace {

namespace fs = std::filesystem;
using base::Json;

constexpr size_t kMaxBytes = size_t{1} << 20;
// Of one request, however slow the line: what stands still is noticed sooner.
constexpr std::chrono::hours kTotalTime{1};

base::Result<std::string> read_private(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return base::Status::from_errno(errno, "cannot read " + file.string());
  struct stat what{};
  std::string text;
  base::Status status;
  if (::fstat(fd, &what) != 0 || !S_ISREG(what.st_mode) ||
      static_cast<size_t>(what.st_size) > kMaxBytes) {
    status = {base::Code::Corrupt, file.string() + " is not a file of gpufl login"};
  } else if ((what.st_mode & 077) != 0) {
    status = {base::Code::PermissionDenied,
              file.string() + " holds keys, and others can read it: run 'chmod 600 " +
                  file.string() + "', and have the keys replaced"};
  } else {
    text.resize(static_cast<size_t>(what.st_size));
    const ssize_t got = ::read(fd, text.data(), text.size());
    if (got < 0) status = base::Status::from_errno(errno, "cannot read " + file.string());
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  }
  ::close(fd);
  if (!status) return status;
  return text;
}

base::Status write_private(const fs::path& file, std::string_view text) {
  std::error_code error;
  if (fs::create_directories(file.parent_path(), error)) {
    fs::permissions(file.parent_path(), fs::perms::owner_all, error);
  }
  const std::string name = file.string() + "." + std::to_string(::getpid()) + ".tmp";
  ::unlink(name.c_str());
  const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return base::Status::from_errno(errno, "cannot write " + name);
  const bool is_written =
      ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(fd) == 0;
  const int why = errno;
  ::close(fd);
  if (is_written && ::rename(name.c_str(), file.c_str()) == 0) return {};
  const base::Status status =
      base::Status::from_errno(is_written ? errno : why, "cannot write " + file.string());
  ::unlink(name.c_str());
  return status;
}

}  // namespace

fs::path Credentials::usual_file(const net::Variables& variables) {
  const std::string config = variables("XDG_CONFIG_HOME");
  const std::string home = variables("HOME");
  if (config.starts_with('/')) return fs::path(config) / "gpufl" / "credentials.json";
  if (home.empty()) return {};
  return fs::path(home) / ".config" / "gpufl" / "credentials.json";
}

base::Result<Credentials> Credentials::read(const fs::path& file) {
  Credentials credentials;
  if (file.empty()) return credentials;
  const auto text = read_private(file);
  if (!text && text.status().code() == base::Code::NotFound) return credentials;
  if (!text) return text.status();
  const auto document = Json::parse(*text, kMaxBytes);
  if (!document || !(*document)["logins"].is_array()) {
    return base::Status(base::Code::Corrupt, file.string() +
                                                 " is damaged: delete it, and run 'gpufl login' "
                                                 "again");
  }
  for (const Json& login : (*document)["logins"].items()) {
    credentials.logins_.push_back({login["backend_url"].as_string(), login["api_path"].as_string(),
                                   login["api_key"].as_string()});
  }
  return credentials;
}

std::optional<Login> Credentials::find(const std::string& backend_url) const {
  const auto found = std::find_if(logins_.begin(), logins_.end(), [&](const Login& login) {
    return backend_url.empty() || net::is_same_place(login.backend_url, backend_url);
  });
  return found == logins_.end() ? std::nullopt : std::optional(*found);
}

base::Status Credentials::put(const fs::path& file, const Login& login) {
  std::erase_if(logins_, [&](const Login& other) {
    return net::is_same_place(other.backend_url, login.backend_url);
  });
  logins_.insert(logins_.begin(), login);
  Json logins = Json::array();
  for (const Login& one : logins_) {
    Json object = Json::object();
    object.set("backend_url", one.backend_url).set("api_path", one.api_path);
    logins.push(object.set("api_key", one.api_key));
  }
  Json document = Json::object();
  document.set("logins", std::move(logins));
  return write_private(file, document.dump() + "\n");
}

std::string key_variable(const std::string& backend_url, const net::Variables& variables) {
  const std::string meant = variables("GPUFL_BACKEND_URL");
  const bool is_other = !meant.empty() && !net::is_same_place(meant, backend_url);
  return is_other || backend_url.empty() ? "" : variables("GPUFL_API_KEY");
}

base::Result<IngestAddress> choose_server(const ServerChoice& choice,
                                          const net::Variables& variables,
                                          const fs::path& credentials) {
  const auto first = [&](const std::string& said, const char* variable) {
    return said.empty() ? variables(variable) : said;
  };
  std::string url = first(choice.backend_url, "GPUFL_BACKEND_URL");
  std::string key = choice.api_key.empty() ? key_variable(url, variables) : choice.api_key;
  std::string path = first(choice.api_path, "GPUFL_API_PATH");
  if (url.empty() && choice.api_key.empty() && !variables("GPUFL_API_KEY").empty()) {
    return base::Status(base::Code::InvalidArgument,
                        "GPUFL_API_KEY is set, but not for which server: set GPUFL_BACKEND_URL, or "
                        "name the server");
  }
  if (url.empty() || key.empty()) {
    const auto kept = Credentials::read(credentials);
    if (!kept) return kept.status();
    if (const auto login = kept->find(url)) {
      url = login->backend_url;
      if (key.empty()) key = login->api_key;
      if (path.empty()) path = login->api_path;
    }
  }
  return make_address(url, key, path);
}

base::Result<std::unique_ptr<Ingest>> make_ingest(const IngestAddress& address,
                                                  const ServerChoice& choice,
                                                  const net::Variables& variables,
                                                  std::function<bool()> is_stopped) {
  net::HttpClientOptions options;
  options.tls = {variables("GPUFL_CA_FILE"), variables("GPUFL_CLIENT_CERT"),
                 variables("GPUFL_CLIENT_KEY")};
  options.variables = variables;
  options.connect_time = choice.connect_time;
  options.quiet_time = choice.quiet_time;
  options.total_time = kTotalTime;
  options.is_cancelled = std::move(is_stopped);
  auto client = net::HttpClient::make(address.url, std::move(options));
  if (!client) return client.status();
  return std::make_unique<Ingest>(address, std::move(*client));
}

std::string warning_of(const IngestAddress& address) {
  if (address.url.is_tls || address.url.is_loopback()) return {};
  return "the key goes to " + address.url.origin() + " unencrypted: use https:// where you can";
}

}  // namespace gpufl::agent
