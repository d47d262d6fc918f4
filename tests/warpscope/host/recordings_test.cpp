// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <zlib.h>
#include <warpscope_host.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

// What GPUs wrote; tests/warpscope/recordings/README.md describes the files.
namespace gpufl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".wscap.gz";

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(WARPSCOPE_RECORDINGS_DIR)) {
    const std::string name = entry.path().filename().string();
    const size_t at = name.find(kEnding);
    if (at != std::string::npos) names.push_back(name.substr(0, at));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<uint64_t> read_words(const std::string& name) {
  const fs::path path = fs::path(WARPSCOPE_RECORDINGS_DIR) / (name + std::string(kEnding));
  std::vector<uint64_t> words;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return words;
  uint64_t word = 0;
  while (gzread(file, &word, sizeof word) == static_cast<int>(sizeof word)) words.push_back(word);
  gzclose(file);
  return words;
}

std::string read_text(const std::string& name) {
  std::ifstream file(fs::path(WARPSCOPE_RECORDINGS_DIR) / (name + ".txt"));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string summed_up(const ws::Trace& trace) {
  // Of one event of one lane: number of spans, starts, durations, payloads, end payloads, tokens.
  using Sums = std::array<uint64_t, 6>;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Sums> rows;
  for (const ws::Span& span : trace.spans) {
    Sums& sums = rows[{span.block, span.group, span.event_id}];
    sums[0] += 1;
    sums[1] += span.start_ns;
    sums[2] += span.duration_ns;
    if (span.has_payload()) sums[3] += span.payload;
    if (span.has_end_payload()) sums[4] += span.end_payload;
    if (span.has_token()) sums[5] += span.token;
  }
  std::ostringstream text;
  text << "blocks " << trace.num_blocks << " groups " << trace.num_groups << " origin_ns ";
  text << (trace.has_origin ? std::to_string(trace.origin_ns) : "-") << '\n';
  for (const auto& [lane_event, sums] : rows) {
    const auto& [block, group, event] = lane_event;
    text << block << ' ' << group << ' ' << event;
    for (const uint64_t sum : sums) text << ' ' << sum;
    text << '\n';
  }
  return text.str();
}

class RecordingTest : public testing::TestWithParam<std::string> {};

TEST_P(RecordingTest, DecodesToWhatIsWrittenDown) {
  const ws::Trace trace = ws::decode_capture(read_words(GetParam()));
  EXPECT_TRUE(trace.problems.empty());
  EXPECT_TRUE(trace.unmatched.empty());
  EXPECT_TRUE(trace.instants.empty());
  EXPECT_EQ(summed_up(trace), read_text(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Files, RecordingTest, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace gpufl
