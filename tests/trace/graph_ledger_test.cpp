// SPDX-License-Identifier: Apache-2.0
// Kernels of graphs in the ledger, over the stand-ins of libcupti and libcuda: what a launch owes,
// what is missing, and times that are left over from what ran before.

#include <cuda.h>

#include <utility>

#include "backend/nvidia/cuda/beside_captures.hpp"
#include "backend/nvidia/cuda/cuda_graphs.hpp"
#include "base/clock.hpp"
#include "tests/standin/cuda/cuda_standin.hpp"
#include "tests/trace/tracer_fixture.hpp"

namespace gpufl::backend {
namespace {

using format::Kind;
using standin::BadTime;
using standin::CudaGraphNode;
using standin::Launch;

constexpr uint32_t kConditional = 13;
constexpr uint64_t kGraph = 40;
constexpr uint32_t kExec = 9;

class Graphs : public TracerFixture {
 protected:
  void SetUp() override {
    // Before the tracer asks for libcuda: it finds the one that is loaded.
    void* cuda = dlopen(GPUFL_STANDIN_CUDA, RTLD_NOW);
    ASSERT_NE(cuda, nullptr) << dlerror();
    add_graph_ =
        reinterpret_cast<standin::CudaAddGraphFunction*>(dlsym(cuda, "cuda_standin_add_graph"));
    describe_gpu_ = reinterpret_cast<standin::CudaDescribeGpuFunction*>(
        dlsym(cuda, "cuda_standin_describe_gpu"));
    describe_gpu_({});
    init_ = reinterpret_cast<decltype(&::cuInit)>(dlsym(cuda, "cuInit"));
    forget_ = reinterpret_cast<void (*)()>(dlsym(cuda, "cuda_standin_forget"));
    TracerFixture::SetUp();
  }
  void TearDown() override { forget_(); }

  void add_graph(uint64_t graph, const std::vector<CudaGraphNode>& nodes) {
    add_graph_(graph, nodes.data(), nodes.size());
  }
  void instantiate_chain(uint32_t kernels) {
    add_graph(kGraph, std::vector<CudaGraphNode>(kernels, {CU_GRAPH_NODE_TYPE_KERNEL}));
    callbacks_->instantiate(kExec, kGraph, kernels, 1);
  }
  static Launch launch_of(uint32_t kernels, uint32_t withheld = 0) {
    Launch launch;
    launch.graph_exec = kExec;
    launch.graph_kernels = kernels;
    launch.nodes_withheld = withheld;
    launch.duration_ns = 600;
    return launch;
  }

