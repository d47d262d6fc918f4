// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <memory>
#include <string>

#include "base/temp_dir.hpp"
#include "net/http_client.hpp"
#include "net/test_peer.hpp"
#include "net/test_tls.hpp"

namespace gpufl::net {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

class HttpClientTls : public testing::Test {
 protected:
  // The server's own writes to a client that has gone.
  HttpClientTls() { ::signal(SIGPIPE, SIG_IGN); }

  base::Result<ClientReply> ask(const std::string& url, const ClientRequest& request = {}) {
    options_.connect_time = options_.quiet_time = options_.total_time = 2min;
    options_.variables = [this](const std::string& name) {
      return name == "https_proxy" ? proxy_ : "";
    };
    if (options_.tls.ca_file.empty()) options_.tls.ca_file = ca_.file();
    auto client = HttpClient::make(*parse_url(url), options_);
    if (!client) return client.status();
    return (*client)->ask(request);
  }
  // A server with that certificate, which answers what it is asked with `answer`.
  std::unique_ptr<Peer> serve_tls(const std::string& certificate,
                                  std::string_view answer = kHello) {
    return std::make_unique<Peer>([this, certificate, answer](Peer&, int socket, int) {
      TlsSide side(socket, certificate, client_ca_);
      name_ = side.server_name();
      while (side.is_open() && !(heard_ = side.hear()).empty()) side.say(answer);
    });
  }

