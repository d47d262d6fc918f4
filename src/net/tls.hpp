// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"
#include "net/byte_stream.hpp"

// TLS 1.2 and 1.3 over a stream, by OpenSSL: the server's certificate is checked, always. Contexts
// are shared by any threads, a stream is one thread's.
struct ssl_ctx_st;  // OpenSSL's own

namespace gpufl::net {

struct TlsChoice {
  std::string ca_file;           // who is trusted; empty: the system's bundle, wherever it is
  std::string certificate_file;  // of the client, where the server asks for one; PEM with its chain
  std::string key_file;          // its key; empty: in the same file
};

class TlsContext {
 public:
  // Fails with a sentence that names the file which cannot be used.
  static base::Result<std::shared_ptr<TlsContext>> make(const TlsChoice& choice);

  // Shakes hands; `host` is a name or an address, which the certificate must name.
  base::Result<std::unique_ptr<ByteStream>> start(std::unique_ptr<ByteStream> plain,
                                                  const std::string& host,
                                                  const Patience& patience) const;

 private:
  explicit TlsContext(std::shared_ptr<ssl_ctx_st> context) : context_(std::move(context)) {}

  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace gpufl::net