  standin::CudaAddGraphFunction* add_graph_ = nullptr;
  standin::CudaDescribeGpuFunction* describe_gpu_ = nullptr;
  decltype(&::cuInit) init_ = nullptr;
  void (*forget_)() = nullptr;
};

TEST_F(Graphs, ACaptureThatBeganBeforeTheSessionIsSeenByItsLaunches) {
  init_(0);
  describe_gpu_({.is_capturing = true});
  ASSERT_TRUE(start().available);
  EXPECT_TRUE(tracer_->may_detach());
  standin_->launch({.by_driver = true, .captured = true});
  standin_->launch({.captured = true});
  EXPECT_FALSE(tracer_->may_detach());
  describe_gpu_({});
  standin_->capture(false);
  EXPECT_TRUE(tracer_->may_detach());
  standin_->launch({});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, 1u);
  EXPECT_EQ(ledger.launches_missing, 0u);
}

// Else the session would end when the driver is gone.
TEST_F(Graphs, ADriverThatCameUpUnseenIsTold) {
  static bool is_told;
  is_told = false;
  init_(0);
  ASSERT_TRUE(start({.on_driver_up = [] { is_told = true; }}).available);
  EXPECT_TRUE(is_told);
  finish();
}

// Which a capture of another thread in the mode "global" forbids.
TEST_F(Graphs, OurCallsAreRelaxed) {
  static CUstreamCaptureMode mode;
  mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  {
    const BesideCaptures beside_captures([](CUstreamCaptureMode* other) {
      std::swap(mode, *other);
      return CUDA_SUCCESS;
    });
    EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
  }
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST_F(Graphs, ALaunchOwesTheKernelsThatTheDriverCounts) {
  ASSERT_TRUE(start().available);
  add_graph(kGraph + 1, {{CU_GRAPH_NODE_TYPE_KERNEL}, {CU_GRAPH_NODE_TYPE_KERNEL}});
  add_graph(kGraph, {{CU_GRAPH_NODE_TYPE_KERNEL},
                     {CU_GRAPH_NODE_TYPE_MEMCPY},
                     {CU_GRAPH_NODE_TYPE_GRAPH, kGraph + 1}});
  callbacks_->instantiate(kExec, kGraph, 0, 0);
  for (int i = 0; i < 100; ++i) standin_->launch(launch_of(3, i == 0 ? 1 : 0));
  standin_->launch(launch_of(3, 3));  // silent: its kernels are known to be missing all the same
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.graph_launches, 101u);
  EXPECT_EQ(ledger.graph_kernel_records, 299u);
  EXPECT_EQ(ledger.graph_kernels_missing, 4u);
  EXPECT_EQ(ledger.launches_missing, 0u);
  EXPECT_EQ(ledger.uncounted.count("conditional_graph_nodes"), 0u);
  EXPECT_EQ(ledger.completeness(), format::Completeness::Incomplete);
}

TEST_F(Graphs, AllThatIsOwedIsThere) {
  ASSERT_TRUE(start().available);
  instantiate_chain(50);
  for (int i = 0; i < 200; ++i) {
    standin_->launch(launch_of(50));
    if (i % 50 == 0) drain();
  }
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.graph_kernel_records, 10'000u);
  EXPECT_EQ(ledger.graph_kernels_missing, 0u);
  EXPECT_EQ(ledger.impossible_times, 0u);
  EXPECT_TRUE(ledger.is_complete()) << ledger.to_json().dump();
}

// Handles are used again: a launch owes what its own graph had.
TEST_F(Graphs, AHandleIsUsedAgain) {
  ASSERT_TRUE(start().available);
  instantiate_chain(5);
  standin_->launch(launch_of(5));
  instantiate_chain(2);
  standin_->launch(launch_of(2));
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.graph_kernels_missing, 0u);
  EXPECT_TRUE(ledger.is_complete()) << ledger.to_json().dump();
}

TEST_F(Graphs, WithoutAnInstantiationTheUsualNumberIsOwed) {
  ASSERT_TRUE(start().available);
  for (int i = 0; i < 100; ++i) standin_->launch(launch_of(10, i % 50 == 7 ? 4 : 0));
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.graph_kernel_records, 992u);
  EXPECT_EQ(ledger.graph_kernels_missing, 8u);
  EXPECT_FALSE(ledger.is_complete());
}

TEST_F(Graphs, ConditionalNodesStayUnknown) {
  ASSERT_TRUE(start().available);
  add_graph(kGraph, {{CU_GRAPH_NODE_TYPE_KERNEL}, {kConditional}});
  callbacks_->instantiate(kExec, kGraph, 0, 0);
  for (int i = 0; i < 100; ++i) standin_->launch(launch_of(10, i == 50 ? 4 : 0));
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.graph_kernels_missing, 0u);
  EXPECT_EQ(ledger.uncounted.count("conditional_graph_nodes"), 1u);
  EXPECT_TRUE(ledger.is_complete());
}

TEST_F(Graphs, ANodeThatIsSwitchedOffIsNotMissed) {
  ASSERT_TRUE(start().available);
  instantiate_chain(4);
  standin_->launch(launch_of(4));
  callbacks_->enable_node(kExec);
  standin_->launch(launch_of(4, 1));
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.graph_kernels_missing, 0u);
  EXPECT_EQ(ledger.uncounted.count("conditional_graph_nodes"), 1u);
}

