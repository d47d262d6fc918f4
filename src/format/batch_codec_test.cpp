// SPDX-License-Identifier: Apache-2.0
#include "format/batch_codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "base/json.hpp"
#include "format/codings.hpp"

namespace gpufl::format {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

void expect_equal(const Batch& got, const Batch& want, size_t first, const std::string& line) {
  for (size_t i = 0; i < want.kind_spec().columns.size(); ++i) {
    const std::string_view name = want.kind_spec().columns[i].name;
    ASSERT_EQ(got.has(i), want.has(i) && got.rows() != 0) << name << "\n" << line.substr(0, 2000);
    if (!got.has(i)) continue;
    for (size_t row = 0; row < got.rows(); ++row) {
      ASSERT_EQ(got.column(i)[row], want.column(i)[first + row])
          << name << " of row " << row << "\n"
          << line.substr(0, 2000);
    }
  }
}

// Encodes, checks that every line is JSON with "type" and "n" first, decodes, compares.
void expect_round_trip(const Batch& batch) {
  BatchCodec codec;
  std::string text;
  codec.encode(batch, text);
  size_t first = 0;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = text.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    // Of exactly its size, so that a sanitizer sees any look beyond it.
    const std::vector<char> bytes(text.begin() + static_cast<ptrdiff_t>(at),
                                  text.begin() + static_cast<ptrdiff_t>(end));
    const std::string line(bytes.begin(), bytes.end());
    at = end + 1;
    EXPECT_EQ(line_type(line), batch.kind_spec().name);
    if (batch.rows() < 100) {
      const auto json = base::Json::parse(line);
      if (json) {
        EXPECT_EQ(json->members()[0].first, "type");
        EXPECT_EQ(json->members()[1].first, "n");
      } else {
        // The only thing our own parser cannot hold: residuals over 63 bits.
        EXPECT_NE(line.find("\"z\""), std::string::npos) << json.status().text() << line;
      }
    }
    Batch read(batch.kind());
    DecodeStats stats;
    const base::Status status =
        codec.decode(std::string_view(bytes.data(), bytes.size()), read, &stats);
    ASSERT_TRUE(status.is_ok()) << status.text() << "\n" << line.substr(0, 2000);
    EXPECT_EQ(stats.unknown_columns, 0U);
    expect_equal(read, batch, first, line);
    first += read.rows();
  }
  EXPECT_EQ(first, batch.rows());
}

std::vector<Kind> batch_kinds() {
  std::vector<Kind> kinds;
  for (size_t i = 0; i < kKindCount; ++i) {
    if (spec(static_cast<Kind>(i)).is_batch()) kinds.push_back(static_cast<Kind>(i));
  }
  return kinds;
}

// Columns of very different characters.
std::vector<int64_t> make_values(std::mt19937_64& random, size_t rows) {
  std::vector<int64_t> values(rows);
  const auto character = random() % 10;
  const uint64_t spread = uint64_t{1} << (random() % 40);
  const auto offset = static_cast<int64_t>(random() >> (random() % 64));
  int64_t sum = offset;
  for (size_t row = 0; row < rows; ++row) {
    const auto noise = static_cast<int64_t>(random() % spread);
    switch (character) {
      case 0: values[row] = offset; break;
      case 1: values[row] = static_cast<int64_t>(random()); break;
      case 2: values[row] = noise; break;
      case 3: values[row] = -noise; break;
      case 4: values[row] = sum = wrapping_add(sum, noise); break;
      case 5: values[row] = static_cast<int64_t>(row / 37); break;
      case 6: values[row] = static_cast<int64_t>(random() % 5); break;
      case 7: values[row] = sum = wrapping_add(sum, 32 * (noise % 1000)); break;
      case 8: values[row] = 32 * (noise % 5000) + static_cast<int64_t>(random() % 3) - 1; break;
      default: {
        constexpr int64_t kExtremes[] = {kMin, kMin + 1, -1, 0, 1, kMax - 1, kMax};
        values[row] = kExtremes[random() % std::size(kExtremes)];
      }
    }
  }
  return values;
}

