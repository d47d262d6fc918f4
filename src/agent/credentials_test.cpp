// SPDX-License-Identifier: Apache-2.0
#include "agent/credentials.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>

#include "agent/test_server.hpp"
#include "format/test_session.hpp"

namespace gpufl::agent {
namespace {

namespace fs = std::filesystem;
using format::testing::read_text;
using format::testing::write_text;
using testing::make_key;

class CredentialsTest : public ::testing::Test {
 protected:
  net::Variables variables() {
    return [this](const std::string& name) { return set_[name]; };
  }
  void log_in(const std::string& url, const std::string& key, const std::string& path = "") {
    auto credentials = Credentials::read(file_);
    ASSERT_TRUE(credentials) << credentials.status().text();
    const base::Status status = credentials->put(file_, {url, path, key});
    ASSERT_TRUE(status) << status.text();
  }
  std::string chosen(const ServerChoice& choice = {}) {
    const auto address = choose_server(choice, variables(), file_);
    if (!address) return address.status().message();
    return address->url.origin() + address->api_path + " " + address->key;
  }

  base::TempDir dir_;
  const fs::path file_ = dir_.path() / "deep" / "credentials.json";
  std::map<std::string, std::string> set_;
};

TEST_F(CredentialsTest, AreTheUsersAlone) {
  log_in("https://a", make_key());
  struct stat what{};
  ASSERT_EQ(::stat(file_.c_str(), &what), 0);
  EXPECT_EQ(what.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(file_.parent_path().c_str(), &what), 0);
  EXPECT_EQ(what.st_mode & 0777, 0700u);
  ASSERT_EQ(::chmod(file_.c_str(), 0640), 0);
  const auto read = Credentials::read(file_);
  EXPECT_EQ(read.status().code(), base::Code::PermissionDenied);
  EXPECT_NE(chosen().find("chmod 600"), std::string::npos) << chosen();
}

TEST_F(CredentialsTest, TheNewestLoginIsMeant) {
  log_in("https://a/", make_key('1'));
  log_in("https://b", make_key('2'), "/x");
  EXPECT_EQ(chosen(), "https://b/x " + make_key('2'));
  log_in("https://A:443", make_key('3'));
  EXPECT_EQ(chosen({.backend_url = "https://a", .api_key = "", .api_path = ""}),
            "https://A/api/v1 " + make_key('3'));
  EXPECT_EQ(Credentials::read(file_)->logins().size(), 2u) << "one a server";
}

TEST_F(CredentialsTest, TheEnvironmentWins) {
  log_in("https://a", make_key('1'), "/kept");
  set_ = {{"GPUFL_BACKEND_URL", "https://b"},
          {"GPUFL_API_KEY", make_key('2')},
          {"GPUFL_API_PATH", "/c"}};
  EXPECT_EQ(chosen(), "https://b/c " + make_key('2'));
  EXPECT_EQ(chosen({.backend_url = "https://d", .api_key = make_key('4'), .api_path = "/e"}),
            "https://d/e " + make_key('4'));
}

TEST_F(CredentialsTest, AKeyGoesToItsOwnServerOnly) {
  log_in("https://a", make_key());
  set_ = {{"GPUFL_BACKEND_URL", "https://elsewhere"}};
  EXPECT_EQ(chosen(),
            "there is no key for https://elsewhere: run 'gpufl login URL', or set GPUFL_API_KEY");
  set_ = {{"GPUFL_BACKEND_URL", "https://a/"}};
  EXPECT_EQ(chosen(), "https://a/api/v1 " + make_key());
}

TEST_F(CredentialsTest, TheVariablesKeyGoesToItsOwnServerOnly) {
  set_ = {{"GPUFL_BACKEND_URL", "https://a"}, {"GPUFL_API_KEY", make_key('2')}};
  EXPECT_EQ(chosen({.backend_url = "https://a/", .api_key = "", .api_path = ""}),
            "https://a/api/v1 " + make_key('2'));
  const ServerChoice other{.backend_url = "https://b", .api_key = "", .api_path = ""};
  EXPECT_EQ(chosen(other),
            "there is no key for https://b: run 'gpufl login URL', or set GPUFL_API_KEY");
  log_in("https://b", make_key('1'));
  EXPECT_EQ(chosen(other), "https://b/api/v1 " + make_key('1'));
  set_ = {{"GPUFL_API_KEY", make_key('2')}};
  EXPECT_EQ(chosen(other), "https://b/api/v1 " + make_key('2')) << "both are named";
  EXPECT_TRUE(chosen().starts_with("GPUFL_API_KEY is set, but not for which server")) << chosen();
}

TEST_F(CredentialsTest, DamageIsToldAndNothingIsLost) {
  log_in("https://a", make_key());
  write_text(file_, "{");
  EXPECT_TRUE(chosen().ends_with("is damaged: delete it, and run 'gpufl login' again")) << chosen();
  EXPECT_EQ(read_text(file_), "{");
  fs::remove(file_);
  EXPECT_EQ(chosen(), "no server is named: run 'gpufl login URL', or set GPUFL_BACKEND_URL");
}

TEST_F(CredentialsTest, LieInTheUsersConfiguration) {
  set_ = {{"HOME", "/home/me"}};
  EXPECT_EQ(Credentials::usual_file(variables()), "/home/me/.config/gpufl/credentials.json");
  set_["XDG_CONFIG_HOME"] = "/c";
  EXPECT_EQ(Credentials::usual_file(variables()), "/c/gpufl/credentials.json");
  set_ = {};
  EXPECT_EQ(Credentials::usual_file(variables()), "");
}

TEST(Warning, IsOfKeysInTheClear) {
  EXPECT_EQ(warning_of(*make_address("https://a", make_key(), "")), "");
  EXPECT_EQ(warning_of(*make_address("http://127.0.0.1:1", make_key(), "")), "");
  EXPECT_EQ(warning_of(*make_address("http://a", make_key(), "")),
            "the key goes to http://a unencrypted: use https:// where you can");
}

}  // namespace
}  // namespace gpufl::agent