TEST_F(Graphs, AGraphWithoutKernelsOwesNone) {
  ASSERT_TRUE(start().available);
  add_graph(kGraph, {{CU_GRAPH_NODE_TYPE_EMPTY}});
  callbacks_->instantiate(kExec, kGraph, 0, 0);
  standin_->launch(launch_of(1, 1));
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.graph_launches, 1u);
  EXPECT_TRUE(ledger.uncounted.empty());
  EXPECT_TRUE(ledger.is_complete());
}

TEST_F(Graphs, TheTopologyIsToldWhereGraphsAreTracked) {
  ASSERT_TRUE(start({.graphs = true}).available);
  add_graph(kGraph + 1, {{CU_GRAPH_NODE_TYPE_KERNEL, 0, "inner"}});
  add_graph(kGraph, {{CU_GRAPH_NODE_TYPE_KERNEL, 0, "gemm"},
                     {CU_GRAPH_NODE_TYPE_MEMCPY},
                     {CU_GRAPH_NODE_TYPE_GRAPH, kGraph + 1},
                     {CU_GRAPH_NODE_TYPE_KERNEL, 0, "gemm"}});
  callbacks_->instantiate(kExec, kGraph, 4, 1'000);
  const uint32_t id = standin_->launch(launch_of(3));
  finish();
  const auto told = events("graph_instantiated");
  ASSERT_EQ(told.size(), 1u);
  const base::Json& line = told[0];
  EXPECT_EQ(line["graph"].as_integer(), kExec);
  EXPECT_EQ(line["kernels"].as_integer(), 3);
  EXPECT_EQ(line["node_count"].as_integer(), 5);
  EXPECT_EQ(line["edge_count"].as_integer(), 3);
  EXPECT_EQ(line["kinds"].dump(), R"(["kernel","memcpy","graph"])");
  EXPECT_EQ(line["kind"].dump(), "[0,1,2,0,0]");
  EXPECT_EQ(line["kernel_names"].dump(), R"(["gemm","inner"])");
  EXPECT_EQ(line["kernel"].dump(), "[0,-1,-1,0,1]");
  EXPECT_EQ(line["parent"].dump(), "[-1,-1,-1,-1,2]");
  EXPECT_EQ(line["from"].dump(), "[0,1,2]");
  EXPECT_EQ(line["to"].dump(), "[1,2,3]");
  // Those that were cloned have the clone's id; of the inner graph nobody told.
  const uint64_t inner = ((kGraph + 1) << 16) + 1;
  EXPECT_EQ(line["node"].dump(),
            R"(["1000","1001","1002","1003",")" + std::to_string(inner) + "\"]");
  ASSERT_EQ(rows(Kind::Graph).size(), 1u);
  EXPECT_EQ(rows(Kind::Graph)[0][format::graph_column::kCorrelation], id);
}

