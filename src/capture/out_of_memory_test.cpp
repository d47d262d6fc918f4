// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <gpufl/scope.hpp>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "capture/session.hpp"
#include "format/dictionary.hpp"

// A program of its own, because it replaces the global operator new.
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

std::atomic<int64_t> g_left{kNever};  // allocations that still succeed
std::atomic<int64_t> g_failures{0};   // how many fail then, before there is memory again
std::atomic<int64_t> g_failed{0};

bool is_refused() {
  if (g_left.load() == kNever || g_left.fetch_sub(1) > 0) return false;
  return g_failed.fetch_add(1) < g_failures.load();
}

}  // namespace

// Not inlined: the compiler would take malloc and delete for a mismatch.
__attribute__((noinline)) void* operator new(std::size_t size) {
  void* const memory = is_refused() ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace gpufl::capture {
namespace {

class OutOfMemorySession : public testing::TestWithParam<int64_t> {};

// Reaching the end is what is tested: nothing here may abort the program or wait for ever.
TEST_P(OutOfMemorySession, NeverEndsTheHost) {
  char pattern[] = "/tmp/gpufl_memory_XXXXXX";
  const std::filesystem::path folder = mkdtemp(pattern);
  bool all_succeeded = false;
  uint64_t started = 0;
  for (int64_t n = 0; !all_succeeded; n += 1 + n / 16) {
    SessionConfig config;
    config.log_root = folder;
    config.backend = "synthetic";
    config.engine = "Trace";
    config.continuous_sampling = true;
    config.sample_interval_ms = 1;
    g_failed = 0;
    g_failures = GetParam();
    g_left = n;
    {
      auto session = Session::start(std::move(config));
      if (session) {
        ++started;
        (*session)->system_start("phase");
        GFL_SCOPE("work") { (*session)->flush(); }
        (*session)->system_stop("phase");
        (void)(*session)->stop();
      }
    }
    g_left = kNever;
    all_succeeded = g_failed == 0;
    std::filesystem::remove_all(folder);
  }
  EXPECT_GT(started, 0u);

  // And the recorder of scopes is free again.
  SessionConfig config;
  config.log_root = folder;
  config.backend = "none";
  auto session = Session::start(config);
  ASSERT_TRUE(session);
  for (const format::Capability& note : (*session)->capabilities())
    EXPECT_NE(note.feature, "scopes");
  EXPECT_TRUE((*session)->stop());
  session->reset();
  std::filesystem::remove_all(folder);
}

struct Words {
  int64_t name, config;
};

Words intern(format::DictionaryTable& table, int64_t number) {
  const int64_t name = table.intern(format::Dict::Name, "kernel " + std::to_string(number));
  return {name, table.intern(format::Dict::Config, R"({"name":)" + std::to_string(name) + "}")};
}

format::Batch kernels_of(const std::vector<int64_t>& configs) {
  format::Batch batch(format::Kind::Kernel);
  for (const int64_t config : configs) {
    batch.mutable_column(format::kernel_column::kConfig).push_back(config);
  }
  batch.set_rows(configs.size());
  return batch;
}

// Whichever allocation fails, what a dictionary had before it has, and what it had not it takes.
TEST(OutOfMemory, DictionariesStayWhole) {
  constexpr int64_t kWords = 20;
  bool has_failed = true;
  for (int64_t n = 0; has_failed; ++n) {
    format::DictionaryTable table;
    format::FileDefinitions definitions;
    std::string lines;
    std::vector<int64_t> configs;
    configs.reserve(kWords);
    g_failed = 0;
    g_failures = 1;
    g_left = n;
    for (int64_t i = 0; i < kWords; ++i) {
      try {
        configs.push_back(intern(table, i).config);
        definitions.define_for(kernels_of(configs), table, lines);
      } catch (const std::bad_alloc&) {
        definitions.rollback();
        lines.clear();
      }
    }
    g_left = kNever;
    has_failed = g_failed != 0;
    configs.clear();
    for (int64_t i = 0; i < kWords; ++i) {
      const auto [name, config] = intern(table, i);
      configs.push_back(config);
      ASSERT_EQ(table.value(format::Dict::Name, name), "kernel " + std::to_string(i)) << n;
      ASSERT_EQ(table.references(format::Dict::Config, config).size(), 1u) << n;
      ASSERT_EQ(table.references(format::Dict::Config, config)[0].id, name) << n;
    }
    definitions.define_for(kernels_of(configs), table, lines);
    for (int64_t i = 0; i < kWords; ++i) {
      const std::string text = "\"kernel " + std::to_string(i) + "\"";
      ASSERT_NE(lines.find(text), std::string::npos) << n << ": " << text;
      ASSERT_EQ(lines.find(text), lines.rfind(text)) << n << ": " << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Failures, OutOfMemorySession, testing::Values(1, 40, kNever),
                         [](const auto& info) {
                           return info.param == kNever ? std::string("All")
                                                       : std::to_string(info.param);
                         });

}  // namespace
}  // namespace gpufl::capture
