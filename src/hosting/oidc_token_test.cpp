// SPDX-License-Identifier: Apache-2.0
#include "hosting/oidc_token.hpp"

#include <gtest/gtest.h>

#include "hosting/test_provider.hpp"

namespace gpufl::hosting {
namespace {

using base::Code;
using base::Json;
using testing::list_of;
using testing::Signer;

constexpr const char* kIssuer = "https://id.example";

class TokenTest : public ::testing::Test {
 protected:
  static Json claims() {
    return Json::object()
        .set("iss", kIssuer)
        .set("aud", "gpufl")
        .set("sub", "248289761001")
        .set("nonce", "n-0S6")
        .set("iat", kNow_s)
        .set("exp", kNow_s + 300)
        .set("email", "ada@example.org")
        .set("email_verified", true)
        .set("preferred_username", "ada");
  }
  static Json with(const char* name, Json value) { return claims().set(name, std::move(value)); }
  static Json without(std::string_view name) {
    const Json all = claims();
    Json some = Json::object();
    for (const auto& [key, value] : all.members()) {
      if (key != name) some.set(key, value);
    }
    return some;
  }
  base::Result<TokenClaims> check(const std::string& token) const {
    return check_id_token(token, keys_, {kIssuer, "gpufl", "n-0S6", kNow_s});
  }
  Code code_of(const std::string& token) const {
    const auto checked = check(token);
    return checked ? Code::Ok : checked.status().code();
  }

