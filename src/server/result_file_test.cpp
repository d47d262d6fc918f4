// SPDX-License-Identifier: Apache-2.0
#include "server/result_file.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "format/test_session.hpp"

namespace gpufl::server {
namespace {

using base::Json;
using format::testing::TempDir;
using format::testing::write_text;

std::string body_of(net::HttpReply reply) {
  std::string text = std::move(reply.body);
  while (reply.source && reply.source->next(text)) {
  }
  return text;
}

TEST(MembersOf, AreThoseOfTheDocument) {
  const std::string text =
      R"({"a":1,"b":{"c":[1,{"d":"}"}],"e":"\"]"},"f":"x,y","g":[],"h\"i":null,"j":-1.5})";
  const auto parsed = Json::parse(text);
  ASSERT_TRUE(parsed);
  const auto parts = members_of(text + "\n");
  ASSERT_EQ(parts.size(), parsed->members().size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto& [name, value] = parsed->members()[i];
    EXPECT_EQ(parts[i].name, name);
    EXPECT_EQ(text.substr(parts[i].offset, parts[i].bytes), value.dump());
  }
}

TEST(MembersOf, AreNoneOfWhatIsNoObject) {
  EXPECT_TRUE(members_of("").empty());
  EXPECT_TRUE(members_of("{}").empty());
  EXPECT_TRUE(members_of("[1]").empty());
  // Cut off anywhere, it ends.
  const std::string text = R"({"a":"\"x","b":[1,{"c":2}]})";
  for (size_t length = 0; length < text.size(); ++length) {
    for (const ResultPart& part : members_of(text.substr(0, length))) {
      EXPECT_LE(part.offset + part.bytes, length);
    }
  }
}

TEST(ResultFile, ReadsWhatWasWritten) {
  const TempDir dir;
  const std::string text = R"({"a":1,"b":"two"})";
  write_text(dir.path() / "r", result_head("key", 77, members_of(text)) + text);
  auto file = ResultFile::open(dir.path() / "r");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->key(), "key");
  EXPECT_EQ(file->log_bytes(), 77U);
  ASSERT_NE(file->part("b"), nullptr);
  EXPECT_EQ(file->part("c"), nullptr);
  // An open one stays what it was.
  write_text(dir.path() / "other", "x");
  std::filesystem::rename(dir.path() / "other", dir.path() / "r");
  EXPECT_EQ(body_of(file->reply(ResultPart(*file->part("b")), "t")), "\"two\"");
}

TEST(ResultFile, IsNoneWhereItIsDamaged) {
  const TempDir dir;
  const auto is_read = [&](const std::string& content) {
    write_text(dir.path() / "r", content);
    return ResultFile::open(dir.path() / "r").has_value();
  };
  const std::string head = result_head("key", 1, {{"a", 0, 4}});
  EXPECT_TRUE(is_read(head + "1234"));
  EXPECT_FALSE(is_read(head + "123"));
  EXPECT_FALSE(is_read(""));
  EXPECT_FALSE(is_read("{}\n"));
  EXPECT_FALSE(is_read(head.substr(0, head.size() - 1)));
  EXPECT_FALSE(is_read(result_head("key", 1, {{"a", UINT64_MAX / 2, 4}}) + "1234"));
  EXPECT_FALSE(ResultFile::open(dir.path() / "absent"));
}

TEST(FileReply, SendsLargeFilesInPieces) {
  const TempDir dir;
  std::string text;
  for (int i = 0; text.size() < (size_t{3} << 20); ++i) text += std::to_string(i);
  const auto path = dir.path() / "large";
  write_text(path, result_head("key", 1, {}) + text);
  auto file = ResultFile::open(path);
  net::HttpReply reply = file->reply(file->whole(), "text/plain");
  EXPECT_TRUE(reply.source);
  EXPECT_EQ(body_of(std::move(reply)), text);

  // One that becomes shorter while it is sent is not passed off as whole.
  auto again = ResultFile::open(path);
  net::HttpReply cut = again->reply(again->whole(), "text/plain");
  std::filesystem::resize_file(path, 1000);
  EXPECT_THROW(body_of(std::move(cut)), std::runtime_error);
}

}  // namespace
}  // namespace gpufl::server
