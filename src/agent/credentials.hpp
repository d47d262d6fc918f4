// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/ingest.hpp"
#include "base/status.hpp"
#include "net/proxy.hpp"

// To which server, with which key: from the command line, the environment, or what `gpufl login`
// has kept in a file that only its user can read. Keys are never told to anybody else.
namespace gpufl::agent {

struct Login {
  std::string backend_url, api_path, api_key;
};

// The logins of a user, the newest first.
class Credentials {
 public:
  // $XDG_CONFIG_HOME/gpufl/credentials.json, else ~/.config/...; empty: there is no home.
  static std::filesystem::path usual_file(const net::Variables& variables);
  // None where there is no file. PermissionDenied where others can read it, Corrupt where it is not
  // what put() writes.
  static base::Result<Credentials> read(const std::filesystem::path& file);

  const std::vector<Login>& logins() const { return logins_; }
  // The newest; of that server where one is named.
  std::optional<Login> find(const std::string& backend_url) const;
  // Takes the place of an earlier one of that server. The file is there as a whole or as it was,
  // and was at no time readable by others.
  base::Status put(const std::filesystem::path& file, const Login& login);

 private:
  std::vector<Login> logins_;
};

// What the command line says; empty: not said.
struct ServerChoice {
  std::string backend_url, api_key, api_path;
  std::chrono::milliseconds connect_time{10000}, quiet_time{30000};
};
// GPUFL_API_KEY, if it is meant for that server: not where GPUFL_BACKEND_URL names another one.
std::string key_variable(const std::string& backend_url, const net::Variables& variables);
// The rest is from GPUFL_BACKEND_URL, GPUFL_API_KEY and GPUFL_API_PATH, else from the logins. A
// login's key goes to its own server only, and so does that of the variables. InvalidArgument, with
// what to do, where something is missing.
base::Result<IngestAddress> choose_server(const ServerChoice& choice,
                                          const net::Variables& variables,
                                          const std::filesystem::path& credentials);

// Connects to nothing yet. Certificates are from GPUFL_CA_FILE, GPUFL_CLIENT_CERT and
// GPUFL_CLIENT_KEY.
base::Result<std::unique_ptr<Ingest>> make_ingest(const IngestAddress& address,
                                                  const ServerChoice& choice,
                                                  const net::Variables& variables,
                                                  std::function<bool()> is_stopped);

// What is wrong with sending a key there in the clear; empty: nothing.
std::string warning_of(const IngestAddress& address);

}  // namespace gpufl::agent
