// SPDX-License-Identifier: Apache-2.0
#include "server/session_folders.hpp"

#include <gtest/gtest.h>

namespace gpufl::server {
namespace {

TEST(SessionFolders, AreTakenOutOfWhatIsAnswered) {
  const auto without = [](const std::string& json) {
    return without_session_folders(json, "/data/sessions");
  };
  EXPECT_EQ(without(R"({"log":"/data/sessions/7","path":"/data/train.py"})"),
            R"({"log":"","path":"/data/train.py"})");
  EXPECT_EQ(without(R"("/data/sessions/12/scope.1.log: it is torn, and /data/sessions/3/a")"),
            R"("scope.1.log: it is torn, and a")");
  EXPECT_EQ(without(R"("/data/sessions/7: no window can be read")"),
            R"("the session: no window can be read")");
  EXPECT_EQ(without(R"(["/data/sessions","in /data/sessions"])"), R"(["","in the session"])");
  EXPECT_EQ(without("/data/sessions"), "the session");
  EXPECT_EQ(without(R"({"none":1})"), R"({"none":1})");
}

TEST(SessionFolders, AreFoundAsJsonHasThem) {
  EXPECT_EQ(without_session_folders(R"({"log":"/a \"b\"/s/1"})", "/a \"b\"/s"), R"({"log":""})");
  EXPECT_EQ(without_session_folders(R"({"log":"/a"})", ""), R"({"log":"/a"})");
}

TEST(SessionFolders, AreHiddenBesideTheCache) {
  const std::string json = R"(["/d/s/7/scope.log","/d/\"c\"/index/1: it is full"])";
  EXPECT_EQ(without_places(json, {"/d/s", "/d/\"c\""}),
            R"(["scope.log","CACHE/index/1: it is full"])");
  EXPECT_EQ(without_places(json, {}), json);
}

}  // namespace
}  // namespace gpufl::server