TEST(BatchCodec, EveryKindAndEveryCharacterOfColumnComesBack) {
  std::mt19937_64 random(42);
  for (const Kind kind : batch_kinds()) {
    for (int round = 0; round < 60; ++round) {
      constexpr size_t kSizes[] = {1, 2, 3, 7, 8, 9, 31, 32, 33, 100, 1000, 5000};
      const size_t rows = kSizes[random() % std::size(kSizes)];
      Batch batch(kind);
      for (size_t i = 0; i < batch.kind_spec().columns.size(); ++i) {
        if (!batch.kind_spec().columns[i].required && random() % 4 == 0) continue;
        batch.mutable_column(i) = make_values(random, rows);
      }
      batch.set_rows(rows);
      expect_round_trip(batch);
      if (HasFatalFailure()) return;
    }
  }
}

std::string encoded_threads(const std::vector<int64_t>& threads) {
  Batch batch(Kind::Sync);
  batch.mutable_column(sync_column::kStart).assign(threads.size(), 5);
  batch.mutable_column(sync_column::kDuration).assign(threads.size(), 1);
  batch.mutable_column(sync_column::kThread) = threads;
  batch.set_rows(threads.size());
  expect_round_trip(batch);
  BatchCodec codec;
  std::string text;
  codec.encode(batch, text);
  return text;
}

