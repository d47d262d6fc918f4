// SPDX-License-Identifier: Apache-2.0
#include "format/line_scanner.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "format/integer_text.hpp"

namespace gpufl::format {
namespace {

// The text in memory of exactly its size, so that a sanitizer sees any look beyond it.
class Exact {
 public:
  explicit Exact(std::string_view text) : bytes_(text.begin(), text.end()) {}
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::vector<char> bytes_;
};

std::vector<uint64_t> read_unsigned(std::string_view text, size_t limit, std::string* error) {
  const Exact exact(text);
  LineScanner scanner(exact.view());
  std::vector<uint64_t> values(limit);
  size_t count = 0;
  if (scanner.read_unsigned_list(values.data(), limit, count)) scanner.expect_end();
  *error = scanner.failed() ? scanner.error() : "";
  values.resize(count);
  return values;
}

TEST(IntegerText, ListsComeBackAsTheyWere) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint64_t> values(random() % 300);
    const unsigned bits = round % 65;
    for (uint64_t& value : values) {
      value = bits == 0 ? 0 : random() >> (64 - (random() % bits + 1));
    }
    // Any distance from the text's beginning and end to the list's.
    std::string text(random() % 70, ' ');
    append_unsigned_list(text, values);
    text.append(random() % 70, ' ');
    std::string error;
    EXPECT_EQ(read_unsigned(text, values.size(), &error), values);
    ASSERT_EQ(error, "") << text;

    std::vector<int64_t> numbers;
    for (const uint64_t value : values) {
      numbers.push_back(static_cast<int64_t>(random() % 4 == 0 ? ~value : value));
    }
    text.clear();
    append_integer_list(text, numbers);
    const Exact exact(text);
    LineScanner scanner(exact.view());
    std::vector<int64_t> read(numbers.size());
    size_t count = 0;
    ASSERT_TRUE(scanner.read_integer_list(read.data(), read.size(), count)) << text;
    EXPECT_EQ(count, numbers.size());
    EXPECT_EQ(read, numbers);
  }
}

TEST(IntegerText, ExtremesAreExact) {
  std::string text;
  append_integer_list(text, std::vector<int64_t>{std::numeric_limits<int64_t>::min(), -1, 0,
                                                 std::numeric_limits<int64_t>::max()});
  EXPECT_EQ(text, "[-9223372036854775808,-1,0,9223372036854775807]");
  text.clear();
  append_unsigned_list(text, std::vector<uint64_t>{9999, 10000, 99999999, 100000000,
                                                   std::numeric_limits<uint64_t>::max()});
  EXPECT_EQ(text, "[9999,10000,99999999,100000000,18446744073709551615]");
}

TEST(LineScanner, ReadsNoMoreValuesThanThereIsRoomFor) {
  for (const char* const value : {"7", "42"}) {
    std::string text = "[";
    for (int i = 1; i < 100; ++i) text.append(value).append(",");
    text.append(value).append("]");
    std::string error;
    EXPECT_EQ(read_unsigned(text, 100, &error).size(), 100u);
    EXPECT_EQ(error, "");
    for (const size_t limit : {0, 1, 31, 32, 33, 64, 99}) {
      read_unsigned(text, limit, &error);
      EXPECT_NE(error, "") << limit;
    }
  }
}

TEST(LineScanner, RefusesWhatIsNoListOfNumbers) {
  // Each mistake alone, and behind a hundred good values, where whole blocks are read at once.
  const char* const mistakes[] = {",]",
                                  "]",
                                  "1,]",
                                  ",1]",
                                  "1,,2]",
                                  "01]",
                                  "1,02]",
                                  "-1]",
                                  "1.5]",
                                  "1e3]",
                                  "1 2]",
                                  "x]",
                                  "\"1\"]",
                                  "[1]]",
                                  "1",
                                  "1,",
                                  "18446744073709551616]",
                                  "99999999999999999999999]",
                                  "null]"};
  std::string good, of_one_digit;
  for (int i = 0; i < 100; ++i) good += std::to_string(i * 37) + ",";
  for (int i = 0; i < 100; ++i) of_one_digit += std::to_string(i % 10) + ",";
  for (const std::string mistake : mistakes) {
    std::string error;
    if (mistake != "]") {
      read_unsigned("[" + mistake, 1000, &error);
      EXPECT_NE(error, "") << mistake;
    }
    for (const std::string& before : {good, of_one_digit}) {
      for (const std::string& after : {std::string(), std::string(100, ' ')}) {
        read_unsigned("[" + before + mistake + after, 1000, &error);
        EXPECT_NE(error, "") << mistake;
      }
      // In the midst of good values.
      if (mistake.back() == ']' && mistake.size() > 1) {
        read_unsigned("[" + before + mistake.substr(0, mistake.size() - 1) + "," + before + "1]",
                      1000, &error);
        EXPECT_NE(error, "") << mistake;
      }
    }
  }
}

