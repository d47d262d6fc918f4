// SPDX-License-Identifier: Apache-2.0
#include "cli/oidc_options.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "net/proxy.hpp"

namespace gpufl::cli {
namespace {

constexpr const char* kSecretVariable = "GPUFL_OIDC_CLIENT_SECRET";
constexpr size_t kLongestSecret = 4096;

base::Result<std::string> secret_in(const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    return base::Status(base::Code::InvalidArgument, file + ": " + why);
  };
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return base::Status::from_errno(errno, "cannot read " + file);
  struct stat what{};
  std::array<char, kLongestSecret + 1> bytes{};
  const bool is_file = ::fstat(fd, &what) == 0 && S_ISREG(what.st_mode);
  const ssize_t got = is_file ? ::read(fd, bytes.data(), bytes.size()) : 0;
  ::close(fd);
  if (!is_file) return refuse("it is not a regular file");
  if ((what.st_mode & 077) != 0) {
    return refuse("others on this machine can read it; run chmod 600 on it");
  }
  std::string secret(bytes.data(), got > 0 ? static_cast<size_t>(got) : 0);
  while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
  if (secret.empty() || secret.size() > kLongestSecret || secret.find('\n') != std::string::npos) {
    return refuse("has no secret of one line, 4096 characters at most");
  }
  return secret;
}

}  // namespace

void add_oidc_options(Command command, OidcLine& line, Option data) {
  Option issuer = command
                      .add_option("--oidc-issuer", line.issuer,
                                  "With --data: people log in by way of this provider of OpenID "
                                  "Connect, too")
                      .type_name("URL")
                      .needs(data);
  Option client =
      command.add_option("--oidc-client", line.client_id, "As what the provider knows this server")
          .type_name("ID")
          .needs(issuer);
  issuer.needs(client);
  command
      .add_option("--oidc-secret-file", line.secret_file,
                  "Where the client's secret is, readable by you alone [default: "
                  "GPUFL_OIDC_CLIENT_SECRET, or none]")
      .type_name("FILE")
      .needs(issuer);
  command
      .add_option("--oidc-name", line.name,
                  "What the login page calls the provider [default: its host]")
      .type_name("NAME")
      .needs(issuer);
  command
      .add_option("--oidc-ca-file", line.ca_file,
                  "Certificates of who vouches for the provider [default: the system's]")
      .type_name("FILE")
      .needs(issuer);
  command
      .add_flag("--oidc-plain-http", line.allow_plain_http,
                "For tests: the provider may be on this machine's loopback, without TLS")
      .needs(issuer);
}

base::Result<std::optional<hosting::OidcSettings>> oidc_settings(const OidcLine& line) {
  std::optional<hosting::OidcSettings> settings;
  if (line.issuer.empty()) return settings;
  settings.emplace();
  settings->issuer = line.issuer;
  settings->client_id = line.client_id;
  settings->name = line.name;
  settings->ca_file = line.ca_file;
  settings->allow_plain_http = line.allow_plain_http;
  if (line.secret_file.empty()) {
    settings->client_secret = net::environment_variable(kSecretVariable);
    ::unsetenv(kSecretVariable);  // programs that this one starts have no use for it
    return settings;
  }
  auto secret = secret_in(line.secret_file);
  if (!secret) return secret.status();
  settings->client_secret = std::move(*secret);
  return settings;
}

}  // namespace gpufl::cli