TEST(BatchCodec, ShortRunsOfFewValuesAreAPalette) {
  std::vector<int64_t> long_runs, turns, short_texts, distinct;
  for (int64_t row = 0; row < 200; ++row) {
    long_runs.push_back(70'001 + row / 50);
    turns.push_back(70'001 + row % 3);
    short_texts.push_back(row % 3);
    distinct.push_back(70'001 + row);
  }
  const auto has = [](const std::string& text, const char* coding) {
    return text.find(coding) != std::string::npos;
  };
  EXPECT_TRUE(has(encoded_threads(long_runs), R"("as":"runs")"));
  EXPECT_TRUE(has(encoded_threads(turns), R"("as":"palette")"));
  EXPECT_TRUE(has(encoded_threads(short_texts), R"("thread":[0,1,2,)"));
  EXPECT_TRUE(has(encoded_threads(distinct), R"("thread":[70001,70002,)"));
}

Batch make_kernels(size_t rows, uint64_t seed, bool gpu_bound) {
  std::mt19937_64 random(seed);
  Batch batch(Kind::Kernel);
  namespace c = kernel_column;
  int64_t call = 1'000'000;
  int64_t tick = 40'000;
  int64_t last_end = 0;
  for (size_t row = 0; row < rows; ++row) {
    call += 3000 + static_cast<int64_t>(random() % 9000);
    const auto call_ns = 5000 + static_cast<int64_t>(random() % 4000);
    tick = gpu_bound ? last_end + 30 + static_cast<int64_t>(random() % 3)
                     : (call + call_ns + 1500 + static_cast<int64_t>(random() % 500)) / 32;
    const auto config = static_cast<int64_t>(random() % 20);
    const int64_t ticks = 50 + config * (gpu_bound ? 100 : 5) + static_cast<int64_t>(random() % 4);
    last_end = tick + ticks;
    const auto off = static_cast<int64_t>(random() % 16 == 0);
    const int64_t start = tick * 32 - tick * 32 * 14 / 1'000'000 + off;
    const int64_t end = last_end * 32 - last_end * 32 * 14 / 1'000'000;
    const int64_t values[] = {start,   end - start, 100 + config * config,          0,
                              1,       7,           static_cast<int64_t>(row) * 7,  call,
                              call_ns, 77,          static_cast<int64_t>(row / 500)};
    for (size_t i = c::kStart; i <= c::kScope; ++i) batch.mutable_column(i).push_back(values[i]);
  }
  batch.set_rows(rows);
  return batch;
}

TEST(BatchCodec, KernelsAreToldInTicksAndFromTheBetterBase) {
  BatchCodec codec;
  std::string text;
  const Batch launch_bound = make_kernels(4000, 1, false);
  codec.encode(launch_bound, text);
  EXPECT_NE(text.find(R"("start":{"as":"ticks","tick":32)"), std::string::npos);
  EXPECT_NE(text.find(R"("api_start":{"as":"residual","base":"start")"), std::string::npos);
  EXPECT_LT(text.size(), launch_bound.rows() * 24);
  expect_round_trip(launch_bound);

  text.clear();
  const Batch gpu_bound = make_kernels(4000, 2, true);
  codec.encode(gpu_bound, text);
  EXPECT_NE(text.find(R"("base":"last_end","by":"config")"), std::string::npos);
  EXPECT_NE(text.find(R"("api_start":{"as":"residual","base":"last_end")"), std::string::npos);
  EXPECT_LT(text.size(), gpu_bound.rows() * 24);
  expect_round_trip(gpu_bound);
}

TEST(BatchCodec, TwoClocksInOneBatchAreStillExact) {
  Batch both = make_kernels(2000, 3, false);
  const Batch other = make_kernels(2000, 4, false);
  for (size_t i = 0; i < kernel_column::kCount; ++i) {
    for (const int64_t value : other.column(i)) {
      both.mutable_column(i).push_back(value + (i == kernel_column::kStart ? 13 : 0));
    }
  }
  both.set_rows(4000);
  expect_round_trip(both);
}

TEST(BatchCodec, ManyRowsBecomeSeveralLines) {
  const Batch batch = make_kernels(2 * kRowsPerLine + 5, 5, false);
  std::string text;
  BatchCodec codec;
  codec.encode(batch, text);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  expect_round_trip(batch);
}

TEST(BatchCodec, AnEmptyBatchIsALineWithoutColumns) {
  std::string text;
  BatchCodec codec;
  codec.encode(Batch(Kind::Counter), text);
  EXPECT_EQ(text, "{\"type\":\"counter\",\"n\":0}\n");
  expect_round_trip(Batch(Kind::Counter));
}

TEST(BatchCodec, WritesSmallBatchesPlainly) {
  Batch batch(Kind::Marker);
  namespace c = marker_column;
  batch.mutable_column(c::kId) = {-1, 5};
  batch.mutable_column(c::kShape) = {1, 1};
  batch.mutable_column(c::kStart) = {100, 250};
  batch.mutable_column(c::kDuration) = {50, 7};
  batch.mutable_column(c::kName) = {3, 4};
  batch.set_rows(2);
  std::string text;
  BatchCodec codec;
  codec.encode(batch, text);
  EXPECT_EQ(text,
            "{\"type\":\"marker\",\"n\":2,\"span\":[100,257],"
            "\"id\":[\"18446744073709551615\",\"5\"],\"shape\":1,\"name\":[3,4],"
            "\"start\":[100,250],\"dur\":[50,7]}\n");
}

base::Status decode_counter(std::string_view line, DecodeStats* stats = nullptr) {
  BatchCodec codec;
  Batch batch(Kind::Counter);
  const std::vector<char> bytes(line.begin(), line.end());
  const base::Status status =
      codec.decode(std::string_view(bytes.data(), bytes.size()), batch, stats);
  EXPECT_TRUE(status.is_ok() || (batch.empty() && batch.column(0).empty()));
  return status;
}

TEST(BatchCodec, TakesAnyOrderWhiteSpaceAndUnknownColumns) {
  DecodeStats stats;
  const base::Status status = decode_counter(
      R"({ "value":[1, -2], "new":{"a":["]"]}, "time":{"d":[5,5],"from":10,"as":"delta"},)"
      R"( "name":1, "n":2, "type":"counter", "newer":null })",
      &stats);
  EXPECT_TRUE(status.is_ok()) << status.text();
  EXPECT_EQ(stats.unknown_columns, 2U);
}

void expect_refused(const std::string& line) {
  const base::Status status = decode_counter(line);
  EXPECT_EQ(status.code(), base::Code::Corrupt) << line;
  EXPECT_NE(status.message().find("byte "), std::string::npos) << status.text();
}

TEST(BatchCodec, FormerNamesAreReadAndGiveWay) {
  const auto decoded = [](const std::string& columns) {
    Batch batch(Kind::Memcpy);
    DecodeStats stats;
    BatchCodec codec;
    const std::string line = R"({"type":"memcpy","n":2,"start":[1,2],"dur":[1,1],"bytes":[8,8],)";
    EXPECT_TRUE(codec.decode(line + columns + "}", batch, &stats)) << columns;
    EXPECT_EQ(stats.unknown_columns, 0u);
    return std::pair(batch.at(memcpy_column::kRoute, 0), batch.at(memcpy_column::kRoute, 1));
  };
  EXPECT_EQ(decoded(R"("direction":[8,9])"), std::pair(int64_t{8}, int64_t{9}));
  EXPECT_EQ(decoded(R"("direction":[8,8],"route":[1,2])"), std::pair(int64_t{1}, int64_t{2}));
  EXPECT_EQ(decoded(R"("route":[1,2],"direction":[8,8])"), std::pair(int64_t{1}, int64_t{2}));
  Batch batch(Kind::Memcpy);
  EXPECT_FALSE(BatchCodec().decode(
      R"({"type":"memcpy","n":1,"start":[1],"dur":[1],"bytes":[8],"direction":1,"direction":1})",
      batch));
}

TEST(BatchCodec, RefusesWhatIsNoBatch) {
  for (const char* line : {
           "",
           "{",
           "{}",
           "[]",
           "null",
           R"({"type":"counter"})",
           R"({"n":1})",
           R"({"type":"kernel","n":0})",
           R"({"type":"counter","n":-1})",
           R"({"type":"counter","n":65537,"time":1,"name":1,"value":1})",
           R"({"type":"counter","n":1.5})",
           R"({"type":"counter","n":0,"n":0})",
           R"({"type":"counter","n":1,"time":1,"name":1})",
           R"({"type":"counter","n":1,"time":1,"time":1,"name":1,"value":1})",
           R"({"type":"counter","n":1,"time":1,"name":1,"value":1} x)",
           R"({"type":"counter","n":1,"time":1,"name":1,"value":1)",
           R"({"type":"counter","n":1,"time":1,"name":1,"value":[1})",
       }) {
    expect_refused(line);
  }
}

TEST(BatchCodec, RefusesColumnsThatDoNotAddUp) {
  const std::string start = R"({"type":"counter","n":2,"time":1,"name":1,"value":)";
  EXPECT_TRUE(decode_counter(start + "[1,2]}").is_ok());
  for (const char* value : {
           "[1]",
           "[1,2,3]",
           R"("1")",
           "null",
           "9223372036854775808",
           "{}",
           R"({"as":"new","v":[1,2]})",
           R"({"as":"delta","from":1,"d":1,"e":1})",
           R"({"as":"delta","d":[1,2]})",
           R"({"as":"runs","v":[1],"len":[1]})",
           R"({"as":"runs","v":[1],"len":[3]})",
           R"({"as":"runs","v":[1,2],"len":[2,0]})",
           R"({"as":"runs","v":[1,2],"len":[2]})",
           R"({"as":"palette","ids":[5],"x":[0,1]})",
           R"({"as":"palette","ids":[5],"x":[0]})",
           R"({"as":"residual","z":[0,1]})",
           R"({"as":"residual","ref":1,"z":[0]})",
           R"({"as":"residual","ref":1,"z":[0,-1]})",
           R"({"as":"residual","base":"up","ref":1,"z":[0,1]})",
           R"({"as":"residual","base":"last_end","ref":1,"z":[0,1]})",
           R"({"as":"residual","by":"name","ref":[1],"z":[0,1]})",
           R"({"as":"ticks","ref":1,"z":[0,1],"up":[],"down":[]})",
       }) {
    expect_refused(start + value + "}");
  }
  const std::string palette = R"({"type":"counter","n":2,"time":1,)"
                              R"("name":{"as":"palette","ids":[1,2],"x":[0,1]},"value":)";
  EXPECT_TRUE(
      decode_counter(palette + R"({"as":"residual","by":"name","ref":[1,2],"z":[0,1]}})").is_ok());
  expect_refused(palette + R"({"as":"residual","by":"name","ref":[1],"z":[0,1]}})");
}

TEST(BatchCodec, RefusesTicksThatDoNotAddUp) {
  const std::string start = R"({"type":"counter","n":1,"name":1,"value":1,"time":)";
  const std::string grid = R"({"as":"ticks","tick":32,"drift":0,"phase":0,"origin":0,)";
  EXPECT_TRUE(decode_counter(start + grid + R"("base":"last","ref":1,"z":[0],"up":[0]}})").is_ok());
  expect_refused(start + grid + R"("base":"last","ref":1,"z":[0],"up":[1]}})");
  expect_refused(start + grid + R"("base":"last_end","ref":1,"z":[0]}})");
  expect_refused(start + grid + R"("ref":1,"z":[0]}})");
  expect_refused(start + R"({"as":"ticks","tick":32,"base":"last","ref":1,"z":[0]}})");
}

TEST(BatchCodec, SurvivesAnyDamage) {
  std::mt19937_64 random(11);
  BatchCodec codec;
  std::string text;
  codec.encode(make_kernels(300, 6, false), text);
  text.pop_back();
  size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = text;
    for (uint64_t left = random() % 3 + 1; left != 0; --left) {
      const size_t at = random() % damaged.size();
      constexpr std::string_view kBytes = "0123456789,:[]{}\"-e. nx";
      switch (random() % 4) {
        case 0: damaged.erase(at, random() % 8); break;
        case 1: damaged.resize(at); break;
        case 2: damaged.insert(at, 1, kBytes[random() % kBytes.size()]); break;
        default: damaged[at] = kBytes[random() % kBytes.size()];
      }
      if (damaged.empty()) break;
    }
    const std::vector<char> bytes(damaged.begin(), damaged.end());
    Batch read(Kind::Kernel);
    const base::Status status = codec.decode(std::string_view(bytes.data(), bytes.size()), read);
    refused += !status.is_ok();
    for (size_t i = 0; i < kernel_column::kCount; ++i) {
      EXPECT_TRUE(read.column(i).empty() || read.column(i).size() == read.rows());
    }
  }
  EXPECT_GT(refused, 10'000U);
}

TEST(LineType, LooksAtTheBeginningOnly) {
  EXPECT_EQ(line_type(R"({"type":"kernel","n":1})"), "kernel");
  EXPECT_EQ(line_type(R"({"n":1,"type":"kernel"})"), "");
  EXPECT_EQ(line_type(R"({"type":"kern)"), "");
  EXPECT_EQ(line_type(""), "");
  const LineHead head = line_head(R"({"type":"kernel","n":2,"span":[-5,70],"start":[0,70]})");
  EXPECT_EQ(head.rows, 2);
  EXPECT_TRUE(head.has_span);
  EXPECT_EQ(head.span[0], -5);
  EXPECT_EQ(head.span[1], 70);
  EXPECT_FALSE(line_head(R"({"type":"kernel","n":2,"start":[0,70]})").has_span);
  EXPECT_FALSE(line_head(R"({"type":"kernel","n":2,"span":[1]})").has_span);
  EXPECT_EQ(line_head(R"({"type":"kernel","span":[1,2],"n":2})").rows, -1);
  EXPECT_EQ(line_head("").rows, -1);
}

TEST(Schema, NamesAreUniqueAndFound) {
  for (size_t i = 0; i < kKindCount; ++i) {
    const KindSpec& kind = spec(static_cast<Kind>(i));
    EXPECT_EQ(static_cast<size_t>(kind.kind), i);
    EXPECT_EQ(find_kind(kind.name), &kind);
    for (size_t a = 0; a < kind.columns.size(); ++a) {
      EXPECT_NE(kind.columns[a].name, "type");
      EXPECT_NE(kind.columns[a].name, "n");
      EXPECT_NE(kind.columns[a].name, "span");
      EXPECT_EQ(kind.columns[a].type == ColumnType::DictId, kind.columns[a].dict != Dict::None);
      for (size_t b = 0; b < a; ++b) EXPECT_NE(kind.columns[a].name, kind.columns[b].name);
    }
  }
  EXPECT_EQ(find_kind("nonsense"), nullptr);
}

}  // namespace
}  // namespace gpufl::format
