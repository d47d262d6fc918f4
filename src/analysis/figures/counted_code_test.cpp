// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/counted_code.hpp"

#include <gtest/gtest.h>

namespace gpufl::analysis {
namespace {

using disassembly::KernelCode;

// Two instructions of line 8, then one of line 9, in a function within the kernel.
KernelCode code_to_count() {
  KernelCode code;
  code.name = "kernel";
  code.routines = {{"kernel", 0, 0x30}, {"$kernel$inner", 0x20, 0x10}};
  code.files = {"/home/me/k.cu"};
  code.chains = {{{0, 8}}, {{0, 9}}};
  const uint32_t chains[] = {0, 0, 1};
  for (uint32_t i = 0; i < 3; ++i) {
    code.instructions.push_back({i * 16, "I" + std::to_string(i), chains[i]});
  }
  return code;
}

struct Row {
  const char* function;
  int64_t pc;
  const char* metric;
  int64_t value;
  int64_t device = 0, time = 5;
};

Tables tables_of(const std::vector<Row>& rows) {
  Tables tables;
  tables.names = tables.metrics = {""};  // the id 0 is nothing's
  const auto id_in = [](auto& texts, const char* text) {
    for (size_t id = 0; id < texts.size(); ++id) {
      if (texts[id] == text) return static_cast<int64_t>(id);
    }
    texts.emplace_back(text);
    return static_cast<int64_t>(texts.size() - 1);
  };
  format::Batch batch(format::Kind::SassMetric);
  for (const Row& row : rows) {
    batch.push_row({row.time, row.device, 1, 0xfeed, id_in(tables.names, row.function), row.pc,
                    id_in(tables.metrics, row.metric), row.value, 0, 0});
  }
  tables.others.emplace(format::Kind::SassMetric, std::move(batch));
  return tables;
}

constexpr const char* kWarps = "smsp__sass_inst_executed";
constexpr const char* kThreads = "smsp__sass_thread_inst_executed";
constexpr const char* kOn = "smsp__sass_thread_inst_executed_pred_on";
constexpr const char* kSectors = "smsp__sass_sectors_mem_global";
constexpr const char* kIdeal = "smsp__sass_sectors_mem_global_ideal";

TEST(CountedCode, CountsOfLinesAndInstructionsSayHowFarTheyAreFromIdeal) {
  const Tables tables = tables_of({{"kernel", 0, kWarps, 100},
                                   {"kernel", 0, kThreads, 3200},
                                   {"kernel", 0, kOn, 800},
                                   {"kernel", 16, kWarps, 100},
                                   {"kernel", 16, kThreads, 1600},
                                   {"kernel", 16, kSectors, 3200},
                                   {"kernel", 16, kSectors, 3200, 0, 7},
                                   {"kernel", 16, kIdeal, 1600},
                                   {"kernel", 16, "smsp__sass_something_else", 9},
                                   {"$kernel$inner", 0, kWarps, 500},
                                   {"kernel", 0x1000, kWarps, 1}});
  const std::vector<CountedFunction> functions = counted_functions(tables);
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].function, "kernel");
  EXPECT_EQ(functions[0].module, 0xfeedu);
  EXPECT_EQ(functions[0].total.warps, 201u);
  const CountedCode counted = join_counts(code_to_count(), {&functions[0], &functions[1]});
  EXPECT_EQ(counted.total.warps, 701u);
  EXPECT_EQ(counted.instructions[1].sectors, 6400u);
  EXPECT_EQ(counted.instructions[1].sector_factor(), 4.0);
  EXPECT_EQ(counted.instructions[1].active_threads(), 16.0);
  EXPECT_EQ(counted.instructions[0].predicated_off(), 0.75);
  EXPECT_EQ(counted.instructions[0].sector_factor(), std::nullopt) << "not zero: it moves none";
  ASSERT_EQ(counted.lines.size(), 2u);
  EXPECT_EQ(counted.lines[0].line, 9u) << "most executed first";
  EXPECT_EQ(counted.lines[1].line, 8u);
  EXPECT_EQ(counted.lines[1].warps, 200u);
  EXPECT_EQ(counted.lines[1].active_threads(), 24.0);
}

TEST(CountedCode, OfADeviceAndAWindow) {
  const Tables tables =
      tables_of({{"kernel", 0, kWarps, 1, 0, 10}, {"kernel", 0, kWarps, 10, 1, 20}});
  AnalysisOptions options;
  options.device = 1;
  EXPECT_EQ(counted_functions(tables, options).at(0).total.warps, 10u);
  options.device.reset();
  options.window = Interval{0, 15};
  EXPECT_EQ(counted_functions(tables, options).at(0).total.warps, 1u);
  EXPECT_TRUE(counted_functions(Tables{}).empty());
}

}  // namespace
}  // namespace gpufl::analysis
