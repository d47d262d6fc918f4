// SPDX-License-Identifier: Apache-2.0
#include "disassembly/inductor_origin.hpp"

#include <gtest/gtest.h>

#include "disassembly/test_modules.hpp"
#include "symbols/code_stack.hpp"

namespace gpufl::disassembly {
namespace {

namespace fs = std::filesystem;

// Hashes as Inductor makes them.
const std::string kMul = "c" + std::string(51, 'a') + ".py",
                  kSum = "c" + std::string(51, 'b') + ".py";
const std::string kText = "aten = torch.ops.aten\n\n# kernel path: cache/aa/" + kMul +
                          R"(
# Topologically Sorted Source Nodes: [mul_1, inner], Original ATen: [aten.mul, aten.sum]
# Source node to ATen node mapping:
#   inner => sum_2
# Graph fragment:
#   # File: /home/me/model.py:12 in forward, code: inner = (a * b).sum()
#   # File: /home/me/model.py:12 in forward, code: inner = (a * b).sum()
#   # File: nowhere
triton_poi_fused_mul_sum_0 = async_compile.triton('triton_poi_fused_mul_sum_0')
# kernel path: cache/bb/)" +
                          kSum +
                          "\n# Topologically Sorted Source Nodes: [], Original ATen: [aten.sub]\n";

TEST(InductorOriginTest, CommentsNameOperatorsNodesAndLines) {
  const auto origins =
      origins_in(kText, {"/tmp/torchinductor_me/aa/" + kMul, "/tmp/torchinductor_me/bb/" + kSum});
  ASSERT_EQ(origins.size(), 2u);
  EXPECT_EQ(origins[0].file, "/tmp/torchinductor_me/aa/" + kMul);
  EXPECT_EQ(origins[0].operators, "aten.mul, aten.sum");
  EXPECT_EQ(origins[0].nodes, "mul_1, inner");
  EXPECT_EQ(origins[0].places,
            (std::vector<OriginPlace>{{"/home/me/model.py", 12, "inner = (a * b).sum()"}}));
  EXPECT_EQ(origins[1].operators, "aten.sub");
  EXPECT_EQ(origins[1].nodes, "");
  EXPECT_TRUE(origins_in(kText, {"/tmp/other.py"}).empty());
}

TEST(InductorOriginTest, TheCacheOfAKernelsFileIsSearched) {
  const format::testing::TempDir dir;
  fs::create_directories(dir.path() / "aa");
  fs::create_directories(dir.path() / "zz");
  const fs::path kernel = dir.path() / "aa" / kMul;
  format::testing::write_text(kernel, "@triton.jit\n");
  EXPECT_TRUE(find_origins({kernel.string()}).empty());
  format::testing::write_text(dir.path() / "zz" / "call.py", kText);
  const auto origins = find_origins({kernel.string()});
  ASSERT_EQ(origins.size(), 1u);
  EXPECT_EQ(origins[0].nodes, "mul_1, inner");
  EXPECT_TRUE(symbols::is_inductor_file(kernel.string()));
  EXPECT_TRUE(find_origins({"/nowhere/aa/" + kMul}).empty());
}

TEST(InductorOriginTest, TextThatIsNotToBeKeptIsNot) {
  const std::string cache = "/tmp/torchinductor_me/aa/";
  const auto text_of = [&](symbols::SourceOptions options, uint64_t max_bytes) {
    auto origins = origins_in(kText, {cache + kMul});
    withhold_text(origins, symbols::SourceLines(std::move(options)), max_bytes);
    EXPECT_EQ(origins.at(0).places.at(0).line, 12);
    EXPECT_EQ(origins[0].operators, "aten.mul, aten.sum");
    return origins[0].places[0].code;
  };
  symbols::SourceOptions excluded, cache_excluded;
  excluded.excluded_roots = {"/home/me"};
  cache_excluded.excluded_roots = {"/tmp/torchinductor_me"};
  EXPECT_EQ(text_of({}, 21), "");
  EXPECT_EQ(text_of({}, 22), "inner = (a * b).sum()");
  EXPECT_EQ(text_of(excluded, 1000), "");
  EXPECT_EQ(text_of(cache_excluded, 1000), "");
}

}  // namespace
}  // namespace gpufl::disassembly
