// SPDX-License-Identifier: Apache-2.0
#include "server/dashboard.hpp"

#include <string>

#include <gtest/gtest.h>

#include "net/compression.hpp"
#include "server/routes.hpp"
#include "server/services.hpp"

namespace gpufl::server {
namespace {

std::string gzip_of(std::string_view text) {
  std::string out;
  EXPECT_TRUE(net::make_compressor(net::Encoding::Gzip)->add(text, true, out));
  return out;
}

net::HttpRequest request_with(std::string name, std::string value) {
  net::HttpRequest request;
  request.headers.emplace_back(std::move(name), std::move(value));
  return request;
}

class DashboardTest : public testing::Test {
 protected:
  const std::string text_ = std::string(5000, 'x');
  const std::string gzip_ = gzip_of(text_);
  const DashboardFile file_{"assets/a-1.js", gzip_, "12ab"};
};

TEST_F(DashboardTest, FilesAreFoundByTheirWholePath) {
  const DashboardFile files[] = {{"index.html", gzip_, "1"}, file_};
  EXPECT_EQ(find_file(files, "assets/a-1.js"), &files[1]);
  for (const char* path : {"", "/", "a-1.js", "assets/", "assets/a-1.js.gz", "assets/../index.html",
                           "/index.html", "INDEX.HTML"}) {
    EXPECT_EQ(find_file(files, path), nullptr) << path;
  }
  EXPECT_EQ(find_file({}, "index.html"), nullptr);
}

TEST_F(DashboardTest, AClientGetsTheFormThatItAccepts) {
  const auto packed = reply_with_file(request_with("Accept-Encoding", "gzip"), file_, "no-cache");
  EXPECT_EQ(packed.body, gzip_);
  EXPECT_EQ(*net::find_header(packed.headers, "Content-Encoding"), "gzip");
  EXPECT_EQ(*net::find_header(packed.headers, "Vary"), "Accept-Encoding");
  EXPECT_EQ(packed.content_type, "text/javascript; charset=utf-8");
  const auto plain = reply_with_file({}, file_, "no-cache");
  EXPECT_EQ(plain.body, text_);
  EXPECT_EQ(net::find_header(plain.headers, "Content-Encoding"), nullptr);
  EXPECT_EQ(*net::find_header(plain.headers, "ETag"), "W/\"12ab\"");
}

TEST_F(DashboardTest, WhatTheClientHasIsNotSentAgain) {
  const auto reply =
      reply_with_file(request_with("If-None-Match", "W/\"12ab\""), file_, "no-cache");
  EXPECT_EQ(reply.status, 304);
  EXPECT_TRUE(reply.body.empty());
  EXPECT_EQ(reply_with_file(request_with("If-None-Match", "\"12\""), file_, "").status, 200);
}

TEST_F(DashboardTest, DamageIsNotServed) {
  const DashboardFile cut{"index.html", std::string_view(gzip_).substr(0, gzip_.size() / 2), "1"};
  EXPECT_EQ(reply_with_file({}, cut, "no-cache").status, 500);
}

TEST_F(DashboardTest, WhatIsEmbeddedIsWhole) {
  for (const DashboardFile& file : dashboard_files()) {
    const auto text = net::gunzip(file.gzip);
    ASSERT_TRUE(text) << file.path;
    EXPECT_FALSE(text->empty()) << file.path;
    EXPECT_EQ(file.hash.size(), 32U) << file.path;
    EXPECT_NE(content_type_of(file.path), "application/octet-stream") << file.path;
  }
  const bool has_page = find_file(dashboard_files(), "index.html") != nullptr;
  EXPECT_EQ(has_page, !dashboard_files().empty());
}

TEST_F(DashboardTest, ThePageAndItsAssetsAreOpenAndNothingBelowThem) {
  Routes routes;
  add_dashboard_routes(routes);
  EXPECT_TRUE(routes.is_open("/"));
  EXPECT_TRUE(routes.is_open("/assets/a-1.js"));
  for (const char* path : {"/assets", "/assets/", "/assets/a/b", "/assetsx", "/api/v1/sessions"}) {
    EXPECT_FALSE(routes.is_open(path)) << path;
  }
  net::HttpRequest request;
  request.path = "/assets/none.js";
  EXPECT_EQ(routes.answer(request).status, 404);
  request.path = "/";
  EXPECT_EQ(routes.answer(request).status, 200);
}

}  // namespace
}  // namespace gpufl::server