TEST(LineScanner, RefusesMoreValuesThanAsked) {
  for (const size_t count : {1, 2, 20, 200}) {
    std::string text;
    append_unsigned_list(text, std::vector<uint64_t>(count, 123));
    std::string error;
    read_unsigned(text, count, &error);
    EXPECT_EQ(error, "");
    read_unsigned(text, count - 1, &error);
    EXPECT_NE(error.find("more values than rows"), std::string::npos);
  }
}

TEST(LineScanner, TakesWhiteSpace) {
  std::string error;
  EXPECT_EQ(read_unsigned(" [ 1 ,\t2, 3 ] ", 3, &error), (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(error, "");
  EXPECT_TRUE(read_unsigned("[ ]", 3, &error).empty());
  EXPECT_EQ(error, "");
}

TEST(LineScanner, ReadsIdsAsStringsOnly) {
  const auto read = [](std::string_view text, int64_t& id) {
    const Exact exact(text);
    LineScanner scanner(exact.view());
    return scanner.read_id64(id);
  };
  int64_t id = 0;
  EXPECT_TRUE(read("\"18446744073709551615\"", id));
  EXPECT_EQ(static_cast<uint64_t>(id), std::numeric_limits<uint64_t>::max());
  for (const char* wrong : {"5", "\"\"", "\"-1\"", "\"5", "\"5x\"", "\"18446744073709551616\""}) {
    EXPECT_FALSE(read(wrong, id)) << wrong;
  }
}

TEST(LineScanner, SkipsOneValueOfAnySort) {
  for (const char* value : {"1", "-0.5e+7", "true", "false", "null", "\"a\\\"]}\\u00e9\"", "[]",
                            "{}", "[1,[2,{\"a\":[]}],\"x\"]", "{\"a\":{\"b\":[1,2]},\"c\":null}",
                            " [ 1 , { \"a\" : 2 } ] "}) {
    const Exact exact(std::string(value) + ",rest");
    LineScanner scanner(exact.view());
    EXPECT_TRUE(scanner.skip_value()) << value << ": " << scanner.error();
    EXPECT_TRUE(scanner.accept(',')) << value;
  }
}

TEST(LineScanner, RefusesToSkipWhatIsNoValue) {
  for (const char* value :
       {"",         "tru",         "nul",       "01",  "-",    "1.",    "1e",    "\"abc",
        "\"\\x\"",  "\"\\u12g4\"", "\"\n\"",    "[1",  "[1,]", "[1 2]", "{1:2}", "{\"a\"}",
        "{\"a\":}", "{\"a\":1,}",  "{\"a\":1]", "[1}", "}",    ","}) {
    const Exact exact(value);
    LineScanner scanner(exact.view());
    EXPECT_FALSE(scanner.skip_value()) << value;
  }
  LineScanner deep_enough(std::string_view("[[[[1]]]]"));
  EXPECT_TRUE(deep_enough.skip_value());
  const std::string deep(100'000, '[');
  LineScanner scanner(deep);
  EXPECT_FALSE(scanner.skip_value());
  EXPECT_NE(scanner.error().find("nested"), std::string::npos);
}

TEST(LineScanner, SaysWhereItFailed) {
  LineScanner scanner(std::string_view("[1,2,x]"));
  int64_t values[3];
  size_t count = 0;
  EXPECT_FALSE(scanner.read_integer_list(values, 3, count));
  EXPECT_EQ(scanner.error(), "byte 5: a whole number is expected");
}

}  // namespace
}  // namespace gpufl::format
