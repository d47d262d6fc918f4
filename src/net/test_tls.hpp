// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <memory>
#include <string>

// For tests: a CA, and certificates that it has signed, made anew each time.
namespace gpufl::net {

class Authority {
 public:
  explicit Authority(std::filesystem::path folder) : folder_(std::move(folder)) {
    write("ca", make("Test CA", "", true));
  }

  // FOLDER/NAME.pem: a certificate and its key. `names` as in "DNS:a.test,IP:127.0.0.1".
  std::string issue(const std::string& name, const std::string& names, long days = 1) {
    write(name, make(name, names, false, days));
    return file(name);
  }
  std::string file(const std::string& name = "ca") const { return folder_ / (name + ".pem"); }

 private:
  struct Pair {
    std::shared_ptr<EVP_PKEY> key;
    std::shared_ptr<X509> certificate;
  };

  Pair make(const std::string& name, const std::string& names, bool is_ca, long days = 1) {
    Pair pair{{EVP_EC_gen("P-256"), EVP_PKEY_free}, {X509_new(), X509_free}};
    X509* const certificate = pair.certificate.get();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -2L * 24 * 3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), days * 24 * 3600);
    X509_set_pubkey(certificate, pair.key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    if (is_ca) ca_ = pair;
    X509_set_issuer_name(certificate, X509_get_subject_name(ca_.certificate.get()));
    extend(certificate, NID_basic_constraints, is_ca ? "critical,CA:TRUE" : "CA:FALSE");
    if (!names.empty()) extend(certificate, NID_subject_alt_name, names);
    EXPECT_GT(X509_sign(certificate, ca_.key.get(), EVP_sha256()), 0);
    return pair;
  }
  static void extend(X509* certificate, int what, const std::string& value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, what, value.c_str());
    EXPECT_NE(extension, nullptr) << value;
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  void write(const std::string& name, const Pair& pair) const {
    const std::unique_ptr<FILE, int (*)(FILE*)> out(std::fopen(file(name).c_str(), "w"),
                                                    std::fclose);
    PEM_write_X509(out.get(), pair.certificate.get());
    PEM_write_PrivateKey(out.get(), pair.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }

  const std::filesystem::path folder_;
  Pair ca_;
  long serial_ = 0;
};

// The server's side of a connection, in blocking calls.
class TlsSide {
 public:
  // `client_ca`: clients must show a certificate of that CA; empty: none is asked for.
  TlsSide(int socket, const std::string& certificate, const std::string& client_ca = "")
      : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free), ssl_(nullptr, SSL_free) {
    EXPECT_EQ(SSL_CTX_use_certificate_file(context_.get(), certificate.c_str(), SSL_FILETYPE_PEM),
              1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey_file(context_.get(), certificate.c_str(), SSL_FILETYPE_PEM),
              1);
    if (!client_ca.empty()) {
      SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                         nullptr);
      EXPECT_EQ(SSL_CTX_load_verify_file(context_.get(), client_ca.c_str()), 1);
    }
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), socket);
    is_open_ = SSL_accept(ssl_.get()) == 1;
  }

  bool is_open() const { return is_open_; }
  std::string server_name() const {
    const char* const name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
    return name == nullptr ? "" : name;
  }
  std::string hear(std::string_view end = "\r\n\r\n") {
    std::string text;
    char byte;
    while (!text.ends_with(end) && SSL_read(ssl_.get(), &byte, 1) == 1) text += byte;
    return text;
  }
  void say(std::string_view text) {
    SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()));
  }
  void say_goodbye() { SSL_shutdown(ssl_.get()); }

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  bool is_open_ = false;
};

}  // namespace gpufl::net