  static constexpr int64_t kNow_s = 1'800'000'000;
  const Signer rsa_ = Signer::rsa("r"), p256_ = Signer::p256("e");
  const std::vector<SigningKey> keys_ =
      *parse_signing_keys(Json::object().set("keys", list_of({rsa_.jwk(), p256_.jwk()})));
};

TEST_F(TokenTest, BothAlgorithmsAreChecked) {
  ASSERT_EQ(keys_.size(), 2U);
  for (const Signer* signer : {&rsa_, &p256_}) {
    const auto checked = check(signer->token(claims()));
    ASSERT_TRUE(checked) << checked.status().text();
    EXPECT_EQ(checked->subject, "248289761001");
    EXPECT_EQ(checked->email, "ada@example.org");
    EXPECT_EQ(checked->username, "ada");
    EXPECT_TRUE(checked->is_email_verified);
    EXPECT_EQ(code_of(signer->token(with("aud", list_of({"gpufl"})))), Code::Ok);
    EXPECT_EQ(code_of(signer->token(with("exp", 1'800'000'300.5))), Code::Ok);
  }
  EXPECT_FALSE(check(rsa_.token(with("email_verified", "true")))->is_email_verified);
  // The only key of its kind needs no name.
  const Json header = Json::object().set("alg", "ES256");
  EXPECT_EQ(code_of(p256_.token(header, claims())), Code::Ok);
}

TEST_F(TokenTest, WhatIsForSomethingElseIsRefused) {
  const Json both = list_of({"gpufl", "other"});
  for (const Json& wrong : {with("iss", "https://id.example/"),
                            with("iss", "https://evil.example"),
                            without("iss"),
                            with("aud", "other"),
                            with("aud", Json::array()),
                            with("aud", both),
                            without("aud"),
                            with("azp", "other"),
                            with("nonce", "n-0S7"),
                            with("nonce", ""),
                            without("nonce"),
                            with("exp", kNow_s - 60),
                            with("exp", "1900000000"),
                            without("exp"),
                            with("iat", kNow_s + 61),
                            without("iat"),
                            with("nbf", kNow_s + 61),
                            with("nbf", "0"),
                            with("sub", ""),
                            with("sub", 7),
                            without("sub"),
                            with("sub", std::string(256, 's')),
                            Json::object()}) {
    EXPECT_EQ(code_of(p256_.token(wrong)), Code::PermissionDenied) << wrong.dump();
  }
  EXPECT_EQ(code_of(p256_.token(with("aud", both).set("azp", "gpufl"))), Code::Ok);
  EXPECT_EQ(code_of(p256_.token(with("exp", kNow_s - 59))), Code::Ok) << "clocks differ a little";
  EXPECT_EQ(code_of(p256_.token(with("iat", kNow_s + 59))), Code::Ok);
}

TEST_F(TokenTest, AForgedSignatureIsRefused) {
  const std::string good = rsa_.token(claims());
  const size_t first = good.find('.'), second = good.find('.', first + 1);
  const std::string text = good.substr(0, second);
  const auto part = [](const Json& json) { return encode_base64url(json.dump()); };
  const auto header = [](const char* algorithm) {
    return Json::object().set("alg", algorithm).set("kid", "r");
  };
  // No signature, whatever it is called.
  for (const char* none : {"none", "None", "NONE", "", "HS256", "RS512", "PS256", "ES256K"}) {
    for (const std::string& signature : {std::string(), good.substr(second + 1)}) {
      EXPECT_EQ(code_of(part(header(none)) + "." + part(claims()) + "." + signature),
                Code::PermissionDenied)
          << none;
    }
  }
  // HMAC with what everybody knows for the secret.
  for (const std::string& secret : {rsa_.public_pem(), rsa_.jwk()["n"].as_string()}) {
    const std::string forged = part(header("HS256")) + "." + part(claims());
    EXPECT_EQ(code_of(forged + "." + encode_base64url(testing::hmac_sha256(secret, forged))),
              Code::PermissionDenied);
    const std::string disguised = part(header("RS256")) + "." + part(claims());
    EXPECT_EQ(code_of(disguised + "." + encode_base64url(testing::hmac_sha256(secret, disguised))),
              Code::PermissionDenied);
  }
  // Another's key under a name that is known, and a key for the other algorithm.
  EXPECT_EQ(code_of(Signer::rsa("r").token(claims())), Code::PermissionDenied);
  EXPECT_EQ(code_of(Signer::p256("e").token(claims())), Code::PermissionDenied);
  EXPECT_EQ(code_of(rsa_.token(header("ES256"), claims())), Code::NotFound);
  // A key that the token brings along.
  Json own = header("RS256").set("kid", "mine");
  const Signer mine = Signer::rsa("mine");
  own.set("jwk", mine.jwk()).set("jku", "https://evil.example/jwks");
  EXPECT_EQ(code_of(mine.token(own, claims())), Code::NotFound);
  EXPECT_EQ(code_of(rsa_.token(rsa_.header().set("kid", "unknown"), claims())), Code::NotFound);
  EXPECT_EQ(code_of(rsa_.token(rsa_.header().set("kid", 7), claims())), Code::NotFound);
  EXPECT_EQ(code_of(rsa_.token(rsa_.header().set("crit", list_of({"x"})), claims())),
            Code::PermissionDenied);
  // Other content under the same signature, and another signature.
  EXPECT_EQ(code_of(good.substr(0, first + 1) + part(with("sub", "1")) + good.substr(second)),
            Code::PermissionDenied);
  for (const std::string& signature : {std::string(), std::string("AA"), std::string(342, 'A'),
                                       good.substr(second + 1) + "A", std::string("!!")}) {
    EXPECT_EQ(code_of(text + "." + signature), Code::PermissionDenied) << signature;
  }
  const std::string elliptic = p256_.token(claims());
  const std::string begun = elliptic.substr(0, elliptic.rfind('.') + 1);
  for (const size_t bytes : {0, 63, 64, 65, 72}) {
    EXPECT_EQ(code_of(begun + encode_base64url(std::string(bytes, '\0'))), Code::PermissionDenied)
        << bytes;
  }
}

TEST_F(TokenTest, WhatIsNoTokenIsRefused) {
  const std::string header = encode_base64url(rsa_.header().dump());
  for (const std::string& none :
       {std::string(), std::string("."), std::string(".."), std::string("a.b.c"),
        std::string("a.b.c.d"), header + "..", header + ".e30." + "A=", std::string(70'000, 'a'),
        encode_base64url("[]") + ".e30.AA", encode_base64url("{") + ".e30.AA",
        rsa_.token(claims()) + "."}) {
    EXPECT_EQ(code_of(none), Code::PermissionDenied) << none.substr(0, 100);
  }
  // Signed, and yet no object.
  const std::string text = header + "." + encode_base64url("[1]");
  EXPECT_EQ(code_of(text + "." + encode_base64url(rsa_.sign(text))), Code::PermissionDenied);
}

TEST_F(TokenTest, KeysThatAreNotForThisArePassedOver) {
  const auto count = [](Json key) {
    const auto keys = parse_signing_keys(Json::object().set("keys", list_of({std::move(key)})));
    return keys ? static_cast<int>(keys->size()) : -1;
  };
  EXPECT_EQ(count(rsa_.jwk()), 1);
  EXPECT_EQ(count(rsa_.jwk().set("use", "enc")), 0);
  EXPECT_EQ(count(rsa_.jwk().set("alg", "PS256")), 0);
  EXPECT_EQ(count(p256_.jwk().set("crv", "P-384")), 0);
  EXPECT_EQ(count(p256_.jwk().set("x", p256_.jwk()["y"])), 0) << "not on the curve";
  EXPECT_EQ(count(p256_.jwk().set("x", "AA")), 0);
  EXPECT_EQ(count(Signer::rsa("short", 1024).jwk()), 0);
  EXPECT_EQ(count(rsa_.jwk().set("n", encode_base64url(std::string(1025, '\x7f')))), 0);
  EXPECT_EQ(count(rsa_.jwk().set("e", encode_base64url(std::string(5, '\x7f')))), 0);
  EXPECT_EQ(count(rsa_.jwk().set("n", "?")), 0);
  EXPECT_EQ(count(Json::object().set("kty", "oct").set("k", "c2VjcmV0").set("alg", "HS256")), 0);
  EXPECT_EQ(count(Json("key")), 0);
  EXPECT_FALSE(parse_signing_keys(Json::object()));
  EXPECT_FALSE(parse_signing_keys(Json::object().set("keys", "x")));
  Json many = Json::array();
  for (int i = 0; i < 101; ++i) many.push(p256_.jwk());
  EXPECT_FALSE(parse_signing_keys(Json::object().set("keys", std::move(many))));
}

TEST(Base64UrlTest, IsStrict) {
  for (const std::string& bytes : {std::string(), std::string("f"), std::string("fo"),
                                   std::string("foo"), std::string("\0\xff\xfe", 3)}) {
    EXPECT_EQ(decode_base64url(encode_base64url(bytes)), bytes);
  }
  EXPECT_EQ(encode_base64url("\xfb\xff"), "-_8");
  for (const char* wrong : {"A", "AAAAA", "-_9", "Zg==", "Z+", "Z/", "Z g", "Zh"}) {
    EXPECT_EQ(decode_base64url(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace gpufl::hosting
