// SPDX-License-Identifier: Apache-2.0
#include "net/tls.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace gpufl::net {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr size_t kRecordBytes = size_t{16} * 1024;

// Where distributions keep who is trusted. OpenSSL is linked into the program, and so knows the
// place of the one it was built on only.
constexpr std::array kBundles = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Gentoo
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL, older
    "/etc/ssl/ca-bundle.pem",                             // SUSE
    "/etc/ssl/cert.pem",                                  // Alpine
    "/var/lib/ca-certificates/ca-bundle.pem",             // SUSE
    "/etc/ca-certificates/extracted/tls-ca-bundle.pem",   // Arch
};

// What OpenSSL says was wrong last, or the system before it; forgets the rest.
std::string last_error() {
  const unsigned long first = ERR_peek_error(), last = ERR_peek_last_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(first)) return std::strerror(ERR_GET_REASON(first));
  const char* const reason = last == 0 ? nullptr : ERR_reason_error_string(last);
  return reason == nullptr ? "unknown error" : reason;
}

base::Status cannot_use(const std::string& file, const std::string& as) {
  return {base::Code::InvalidArgument, "cannot use " + file + " as " + as + ": " + last_error()};
}

base::Status trust(SSL_CTX* context, const std::string& ca_file) {
  std::string file = ca_file;
  if (file.empty()) {
    const char* const named = std::getenv("SSL_CERT_FILE");
    const char* const folder = std::getenv("SSL_CERT_DIR");
    if (named != nullptr && *named != '\0') file = named;
    if (file.empty() && folder != nullptr && *folder != '\0') {
      if (SSL_CTX_load_verify_dir(context, folder) == 1) return {};
      return cannot_use(folder, "a folder of CA certificates (SSL_CERT_DIR)");
    }
  }
  for (const char* bundle : kBundles) {
    std::error_code ignored;
    if (file.empty() && fs::is_regular_file(bundle, ignored)) file = bundle;
  }
  if (file.empty()) return {};  // whoever answers is not trusted, and the error says what to do
  if (SSL_CTX_load_verify_file(context, file.c_str()) == 1) return {};
  return cannot_use(file, "CA certificates");
}

base::Status identify(SSL_CTX* context, const TlsChoice& choice) {
  if (choice.certificate_file.empty()) return {};
  if (SSL_CTX_use_certificate_chain_file(context, choice.certificate_file.c_str()) != 1) {
    return cannot_use(choice.certificate_file, "the client's certificate");
  }
  const std::string& key = choice.key_file.empty() ? choice.certificate_file : choice.key_file;
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return cannot_use(key, "the key of the client's certificate");
  }
  return {};
}

bool is_address(const std::string& host) {
  in_addr v4;
  in6_addr v6;
  return ::inet_pton(AF_INET, host.c_str(), &v4) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &v6) == 1;
}

using SslHandle = std::unique_ptr<SSL, decltype(&SSL_free)>;

class TlsStream : public ByteStream {
 public:
  TlsStream(SslHandle ssl, std::unique_ptr<ByteStream> plain, std::string host)
      : ssl_(std::move(ssl)), plain_(std::move(plain)), host_(std::move(host)) {}

  base::Status shake_hands(const Patience& patience) {
    while (true) {
      ERR_clear_error();
      const int result = SSL_connect(ssl_.get());
      if (result == 1) return flush(patience);
      const int error = SSL_get_error(ssl_.get(), result);
      if (error != SSL_ERROR_WANT_READ) {
        (void)flush(patience);  // the alert, for the server's log
        return explain();
      }
      if (base::Status status = flush(patience); !status) return status;
      if (has_unread()) continue;
      const auto got = fill(patience);
      if (!got) return got.status();
      if (*got == 0) {
        return {base::Code::Unavailable,
                host_ + " ended the connection while it was being secured"};
      }
    }
  }

  base::Result<std::string_view> write(std::string_view bytes, const Patience& patience) override {
    while (!bytes.empty()) {
      const auto has = has_input(milliseconds(0), patience);
      if (!has) return has.status();
      if (*has) return bytes;
      const std::string_view piece = bytes.substr(0, kRecordBytes);
      ERR_clear_error();
      const int written = SSL_write(ssl_.get(), piece.data(), static_cast<int>(piece.size()));
      if (written <= 0) return broken();
      bytes.remove_prefix(static_cast<size_t>(written));
      if (base::Status status = flush(patience); !status) return status;
    }
    return bytes;
  }

  base::Result<size_t> read(std::span<char> into, const Patience& patience) override {
    while (true) {
      ERR_clear_error();
      const int got = SSL_read(ssl_.get(), into.data(), static_cast<int>(into.size()));
      if (got > 0) return static_cast<size_t>(got);
      const int error = SSL_get_error(ssl_.get(), got);
      if (error == SSL_ERROR_ZERO_RETURN) return size_t{0};
      if (error != SSL_ERROR_WANT_READ) return broken();
      if (base::Status status = flush(patience); !status) return status;
      if (has_unread()) continue;
      const auto filled = fill(patience);
      if (!filled) return filled.status();
      // Without a goodbye anybody on the way may have cut it.
      if (*filled == 0) {
        return base::Status(base::Code::Unavailable, "the connection to " + host_ + " was cut");
      }
    }
  }

