// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/sha256.hpp"
#include "hosting/oidc_token.hpp"
#include "net/target.hpp"
#include "net/test_client.hpp"

// For tests: keys that sign tokens, and a provider of logins that says whatever a test wants.
namespace gpufl::hosting::testing {

inline int64_t now_s() { return base::wall_ns() / 1'000'000'000; }

inline base::Json list_of(std::initializer_list<base::Json> items) {
  base::Json list = base::Json::array();
  for (const base::Json& item : items) list.push(item);
  return list;
}

class Signer {
 public:
  static Signer rsa(std::string id, size_t bits = 2048) {
    return {std::move(id), "RS256", EVP_RSA_gen(bits)};
  }
  static Signer p256(std::string id) { return {std::move(id), "ES256", EVP_EC_gen("P-256")}; }

  base::Json jwk() const {
    base::Json json = base::Json::object();
    json.set("kid", id_).set("use", "sig").set("alg", algorithm_);
    if (algorithm_ == "RS256") {
      json.set("kty", "RSA").set("n", number("n")).set("e", number("e"));
    } else {
      json.set("kty", "EC")
          .set("crv", "P-256")
          .set("x", number("qx", 32))
          .set("y", number("qy", 32));
    }
    return json;
  }
  base::Json jwks() const { return base::Json::object().set("keys", list_of({jwk()})); }
  base::Json header() const {
    return base::Json::object().set("alg", algorithm_).set("kid", id_).set("typ", "JWT");
  }
  std::string token(const base::Json& claims) const { return token(header(), claims); }
  std::string token(const base::Json& header, const base::Json& claims) const {
    const std::string text =
        encode_base64url(header.dump()) + "." + encode_base64url(claims.dump());
    return text + "." + encode_base64url(sign(text));
  }
  std::string sign(const std::string& text) const {
    const std::shared_ptr<EVP_MD_CTX> digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    size_t size = 1024;
    std::string signature(size, '\0');
    EXPECT_EQ(EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_.get()), 1);
    EXPECT_EQ(EVP_DigestSign(digest.get(), bytes(signature), &size,
                             reinterpret_cast<const unsigned char*>(text.data()), text.size()),
              1);
    signature.resize(size);
    if (algorithm_ == "RS256") return signature;
    const auto* der = bytes(signature);
    const std::shared_ptr<ECDSA_SIG> pair(
        d2i_ECDSA_SIG(nullptr, &der, static_cast<long>(signature.size())), ECDSA_SIG_free);
    std::string both(64, '\0');
    BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), bytes(both), 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), bytes(both) + 32, 32);
    return both;
  }
  // What everybody has, as a file has it.
  std::string public_pem() const {
    const std::shared_ptr<BIO> out(BIO_new(BIO_s_mem()), BIO_free);
    EXPECT_EQ(PEM_write_bio_PUBKEY(out.get(), key_.get()), 1);
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return {text, static_cast<size_t>(size)};
  }

 private:
  Signer(std::string id, std::string algorithm, EVP_PKEY* key)
      : id_(std::move(id)), algorithm_(std::move(algorithm)), key_(key, EVP_PKEY_free) {}

  static unsigned char* bytes(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
  }
  std::string number(const char* name, int least = 0) const {
    BIGNUM* found = nullptr;
    EXPECT_EQ(EVP_PKEY_get_bn_param(key_.get(), name, &found), 1);
    const std::shared_ptr<BIGNUM> value(found, BN_free);
    const int size = std::max(least, BN_num_bytes(found));
    std::string text(static_cast<size_t>(size), '\0');
    BN_bn2binpad(found, bytes(text), size);
    return encode_base64url(text);
  }

  std::string id_, algorithm_;
  std::shared_ptr<EVP_PKEY> key_;
};

inline std::string hmac_sha256(const std::string& key, const std::string& text) {
  std::string out(32, '\0');
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       reinterpret_cast<unsigned char*>(out.data()), nullptr);
  return out;
}

// Listens on loopback. Whoever is asked to log in is `person`, at once.
class Provider {
 public:
  using Mischief = std::function<std::optional<net::HttpReply>(const net::HttpRequest& request)>;

  Provider() : http_(net::serve([this](const net::HttpRequest& asked) { return answer(asked); })) {
    person_ = base::Json::object().set("sub", "248289761001");
  }

