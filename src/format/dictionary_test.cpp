// SPDX-License-Identifier: Apache-2.0
#include "format/dictionary.hpp"

#include <gtest/gtest.h>

#include "format/limits.hpp"
#include "format/session_reader.hpp"

namespace gpufl::format {
namespace {

Batch kernels(std::initializer_list<int64_t> configs) {
  Batch batch(Kind::Kernel);
  for (const int64_t config : configs) {
    batch.mutable_column(kernel_column::kStart).push_back(1);
    batch.mutable_column(kernel_column::kDuration).push_back(1);
    batch.mutable_column(kernel_column::kConfig).push_back(config);
  }
  batch.set_rows(configs.size());
  return batch;
}

TEST(DictionaryTableTest, GivesOneIdPerValueCountingFromOne) {
  DictionaryTable table;
  EXPECT_EQ(table.intern(Dict::Name, "a"), 1);
  EXPECT_EQ(table.intern(Dict::Name, "b"), 2);
  EXPECT_EQ(table.intern(Dict::Name, "a"), 1);
  EXPECT_EQ(table.intern(Dict::Text, "b"), 1);
  EXPECT_FALSE(table.contains(Dict::Name, 0));
  EXPECT_FALSE(table.contains(Dict::Name, 3));
  EXPECT_EQ(table.value(Dict::Name, 2), "b");
}

TEST(DictionaryTableTest, CutsLongStringsAndOverflowsLongObjects) {
  DictionaryTable table;
  const int64_t id = table.intern(Dict::Name, std::string(kMaxValueBytes + 100, 'x'));
  EXPECT_EQ(table.value(Dict::Name, id).size(), kMaxValueBytes);
  EXPECT_EQ(table.overflows(), 0u);
  const std::string object = R"({"k":")" + std::string(kMaxValueBytes, 'x') + R"("})";
  EXPECT_EQ(table.value(Dict::Config, table.intern(Dict::Config, object)), R"({"overflow":true})");
  EXPECT_EQ(table.overflows(), 1u);
}

TEST(DictionaryTableTest, StaysWithinItsBytes) {
  DictionaryTable table;
  const size_t fitting = kMaxDictionaryBytes / kMaxValueBytes;
  std::string value(kMaxValueBytes, 'x');
  for (size_t i = 0; i < fitting; ++i) {
    value.replace(0, 8, std::to_string(10'000'000 + i));
    EXPECT_EQ(table.intern(Dict::Name, value), static_cast<int64_t>(i + 1));
  }
  const int64_t overflow = table.intern(Dict::Name, "one more");
  EXPECT_EQ(table.value(Dict::Name, overflow), kOverflowValue);
  EXPECT_EQ(table.intern(Dict::Name, "and another"), overflow);
  EXPECT_EQ(table.overflows(), 2u);
  EXPECT_EQ(table.intern(Dict::Name, value), static_cast<int64_t>(fitting));
}

TEST(DictionaryTableTest, TakesObjectsOnlyAsObjects) {
  DictionaryTable table;
  EXPECT_EQ(table.intern(Dict::Config, "not json"), 0);
  EXPECT_EQ(table.intern(Dict::Config, "[1]"), 0);
  const int64_t id = table.intern(Dict::Config, "{\"grid\":\n[1,1,1]}");
  EXPECT_EQ(table.value(Dict::Config, id), R"({"grid":[1,1,1]})");
}

TEST(FileDefinitionsTest, DefinesReferencedValuesFirstAndOnce) {
  DictionaryTable table;
  const int64_t unused = table.intern(Dict::Name, "unused");
  const int64_t name = table.intern(Dict::Name, "gemm");
  const int64_t config =
      table.intern(Dict::Config, R"({"name":)" + std::to_string(name) + R"(,"grid":[1,2,3]})");
  EXPECT_EQ(unused, 1);
  FileDefinitions definitions;
  std::string out;
  EXPECT_EQ(definitions.define_for(kernels({config, config}), table, out), 2u);
  EXPECT_EQ(out, R"({"type":"dict","dict":"name","ids":[2],"values":["gemm"]})"
                 "\n"
                 R"({"type":"dict","dict":"config","ids":[1],"values":[{"name":2,"grid":[1,2,3]}]})"
                 "\n");
  EXPECT_EQ(definitions.define_for(kernels({config}), table, out), 0u);
}

TEST(FileDefinitionsTest, FollowsStacksToFramesToNames) {
  DictionaryTable table;
  const int64_t function = table.intern(Dict::Name, "f");
  const int64_t file = table.intern(Dict::Text, "f.cpp");
  const int64_t frame =
      table.intern(Dict::Frame, R"({"function":)" + std::to_string(function) + R"(,"file":)" +
                                    std::to_string(file) + R"(,"line":3})");
  const int64_t stack = table.intern(Dict::Stack, R"({"frames":[)" + std::to_string(frame) + "]}");
  Batch batch = kernels({0});
  batch.mutable_column(kernel_column::kStack).push_back(stack);
  FileDefinitions definitions;
  std::string out;
  EXPECT_EQ(definitions.define_for(batch, table, out), 4u);
  EXPECT_LT(out.find(R"("dict":"name")"), out.find(R"("dict":"frame")"));
  EXPECT_LT(out.find(R"("dict":"text")"), out.find(R"("dict":"frame")"));
  EXPECT_LT(out.find(R"("dict":"frame")"), out.find(R"("dict":"stack")"));
}

TEST(FileDefinitionsTest, ForgetsWhatNeverReachedTheFile) {
  DictionaryTable table;
  const int64_t first = table.intern(Dict::Config, R"({"grid":[1,1,1]})");
  const int64_t second = table.intern(Dict::Config, R"({"grid":[2,1,1]})");
  FileDefinitions definitions;
  std::string out;
  definitions.define_for(kernels({first}), table, out);
  definitions.commit();
  definitions.define_for(kernels({second}), table, out);
  definitions.rollback();
  out.clear();
  EXPECT_EQ(definitions.define_for(kernels({first, second}), table, out), 1u);
  EXPECT_NE(out.find(R"("ids":[2])"), std::string::npos);
  definitions.clear();
  out.clear();
  EXPECT_EQ(definitions.define_for(kernels({first}), table, out), 1u);
}

TEST(FileDefinitionsTest, SplitsLongLines) {
  DictionaryTable table;
  Batch batch(Kind::Counter);
  for (int64_t i = 0; i < 20; ++i) {
    const std::string value = std::to_string(i) + std::string(kMaxValueBytes - 10, 'n');
    batch.push_row({1, table.intern(Dict::Name, value), i});
  }
  FileDefinitions definitions;
  std::string out;
  EXPECT_GE(definitions.define_for(batch, table, out), 4u);
  size_t longest = 0;
  for (size_t begin = 0; begin < out.size();) {
    const size_t end = out.find('\n', begin);
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  EXPECT_LT(longest, kMaxObjectLineBytes / 4);
}

TEST(DictionariesTest, FindsDenseSparseAndUndefinedIds) {
  Dictionaries dictionaries;
  EXPECT_EQ(dictionaries.find(Dict::Name, 1), nullptr);
  const int64_t far = std::stoll("9223372036854775807");  // else GCC warns of an index it invents
  EXPECT_TRUE(dictionaries.define(Dict::Name, far, "far"));
  EXPECT_TRUE(dictionaries.define(Dict::Name, 200'000, "sparse"));
  EXPECT_TRUE(dictionaries.define(Dict::Name, 3, "near"));
  EXPECT_EQ(dictionaries.get(Dict::Name, 3), "near");
  EXPECT_EQ(dictionaries.get(Dict::Name, far), "far");
  EXPECT_EQ(dictionaries.get(Dict::Name, 2), "?");
  EXPECT_EQ(dictionaries.find(Dict::Name, -1), nullptr);
  EXPECT_EQ(dictionaries.find(Dict::Text, 3), nullptr);
  // The dense table grows past an id that was sparse when it came.
  for (int64_t id = 1; id <= 250'000; ++id) {
    if (id != 3 && id != 200'000) dictionaries.define(Dict::Name, id, "n");
  }
  EXPECT_EQ(dictionaries.get(Dict::Name, 200'000), "sparse");
  EXPECT_EQ(dictionaries.get(Dict::Name, 250'000), "n");
  dictionaries.clear();
  EXPECT_EQ(dictionaries.find(Dict::Name, 3), nullptr);
}

TEST(DictionariesTest, KeepsTheFirstOfTwoDifferentDefinitions) {
  Dictionaries dictionaries;
  EXPECT_TRUE(dictionaries.define(Dict::Name, 1, "a"));
  EXPECT_TRUE(dictionaries.define(Dict::Name, 1, "a"));
  EXPECT_FALSE(dictionaries.define(Dict::Name, 1, "b"));
  EXPECT_EQ(dictionaries.get(Dict::Name, 1), "a");
}

}  // namespace
}  // namespace gpufl::format