TEST_F(Graphs, ATopologyIsBounded) {
  ASSERT_TRUE(start({.graphs = true}).available);
  add_graph(kGraph, std::vector<CudaGraphNode>(10'000, {CU_GRAPH_NODE_TYPE_KERNEL, 0, "kernel"}));
  callbacks_->instantiate(kExec, kGraph, 0, 0);
  finish();
  const auto told = events("graph_instantiated");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0]["node_count"].as_integer(), 10'000);
  EXPECT_EQ(told[0]["kernels"].as_integer(), 10'000);
  EXPECT_EQ(told[0]["node"].items().size(), CudaGraphs::kMaxNodesListed);
  EXPECT_EQ(told[0]["from"].items().size(), CudaGraphs::kMaxNodesListed - 1);
  EXPECT_LT(told[0].dump().size(), size_t{256} << 10);
}

TEST_F(Graphs, SoIsTheirNumber) {
  ASSERT_TRUE(start({.graphs = true}).available);
  add_graph(kGraph, {{CU_GRAPH_NODE_TYPE_KERNEL}});
  for (uint32_t i = 0; i < 300; ++i) {
    callbacks_->instantiate(kExec + i, kGraph, 1, 1);
    if (i % 50 == 0) drain();
  }
  finish();
  EXPECT_EQ(events("graph_instantiated").size(), 256u);
}

TEST_F(Graphs, WithoutTrackingNoTopologyIsTold) {
  ASSERT_TRUE(start().available);
  instantiate_chain(3);
  finish();
  EXPECT_TRUE(events("graph_instantiated").empty());
}

struct Fault {
  const char* name;
  BadTime how;
};
std::ostream& operator<<(std::ostream& out, const Fault& fault) { return out << fault.name; }

class BadTimes : public Graphs, public testing::WithParamInterface<Fault> {
 protected:
  static constexpr int kBad = 4'000;
  // Launches are so far apart that another's time is more than a clock's inaccuracy.
  static constexpr int64_t kBetweenNs = 20'000;

  void pass_time() {
    const int64_t until_ns = base::monotonic_ns() + kBetweenNs;
    while (base::monotonic_ns() < until_ns) {
    }
    // A time before the call is another kernel's, unless the machine let nothing run for so long.
    constexpr int64_t kBeforeCallNs = 1'000'000;
    const int64_t now_ns = base::monotonic_ns();
    const bool is_late = last_ns_ != 0 && now_ns - last_ns_ > kBeforeCallNs - 100'000;
    if (is_late && GetParam().how == BadTime::BeforeCall) ++possible_;
    last_ns_ = now_ns;
  }
  void expect_found(uint64_t bad, uint64_t found) const {
    EXPECT_LE(found, bad);
    EXPECT_GE(found + possible_, bad);
    EXPECT_LT(possible_, bad / 2);
  }

 private:
  int64_t last_ns_ = 0;
  uint64_t possible_ = 0;  // bad times that may be right
};

INSTANTIATE_TEST_SUITE_P(
    EachSort, BadTimes,
    testing::Values(Fault{"zero", BadTime::Zero}, Fault{"inverted", BadTime::Inverted},
                    Fault{"no_duration", BadTime::NoDuration},
                    Fault{"before_session", BadTime::BeforeSession},
                    Fault{"future", BadTime::Future}, Fault{"before_call", BadTime::BeforeCall},
                    Fault{"repeated", BadTime::Repeated}, Fault{"older", BadTime::Older}),
    [](const auto& fault) { return std::string(fault.param.name); });

// One node in three of every launch but the first few: all of them are found, and no other.
TEST_P(BadTimes, OfNodesOfGraphs) {
  ASSERT_TRUE(start().available);
  instantiate_chain(3);
  constexpr int kGood = 4;
  for (int i = 0; i < kGood + kBad; ++i) {
    Launch launch = launch_of(3);
    launch.bad_time = i < kGood ? BadTime::None : GetParam().how;
    launch.bad_node = static_cast<uint32_t>(1 + i % 3);
    launch.duration_ns = kBetweenNs / 3 - 100;
    standin_->launch(launch);
    pass_time();
    if (i % 1'000 == 0) drain();
  }
  const format::Ledger ledger = finish();
  expect_found(kBad, ledger.impossible_times.value_or(0));
  EXPECT_EQ(rows(Kind::Kernel).size() + ledger.impossible_times.value_or(0),
            size_t{3 * (kGood + kBad)});
  EXPECT_EQ(ledger.graph_kernels_missing, 0u);
  EXPECT_FALSE(ledger.is_complete());
}

TEST_P(BadTimes, OfKernels) {
  ASSERT_TRUE(start().available);
  for (int i = 0; i < 2 * kBad; ++i) {
    Launch launch;
    if (i % 2 == 1 && i > 8) launch.bad_time = GetParam().how;
    standin_->launch(launch);
    pass_time();
    if (i % 1'000 == 0) drain();
  }
  const format::Ledger ledger = finish();
  expect_found(kBad - 4, ledger.impossible_times.value_or(0));
  EXPECT_EQ(rows(Kind::Kernel).size() + ledger.impossible_times.value_or(0), size_t{2 * kBad});
  EXPECT_EQ(ledger.launches_missing, 0u);
}

}  // namespace
}  // namespace gpufl::backend