  base::TempDir folder_;
  Authority ca_{folder_.path()};
  HttpClientOptions options_;
  std::string proxy_, client_ca_, heard_, name_;
};

TEST_F(HttpClientTls, TrustsItsCa) {
  const auto server = serve_tls(ca_.issue("here", "IP:127.0.0.1"));
  const auto reply = ask(server->url("https"));
  ASSERT_TRUE(reply) << reply.status().text();
  EXPECT_EQ(reply->body, "hello");
  EXPECT_EQ(name_, "") << "an address is no server name";
}

TEST_F(HttpClientTls, RefusesACertificateThatNobodyHasSigned) {
  const base::TempDir other_folder;
  Authority other(other_folder.path());
  const auto server = serve_tls(other.issue("here", "IP:127.0.0.1"));
  const auto reply = ask(server->url("https"));
  EXPECT_EQ(reply.status().code(), base::Code::PermissionDenied);
  EXPECT_NE(reply.status().message().find("GPUFL_CA_FILE"), std::string::npos)
      << reply.status().message();
}

TEST_F(HttpClientTls, RefusesAnothersCertificate) {
  const auto server = serve_tls(ca_.issue("elsewhere", "DNS:gpu.example.com,IP:127.0.0.2"));
  EXPECT_EQ(ask(server->url("https")).status().message(),
            "the certificate that answers for 127.0.0.1 is another host's");
}

TEST_F(HttpClientTls, RefusesACertificateThatHasEnded) {
  const auto server = serve_tls(ca_.issue("old", "IP:127.0.0.1", -1));
  const auto reply = ask(server->url("https"));
  EXPECT_EQ(reply.status().code(), base::Code::PermissionDenied);
  EXPECT_NE(reply.status().message().find("certificate has expired"), std::string::npos)
      << reply.status().message();
}

TEST_F(HttpClientTls, SendsLargeBodies) {
  std::string end;
  const std::string certificate = ca_.issue("here", "IP:127.0.0.1");
  Peer server([&](Peer&, int socket, int) {
    TlsSide side(socket, certificate);
    side.hear();
    side.say("HTTP/1.1 100 Continue\r\n\r\n");
    end = side.hear("end");
    side.say(kHello);
  });
  const std::string text = std::string(3'000'000, 'x') + "end";
  const auto reply = ask(server.url("https"), {"POST", "/", {}, RequestBody::of(text)});
  ASSERT_TRUE(reply) << reply.status().text();
  EXPECT_EQ(end.size(), text.size());
}

TEST_F(HttpClientTls, ShowsACertificateWhereOneIsAskedFor) {
  const auto certificate = ca_.issue("here", "IP:127.0.0.1");
  client_ca_ = ca_.file();
  const auto server = serve_tls(certificate);
  EXPECT_FALSE(ask(server->url("https"))) << "without one it is refused";
  options_.tls.certificate_file = ca_.issue("me", "DNS:me");
  const auto reply = ask(server->url("https"));
  ASSERT_TRUE(reply) << reply.status().text();
  EXPECT_EQ(reply->body, "hello");
}

TEST_F(HttpClientTls, NamesTheFileThatCannotBeUsed) {
  options_.tls.ca_file = folder_.path() / "absent.pem";
  EXPECT_EQ(
      ask("https://127.0.0.1:1").status().message(),
      "cannot use " + options_.tls.ca_file + " as CA certificates: No such file or directory");
  options_.tls.ca_file = ca_.file();
  options_.tls.certificate_file = folder_.path() / "garbage.pem";
  std::ofstream(options_.tls.certificate_file) << "garbage";
  EXPECT_TRUE(ask("https://127.0.0.1:1")
                  .status()
                  .message()
                  .starts_with("cannot use " + options_.tls.certificate_file +
                               " as the client's certificate: "));
}

// A body that ends with the connection: without TLS's goodbye anybody may have cut it.
TEST_F(HttpClientTls, NoticesThatAnAnswerWasCut) {
  const std::string certificate = ca_.issue("here", "IP:127.0.0.1");
  for (const bool says_goodbye : {true, false}) {
    Peer server([&](Peer&, int socket, int) {
      TlsSide side(socket, certificate);
      side.hear();
      side.say("HTTP/1.1 200 OK\r\n\r\nhello");
      if (says_goodbye) side.say_goodbye();
    });
    const auto reply = ask(server.url("https"));
    EXPECT_EQ(reply.is_ok(), says_goodbye);
    if (reply) {
      EXPECT_EQ(reply->body, "hello");
    } else {
      EXPECT_EQ(reply.status().message(), "the connection to 127.0.0.1 was cut");
    }
  }
}

TEST_F(HttpClientTls, SaysWhenThePeerSpeaksNoTls) {
  Peer plain([](Peer& self, int socket, int) {
    Peer::say(socket, "HTTP/1.1 400 Bad Request\r\n\r\n");
    self.be_silent(socket);
  });
  const auto reply = ask(plain.url("https"));
  EXPECT_EQ(reply.status().message(),
            "127.0.0.1 does not speak TLS on this port: is it an address with http://?");
  Peer hangs_up([](Peer&, int socket, int) { ::shutdown(socket, SHUT_RDWR); });
  EXPECT_FALSE(ask(hangs_up.url("https")));
}

// Names are the proxy's to look up, and what it carries is for the server alone.
TEST_F(HttpClientTls, GoesThroughAProxy) {
  const std::string certificate = ca_.issue("gpu.invalid", "DNS:gpu.invalid");
  std::string asked, heard, name;
  Peer proxy([&](Peer&, int socket, int) {
    asked = Peer::hear(socket);
    Peer::say(socket, "HTTP/1.1 200 Connection established\r\nContent-Length: 0\r\n\r\n");
    TlsSide side(socket, certificate);
    name = side.server_name();
    heard = side.hear();
    side.say(kHello);
  });
  proxy_ = "http://me:word@127.0.0.1:" + std::to_string(proxy.port());
  const auto reply = ask("https://gpu.invalid:8443/base", {"GET", "/x"});
  ASSERT_TRUE(reply) << reply.status().text();
  EXPECT_EQ(asked,
            "CONNECT gpu.invalid:8443 HTTP/1.1\r\nHost: gpu.invalid:8443\r\n"
            "Proxy-Authorization: Basic bWU6d29yZA==\r\n\r\n");
  EXPECT_EQ(heard, "GET /base/x HTTP/1.1\r\nHost: gpu.invalid:8443\r\n\r\n");
  EXPECT_EQ(name, "gpu.invalid");
}

}  // namespace
}  // namespace gpufl::net