  base::Result<bool> has_input(milliseconds at_most, const Patience& patience) override {
    while (true) {
      char first;
      ERR_clear_error();
      const int got = SSL_peek(ssl_.get(), &first, 1);
      // An error or the end is for read() to tell.
      if (got > 0 || SSL_get_error(ssl_.get(), got) != SSL_ERROR_WANT_READ) return true;
      auto has = plain_->has_input(at_most, patience);
      if (!has || !*has) return has;
      const auto filled = fill(patience);
      if (!filled) return filled.status();
      if (*filled == 0) return true;
    }
  }

 private:
  // What OpenSSL has made goes out. A peer that speaks meanwhile is read first, or both would wait.
  base::Status flush(const Patience& patience) {
    std::array<char, kRecordBytes> made;
    int size = 0;
    while ((size = BIO_read(SSL_get_wbio(ssl_.get()), made.data(), made.size())) > 0) {
      std::string_view left(made.data(), static_cast<size_t>(size));
      while (true) {
        const auto unsent = plain_->write(left, patience);
        if (!unsent) return unsent.status();
        left = *unsent;
        if (left.empty()) break;
        const auto got = fill(patience);
        if (!got) return got.status();
        if (*got == 0) return {};  // what it said before is read first, and then its end
      }
    }
    return {};
  }

  // Bytes came while others were sent.
  bool has_unread() const { return BIO_ctrl_pending(SSL_get_rbio(ssl_.get())) > 0; }

  base::Result<size_t> fill(const Patience& patience) {
    std::array<char, kRecordBytes> came;
    const auto got = plain_->read(came, patience);
    if (got && *got > 0) BIO_write(SSL_get_rbio(ssl_.get()), came.data(), static_cast<int>(*got));
    return got;
  }

  base::Status broken() const {
    return {base::Code::Unavailable, "the connection to " + host_ + " broke: " + last_error()};
  }

  // Why no hands were shaken.
  base::Status explain() const {
    const long verdict = SSL_get_verify_result(ssl_.get());
    if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_WRONG_VERSION_NUMBER) {
      ERR_clear_error();
      return {base::Code::Unavailable,
              host_ + " does not speak TLS on this port: is it an address with http://?"};
    }
    if (verdict == X509_V_OK) {
      return {base::Code::Unavailable, "cannot speak TLS with " + host_ + ": " + last_error()};
    }
    const std::string why = X509_verify_cert_error_string(verdict);
    ERR_clear_error();
    if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH) {
      return {base::Code::PermissionDenied,
              "the certificate that answers for " + host_ + " is another host's"};
    }
    return {base::Code::PermissionDenied,
            "the certificate of " + host_ + " is not trusted (" + why +
                "); if you run a CA yourself, name its certificate with GPUFL_CA_FILE"};
  }

  SslHandle ssl_;
  std::unique_ptr<ByteStream> plain_;
  const std::string host_;
};

}  // namespace

base::Result<std::shared_ptr<TlsContext>> TlsContext::make(const TlsChoice& choice) {
  // A configuration file of the system would load parts of another OpenSSL into this one.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (!context) return base::Status(base::Code::LimitReached, "no memory for TLS");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  // Uploads last longer than a session is resumed for, and reads may stand still in between.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  if (base::Status status = trust(context.get(), choice.ca_file); !status) return status;
  if (base::Status status = identify(context.get(), choice); !status) return status;
  return std::shared_ptr<TlsContext>(new TlsContext(context));
}

base::Result<std::unique_ptr<ByteStream>> TlsContext::start(std::unique_ptr<ByteStream> plain,
                                                            const std::string& host,
                                                            const Patience& patience) const {
  SslHandle ssl(SSL_new(context_.get()), SSL_free);
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  if (!ssl || in == nullptr || out == nullptr) {
    BIO_free(in);
    BIO_free(out);
    return base::Status(base::Code::LimitReached, "no memory for TLS");
  }
  SSL_set_bio(ssl.get(), in, out);
  const bool is_named =
      is_address(host) ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), host.c_str()) == 1
                       : SSL_set1_host(ssl.get(), host.c_str()) == 1 &&
                             SSL_set_tlsext_host_name(ssl.get(), host.c_str()) == 1;
  if (!is_named) return base::Status(base::Code::InvalidArgument, host + " is not a name for TLS");
  auto stream = std::make_unique<TlsStream>(std::move(ssl), std::move(plain), host);
  if (base::Status status = stream->shake_hands(patience); !status) return status;
  return std::unique_ptr<ByteStream>(std::move(stream));
}

}  // namespace gpufl::net