  std::string issuer() const {
    return "http://127.0.0.1:" + std::to_string(http_->endpoint().port);
  }
  Signer& signer() { return signer_; }
  // What it says of whoever logs in, in the token; and what it says of itself.
  void set_person(base::Json person) {
    change([&] { person_ = std::move(person); });
  }
  void set_user_info(base::Json info) {
    change([&] { user_info_ = std::move(info); });
  }
  void set_about(const std::string& name, base::Json value) {
    change([&] { about_.emplace_back(name, std::move(value)); });
  }
  // Of every token: what is to be different. And instead of a token, or of an answer.
  void set_claims(std::function<void(base::Json&)> edit) {
    change([&] { edit_ = std::move(edit); });
  }
  void set_mischief(Mischief mischief) {
    change([&] { mischief_ = std::move(mischief); });
  }
  void rotate(Signer signer) {
    change([&] { signer_ = std::move(signer); });
  }
  // How often a path was asked for, and with what it was asked last.
  int times(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return times_[path];
  }
  net::NamedTexts last_form() {
    const std::lock_guard lock(mutex_);
    return last_form_;
  }
  std::string last_authorization() {
    const std::lock_guard lock(mutex_);
    return last_authorization_;
  }

  // What the browser brings back for where the server led it to.
  net::NamedTexts authorize(const std::string& address) {
    const size_t at = address.find('?');
    const auto asked = net::parse_query(std::string_view(address).substr(at + 1));
    std::map<std::string, std::string> values(asked->begin(), asked->end());
    const std::lock_guard lock(mutex_);
    const std::string code = "code" + std::to_string(codes_.size());
    codes_[code] = values;
    return {{"code", code}, {"state", values["state"]}, {"iss", issuer()}, {"session_state", "x"}};
  }

 private:
  template <typename Change>
  void change(Change&& how) {
    const std::lock_guard lock(mutex_);
    how();
  }

  net::HttpReply answer(const net::HttpRequest& asked) {
    Mischief mischief;
    {
      const std::lock_guard lock(mutex_);
      ++times_[asked.path];
      mischief = mischief_;
    }
    if (mischief) {
      if (auto reply = mischief(asked)) return std::move(*reply);
    }
    const std::lock_guard lock(mutex_);
    if (asked.path == "/.well-known/openid-configuration") return json(about());
    if (asked.path == "/jwks") return json(signer_.jwks());
    if (asked.path == "/me") return json(user_info_);
    if (asked.path == "/token") return give(asked);
    return net::problem(404);
  }
  base::Json about() const {
    base::Json about = base::Json::object();
    about.set("issuer", issuer()).set("authorization_endpoint", issuer() + "/auth?tenant=1");
    about.set("token_endpoint", issuer() + "/token").set("jwks_uri", issuer() + "/jwks");
    about.set("userinfo_endpoint", issuer() + "/me");
    about.set("end_session_endpoint", issuer() + "/end");
    for (const auto& [name, value] : about_) about.set(name, value);
    return about;
  }
  // As RFC 6749 and 7636 have it: a code counts once, for whoever knows the verifier.
  net::HttpReply give(const net::HttpRequest& asked) {
    last_form_ = *net::parse_query(asked.body);
    last_authorization_ = asked.header("Authorization");
    std::map<std::string, std::string> form(last_form_.begin(), last_form_.end());
    const auto found = codes_.find(form["code"]);
    const auto refuse = [](const char* why) {
      return json(base::Json::object().set("error", "invalid_grant").set("error_description", why),
                  400);
    };
    if (found == codes_.end()) return refuse("no such code");
    auto values = std::exchange(found->second, {});
    if (values.empty()) return refuse("used");
    base::Sha256 hash;
    hash.add(form["code_verifier"]);
    const std::string digits = hash.finish();
    std::string digest;
    for (size_t i = 0; i < 64; i += 2) {
      digest += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    }
    if (encode_base64url(digest) != values["code_challenge"]) return refuse("wrong verifier");
    if (form["redirect_uri"] != values["redirect_uri"]) return refuse("wrong address");
    base::Json claims = person_;
    claims.set("iss", issuer()).set("aud", values["client_id"]).set("nonce", values["nonce"]);
    claims.set("iat", now_s()).set("exp", now_s() + 300);
    if (edit_) edit_(claims);
    return json(base::Json::object()
                    .set("id_token", signer_.token(claims))
                    .set("access_token", "sesame")
                    .set("token_type", "Bearer"));
  }
  static net::HttpReply json(const base::Json& what, int status = 200) {
    return net::reply_with("application/json", what.dump(), status);
  }

  std::mutex mutex_;  // guards what follows
  Signer signer_ = Signer::p256("one");
  base::Json person_, user_info_ = base::Json::object().set("sub", "248289761001");
  std::vector<std::pair<std::string, base::Json>> about_;
  std::function<void(base::Json&)> edit_;
  Mischief mischief_;
  std::map<std::string, int> times_;
  std::map<std::string, std::map<std::string, std::string>> codes_;
  net::NamedTexts last_form_;
  std::string last_authorization_;
  std::unique_ptr<net::HttpServer> http_;  // last: its threads use the rest
};

}  // namespace gpufl::hosting::testing
