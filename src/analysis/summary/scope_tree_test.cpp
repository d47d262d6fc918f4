// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/scope_tree.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpufl::analysis {
namespace {

using format::Batch;
using format::Dict;
using format::Kind;
using format::ScopeEnding;

constexpr int64_t kEpoch = 1, kStep = 2, kLoad = 3, kTag = 4, kMatmul = 5;

struct Row {
  int64_t id, parent, name;
  int64_t start_ns = 0, duration_ns = 0;
  ScopeEnding ending = ScopeEnding::Normal;
  int64_t tag = 0, repeat = 0, warmup = 0;
};

class ScopeTreeTest : public testing::Test {
 protected:
  ScopeTreeTest() {
    dictionaries_.define(Dict::Name, kEpoch, "epoch");
    dictionaries_.define(Dict::Name, kStep, "step");
    dictionaries_.define(Dict::Name, kLoad, "load");
    dictionaries_.define(Dict::Name, kTag, "first");
    dictionaries_.define(Dict::Name, kMatmul, "matmul");
  }

  void ended(std::initializer_list<Row> rows) {
    Batch batch(Kind::Scope);
    for (const Row& row : rows) {
      batch.push_row({row.id, row.parent, 100, 0, row.name, row.tag, row.start_ns, row.duration_ns,
                      row.repeat, row.warmup, static_cast<int64_t>(row.ending)});
    }
    tree_.add_ended(batch, dictionaries_);
  }

  void open(std::initializer_list<Row> rows) {
    Batch batch(Kind::ScopeOpen);
    for (const Row& row : rows) {
      batch.push_row(
          {row.id, row.parent, 100, 0, row.name, row.tag, row.start_ns, row.repeat, row.warmup});
    }
    tree_.add_open(batch, dictionaries_);
  }

  // "epoch(1 100)[step(2 60)[load(2 10)] load(1 5)]": name(count total)[children].
  static std::string text(const std::vector<ScopeNode>& nodes) {
    std::string out;
    for (const ScopeNode& node : nodes) {
      if (!out.empty()) out += ' ';
      out += node.is_unknown ? "?" : node.name;
      if (!node.tag.empty()) out += "/" + node.tag;
      out += "(" + std::to_string(node.duration_ns.count) + " " +
             std::to_string(static_cast<int64_t>(node.duration_ns.total));
      if (node.open != 0) out += " open " + std::to_string(node.open);
      if (node.lost != 0) out += " lost " + std::to_string(node.lost);
      out += ')';
      if (!node.children.empty()) out += "[" + text(node.children) + "]";
    }
    return out;
  }

  std::string finish(int64_t now_ns = 1000) { return text(tree_.finish(now_ns)); }

  NameTable names_;
  ScopeTree tree_{names_};
  format::Dictionaries dictionaries_;
};

TEST_F(ScopeTreeTest, IsEmptyWithoutRows) { EXPECT_EQ(finish(), ""); }

TEST_F(ScopeTreeTest, GathersChildrenThatComeBeforeTheirParent) {
  ended({{3, 2, kLoad, 10, 5},
         {2, 1, kStep, 10, 30},
         {5, 4, kLoad, 50, 7},
         {4, 1, kStep, 50, 20},
         {1, 0, kEpoch, 0, 100}});
  EXPECT_EQ(finish(), "epoch(1 100)[step(2 50)[load(2 12)]]");
}

TEST_F(ScopeTreeTest, GathersAcrossBatches) {
  ended({{3, 2, kLoad, 10, 5}});
  ended({{2, 1, kStep, 10, 30}});
  ended({{5, 4, kLoad, 50, 7}});
  ended({{4, 1, kStep, 50, 20}, {6, 1, kLoad, 80, 1}});
  ended({{1, 0, kEpoch, 0, 100}});
  ended({{8, 7, kStep, 110, 10}, {7, 0, kEpoch, 100, 50}});
  EXPECT_EQ(finish(), "epoch(2 150)[step(3 60)[load(2 12)] load(1 1)]");
}

TEST_F(ScopeTreeTest, KeepsMinMeanAndMax) {
  ended({{1, 0, kStep, 0, 10}, {2, 0, kStep, 20, 30}, {3, 0, kStep, 60, 20}});
  const auto nodes = tree_.finish(100);
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].duration_ns.min, 10);
  EXPECT_EQ(nodes[0].duration_ns.max, 30);
  EXPECT_EQ(nodes[0].duration_ns.mean(), 20);
  EXPECT_EQ(nodes[0].first_start_ns, 0);
  EXPECT_EQ(nodes[0].depth, 1u);
}

