// SPDX-License-Identifier: Apache-2.0
#include "server/withheld.hpp"

#include <gtest/gtest.h>

namespace gpufl::server {
namespace {

using base::Json;

constexpr const char* kReport = R"json({
  "session": {"app": "train", "command": "./train --token s3cret", "process": "train", "pid": 7,
              "host": "node1", "os": "6.1", "container": "docker", "boot_id": "b", "log": "/data/5"},
  "hosts": ["node1"],
  "option_warnings": [{"type": "event", "name": "option_warning", "source": "/etc/gpufl"}],
  "events": [{"type": "event", "name": "xid", "text": "after ./train --token s3cret", "line": 3,
              "source": "driver"}],
  "waits": {"sources": [{"path": "/home/me/a.py", "lines": ["six /two/three"]}],
            "list": [{"file": "/home/me/a.py", "line": 6, "source": "loss.item()"}]},
  "transfers": [{"direction": "device to host", "source": "device"}],
  "callers": [{"stack": ["f at /home/me/a.py:6", "g (/home/me/lib.so)", "path=/home/me/x", "a / b", "/"]}],
  "by_line": [{"label": "a.py:6 in f()", "full_name": "/home/me/a.py:6"}],
  "scopes": [{"path": "step/forward"}],
  "ptx": ["ld.global"],
  "origins": [{"places": [{"file": "/home/me/b.py", "line": 1, "code": "x = y"}]}]})json";

Json seen_by(const Viewer& viewer) {
  return without_withheld(*Json::parse(kReport), viewer, "/data/5");
}

TEST(Withheld, TheCommandLineGoesWhereverItStands) {
  const Json seen = seen_by({.session = "a", .sees_source = true, .sees_command = false});
  const std::string text = seen.dump();
  for (const char* hidden :
       {"s3cret", "node1", "docker", "/data", "/home/me", "/etc/gpufl", "6.1"}) {
    EXPECT_EQ(text.find(hidden), std::string::npos) << hidden << text;
  }
  EXPECT_EQ(seen["session"]["app"].as_string(), "train");
  EXPECT_EQ(seen["session"]["pid"].as_integer(-1), 0);
  EXPECT_EQ(seen["session"]["log"].dump(), R"("")") << "nothing, and not a sign that stands for it";
  EXPECT_TRUE(seen["hosts"].items().empty());
  EXPECT_EQ(seen["events"].items().at(0)["text"].as_string(), "after …");
  EXPECT_EQ(seen["events"].items().at(0)["source"].as_string(), "driver");
  EXPECT_EQ(seen["waits"]["list"].items().at(0)["source"].as_string(), "loss.item()");
  EXPECT_EQ(seen["waits"]["list"].items().at(0)["file"].as_string(), "a.py");
  EXPECT_EQ(seen["callers"].items().at(0)["stack"].dump(),
            R"json(["f at a.py:6","g (lib.so)","path=x","a / b","/"])json");
  EXPECT_EQ(seen["by_line"].items().at(0)["full_name"].as_string(), "a.py:6 in f()");
  EXPECT_EQ(seen["waits"]["sources"].dump(), R"([{"path":"a.py","lines":["six /two/three"]}])")
      << "text of code stays as it is";
  EXPECT_EQ(seen["scopes"].items().at(0)["path"].as_string(), "step/forward");
}

TEST(Withheld, SourceTextGoesAndWordsOfOurOwnStay) {
  const Json seen = seen_by({.session = "a", .sees_source = false, .sees_command = true});
  const std::string text = seen.dump();
  for (const char* hidden : {"six", "loss.item()", "ld.global", "x = y", "/data/5"}) {
    EXPECT_EQ(text.find(hidden), std::string::npos) << hidden << text;
  }
  EXPECT_EQ(seen["session"]["command"].as_string(), "./train --token s3cret");
  EXPECT_EQ(seen["transfers"].items().at(0)["source"].as_string(), "device");
  EXPECT_TRUE(seen["waits"]["list"].items().at(0)["source"].is_null());
}

TEST(Withheld, OfWhatIsNoJsonNothingIsLeft) {
  EXPECT_EQ(text_without_withheld("command: ./train", {.session = "a"}, ""), "{}\n");
  const Viewer viewer{.session = "a", .sees_source = true, .sees_command = false};
  const Viewer again = viewer_of_argument(guest_argument(viewer));
  EXPECT_EQ(again.session, "a");
  EXPECT_TRUE(again.sees_source && !again.sees_command && !again.sees_files);
}

}  // namespace
}  // namespace gpufl::server
