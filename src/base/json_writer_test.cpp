// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.hpp"

#include <gtest/gtest.h>

namespace gpufl::base {
namespace {

TEST(JsonWriter, WritesWhatADocumentDumps) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object();
  writer.set("name", "a \"b\"\n").set("count", 3);
  writer.begin_array("list");
  writer.push(1.5);
  writer.begin_object();
  writer.set("inside", Json());
  writer.end();
  writer.push("last");
  writer.end();
  writer.begin_object("empty");
  writer.end();
  writer.begin_array("none");
  writer.end();
  writer.set("after", true);
  writer.end();

  Json json = Json::object();
  Json list = Json::array();
  list.push(1.5);
  list.push(Json::object().set("inside", Json()));
  list.push("last");
  json.set("name", "a \"b\"\n").set("count", 3).set("list", list);
  json.set("empty", Json::object()).set("none", Json::array()).set("after", true);
  EXPECT_EQ(text, json.dump());
}

}  // namespace
}  // namespace gpufl::base
