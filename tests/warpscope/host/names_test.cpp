// SPDX-License-Identifier: Apache-2.0
// The names of the side block: what is taken and what is refused, by the table that the Python
// decoder is held to as well.
#include <gtest/gtest.h>
#include <warpscope_host.hpp>

#include <fstream>
#include <sstream>
#include <string>

#include "base/json.hpp"

namespace {

using gpufl::base::Json;

std::string bytes_of(const Json& test) {
  if (test.find("hex") == nullptr) return test["text"].as_string();
  const std::string hex = test["hex"].as_string();
  std::string bytes;
  for (size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  }
  return bytes;
}

TEST(NamesCases, AreReadAsWrittenDown) {
  std::ifstream file(WARPSCOPE_GOLDEN_DIR "/names_cases.json");
  std::ostringstream text;
  text << file.rdbuf();
  const auto cases = Json::parse(text.str());
  ASSERT_TRUE(cases.is_ok());
  ASSERT_GT(cases->items().size(), 80U);
  for (const Json& test : cases->items()) {
    SCOPED_TRACE(test["why"].as_string());
    ws::Names names;
    names.kernel = "as before";
    const bool is_good = ws::names_from_json(bytes_of(test), names);
    EXPECT_EQ(is_good, !test["names"].is_null());
    if (is_good) {
      const auto written = Json::parse(ws::names_to_json(names));
      ASSERT_TRUE(written.is_ok());
      EXPECT_EQ(written->dump(), test["names"].dump());
    } else {
      EXPECT_EQ(ws::names_to_json(names), R"({"kernel":"as before"})");
    }
  }
}

TEST(Names, IdsThatNoRecordHasAreNotWritten) {
  ws::Names names;
  names.events = {{1023, "a"}, {1024, "b"}};
  names.groups = {{1048575, "a"}, {1048576, "b"}};
  names.waits = {1024, 1023};
  names.flows = {{0, 1024}, {1, 2}};
  EXPECT_EQ(ws::names_to_json(names),
            R"({"events":{"1023":"a"},"groups":{"1048575":"a"},"waits":[1023],"flows":[[1,2]]})");
}

}  // namespace