TEST_F(ScopeTreeTest, TellsTagsAndPlacesApart) {
  ended({{2, 1, kLoad, 5, 1}, {1, 0, kStep, 0, 10}, {3, 0, kStep, 20, 10}, {4, 0, kLoad, 40, 2}});
  ended({{5, 0, kStep, 50, 3, ScopeEnding::Normal, kTag}});
  EXPECT_EQ(finish(), "step(2 20)[load(1 1)] load(1 2) step/first(1 3)");
}

TEST_F(ScopeTreeTest, OrdersSiblingsByFirstStart) {
  ended({{2, 0, kLoad, 50, 1}, {1, 0, kStep, 0, 100}});
  EXPECT_EQ(finish(), "step(1 100) load(1 1)");
}

TEST_F(ScopeTreeTest, ThreadsWithTheSamePathShareANode) {
  ended({{12, 11, kLoad, 0, 4}, {2, 1, kLoad, 0, 3}, {1, 0, kStep, 0, 10}, {11, 0, kStep, 0, 20}});
  EXPECT_EQ(finish(), "step(2 30)[load(2 7)]");
}

TEST_F(ScopeTreeTest, FiguresPerIteration) {
  ended({{1, 0, kMatmul, 0, 1000, ScopeEnding::Normal, 0, 10, 3},
         {2, 0, kMatmul, 2000, 6000, ScopeEnding::Normal, 0, 20, 3},
         {3, 0, kMatmul, 9000, 77}});
  const auto nodes = tree_.finish(10000);
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].iteration_ns.count, 30u);
  EXPECT_DOUBLE_EQ(nodes[0].iteration_ns.mean(), 7000.0 / 30);
  EXPECT_EQ(nodes[0].iteration_ns.min, 100);
  EXPECT_EQ(nodes[0].iteration_ns.max, 300);
  EXPECT_EQ(nodes[0].warmup, 6u);
  EXPECT_EQ(nodes[0].duration_ns.count, 3u);
}

TEST_F(ScopeTreeTest, AScopeThatNeverEndsIsOpen) {
  open({{1, 0, kEpoch, 100}});
  ended({{2, 1, kStep, 110, 10}});
  const auto nodes = tree_.finish(400);
  EXPECT_EQ(text(nodes), "epoch(0 0 open 1)[step(1 10)]");
  EXPECT_EQ(nodes[0].open_ns, 300);
}

TEST_F(ScopeTreeTest, AnOpenRowThatComesAfterChildrenTakesThem) {
  ended({{3, 2, kLoad, 5, 1}});
  open({{1, 0, kEpoch, 0}, {2, 1, kStep, 1}});
  EXPECT_EQ(finish(), "epoch(0 0 open 1)[step(0 0 open 1)[load(1 1)]]");
}

TEST_F(ScopeTreeTest, AnOpenRowIsForgottenWhenItsScopeEnds) {
  open({{1, 0, kEpoch, 0}});
  ended({{2, 1, kStep, 1, 2}});
  open({{1, 0, kEpoch, 0}});  // said again in a new file
  ended({{1, 0, kEpoch, 0, 50}});
  EXPECT_EQ(finish(), "epoch(1 50)[step(1 2)]");
}

TEST_F(ScopeTreeTest, SealingMayPutOpenRowsAfterTheEndsOfTheirScopes) {
  ended({{3, 2, kLoad, 5, 1}, {2, 1, kStep, 1, 10}});
  open({{1, 0, kEpoch, 0}, {2, 1, kStep, 1}});
  tree_.end_window();
  ended({{5, 4, kLoad, 60, 1}, {4, 1, kStep, 50, 20}, {1, 0, kEpoch, 0, 100}});
  open({{1, 0, kEpoch, 0}, {4, 1, kStep, 50}});
  EXPECT_EQ(finish(), "epoch(1 100)[step(2 30)[load(2 2)]]");
}

TEST_F(ScopeTreeTest, AnOpenRowDoesNotReviveAScopeThatEndedEarly) {
  ended({{1, 0, kEpoch, 0, 10, ScopeEnding::OutOfOrder}});
  open({{1, 0, kEpoch, 0}});
  ended({{2, 1, kStep, 5, 20}});
  EXPECT_EQ(finish(), "epoch(1 10)[step(1 20)]");
}

TEST_F(ScopeTreeTest, AParentThatEndsBeforeItsChildKeepsIt) {
  ended({{2, 1, kStep, 0, 10, ScopeEnding::OutOfOrder}});
  ended({{3, 2, kLoad, 5, 20}, {1, 0, kEpoch, 0, 50}});
  EXPECT_EQ(finish(), "epoch(1 50)[step(1 10)[load(1 20)]]");
}

TEST_F(ScopeTreeTest, AParentEndedByAnotherThreadKeepsItsChild) {
  ended({{1, 0, kEpoch, 0, 10, ScopeEnding::OtherThread}, {2, 1, kStep, 5, 20}});
  EXPECT_EQ(finish(), "epoch(1 10)[step(1 20)]");
}

TEST_F(ScopeTreeTest, CountsEndingsThatSayLess) {
  ended({{1, 0, kStep, 0, 10},
         {2, 0, kStep, 0, 30, ScopeEnding::Shutdown},
         {3, 0, kStep, 0, 20, ScopeEnding::ThreadExit},
         {4, 0, kStep, 0, 999, ScopeEnding::Lost}});
  const auto nodes = tree_.finish(1000);
  EXPECT_EQ(text(nodes), "step(3 60 lost 1)");
  EXPECT_EQ(nodes[0].cut, 2u);
}

TEST_F(ScopeTreeTest, ChildrenOfALostParentStandBelowAnUnknownOne) {
  ended({{5, 4, kLoad, 0, 3}, {3, 2, kLoad, 10, 4}, {1, 0, kEpoch, 0, 50}});
  EXPECT_EQ(finish(), "epoch(1 50) ?(0 0)[load(2 7)]");
}

TEST_F(ScopeTreeTest, ParentsInACircleDoNotHang) {
  open({{1, 2, kEpoch, 0}, {2, 1, kStep, 0}});
  ended({{3, 1, kLoad, 0, 1}, {2, 1, kStep, 0, 5}, {4, 4, kLoad, 0, 9}, {1, 2, kEpoch, 0, 7}});
  const std::string tree = finish();
  EXPECT_NE(tree.find("load(1 9)"), std::string::npos) << tree;
}

TEST_F(ScopeTreeTest, GivesUpTheParentThatWaitsLongest) {
  // Parent 1 has a child now and then and must survive; the others are lost.
  for (int64_t lost = 10; lost < 10 + 2 * static_cast<int64_t>(ScopeTree::kMaxWaiting); ++lost) {
    ended({{lost * 2, lost * 2 + 1, kLoad, 0, 1}});
    if (lost % 1000 == 0) ended({{lost * 2, 1, kStep, 0, 1}});
  }
  ended({{1, 0, kEpoch, 0, 5}});
  EXPECT_EQ(finish(), "epoch(1 5)[step(131 131)] ?(0 0)[load(131072 131072)]");
}

TEST_F(ScopeTreeTest, DeepNestingIsCutInTheTreeAndNowhereElse) {
  constexpr int64_t kDeep = 100000;
  for (int64_t id = kDeep; id >= 1; --id) ended({{id, id - 1, kStep, id, 1}});
  const auto nodes = tree_.finish(kDeep);
  const ScopeNode* node = &nodes.at(0);
  uint32_t depth = 1;
  for (; !node->children.empty(); ++depth) node = &node->children[0];
  EXPECT_EQ(depth, kMaxScopeDepth);
  EXPECT_EQ(node->deeper, kDeep - kMaxScopeDepth);
}

TEST_F(ScopeTreeTest, ManyDistinctTagsStayFast) {
  constexpr int64_t kTags = 50000;
  for (int64_t i = 0; i < kTags; ++i) {
    dictionaries_.define(Dict::Name, 1000 + i, "batch_" + std::to_string(i));
    ended({{i + 1, 0, kStep, i, 1, ScopeEnding::Normal, 1000 + i}});
  }
  EXPECT_EQ(tree_.finish(kTags).size(), static_cast<size_t>(kTags));
}

}  // namespace
}  // namespace gpufl::analysis
