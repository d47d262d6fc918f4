// SPDX-License-Identifier: Apache-2.0
#include "symbols/unwinder.hpp"

#include <alloca.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "symbols/stack_fixture/call_shapes.hpp"

// Of stack_fixture/late_choice.cpp.
extern "C" int late_choice();
extern "C" void (*when_choosing)();

// The truth is _Unwind_Backtrace, called from the same function.
namespace gpufl::symbols {
namespace {

UnwindCache& cache() {
  static UnwindCache made(16);
  return made;
}

// Of its own size, because some are filled inside of a signal handler.
struct Addresses {
  uintptr_t values[512];
  size_t count = 0;

  void add(uintptr_t address) {
    if (count < std::size(values)) values[count++] = address;
  }
  std::vector<uintptr_t> all() const { return {values, values + count}; }
};

struct Both {
  Addresses ours, theirs;
  bool is_cut = false;
};

// From the caller of this function on; of each frame an address inside of the instruction that
// runs.
[[gnu::noinline]] Both take_both() {
  Both both;
  NativeStack stack;
  unwind(start_registers(), cache(), 0, stack);
  for (size_t i = 1; i < stack.count; ++i) both.ours.add(stack.pc[i]);
  both.is_cut = stack.is_cut;
  struct Walk {
    Addresses& out;
    bool is_first = true;
  } walk{both.theirs};
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* data) {
        auto* seen = static_cast<Walk*>(data);
        int is_exact = 0;
        const uintptr_t address = _Unwind_GetIPInfo(context, &is_exact);
        // It reports one frame more, of nothing, where the outermost returns nowhere.
        if (!seen->is_first && address != 0) seen->out.add(address - (is_exact != 0 ? 0 : 1));
        seen->is_first = false;
        return _URC_NO_REASON;
      },
      &walk);
  return both;
}

void expect_equal(const Both& both, size_t min_frames) {
  EXPECT_EQ(both.ours.all(), both.theirs.all());
  EXPECT_GE(both.ours.count, min_frames);
}

[[gnu::noinline]] Both recurse(int depth) {
  if (depth == 0) return take_both();
  Both both = recurse(depth - 1);
  asm volatile("" : : "r"(&both) : "memory");
  return both;
}

TEST(UnwinderTest, FollowsRecursionToTheProgramsStart) {
  for (const int depth : {0, 1, 10, 60}) {
    expect_equal(recurse(depth), static_cast<size_t>(depth) + 5);
  }
}

TEST(UnwinderTest, CutsWhatIsTooDeep) {
  const Both both = recurse(400);
  EXPECT_TRUE(both.is_cut);
  ASSERT_EQ(both.ours.count, kMaxFrames - 1);
  ASSERT_GT(both.theirs.count, 400u);
  EXPECT_TRUE(std::equal(both.ours.values, both.ours.values + both.ours.count, both.theirs.values));
  EXPECT_FALSE(recurse(60).is_cut);
}

TEST(UnwinderTest, IsTheSameWhenTheCacheIsWarm) {
  const Both cold = recurse(20), warm = recurse(20);
  expect_equal(cold, 20);
  expect_equal(warm, 20);
}

TEST(UnwinderTest, FollowsAThreadToItsStart) {
  Both both;
  std::thread([&] { both = recurse(10); }).join();
  expect_equal(both, 12);
}

// Libraries of call_shapes.cpp, by how they were built.
CallTree::Enter enter(const char* library) {
  void* handle = dlopen((std::string(GPUFL_STACK_FIXTURES) + "/" + library).c_str(), RTLD_NOW);
  return handle != nullptr ? reinterpret_cast<CallTree::Enter>(dlsym(handle, kEnterCallTree))
                           : nullptr;
}

struct ComparedTree : CallTree {
  Both both;
};

Both compare_in(const std::vector<uint8_t>& path, CallTree::Enter first, CallTree::Enter second) {
  ComparedTree tree;
  tree.path = path.data();
  tree.left = path.size();
  tree.bottom = [](CallTree& reached) { static_cast<ComparedTree&>(reached).both = take_both(); };
  tree.libraries[0] = first;
  tree.libraries[1] = second;
  tree.library = 0;
  first(tree);
  return tree.both;
}

TEST(UnwinderTest, FollowsEveryShapeOfFrame) {
  const CallTree::Enter frameless = enter("libframeless.so"), framed = enter("libframed.so");
  ASSERT_NE(frameless, nullptr);
  ASSERT_NE(framed, nullptr);
  for (uint8_t shape = 0; shape < 13; ++shape) {
    SCOPED_TRACE(int{shape});
    expect_equal(compare_in({shape}, frameless, framed), 7);
    expect_equal(compare_in({shape}, framed, frameless), 7);
    expect_equal(compare_in(std::vector<uint8_t>(30, shape), frameless, framed), 90);
  }
}

TEST(UnwinderTest, AgreesOnThousandsOfRandomCallTrees) {
  const CallTree::Enter frameless = enter("libframeless.so"), framed = enter("libframed.so");
  ASSERT_NE(frameless, nullptr);
  ASSERT_NE(framed, nullptr);
  std::mt19937 random(20'240'601);  // the same trees in every run
  for (int i = 0; i < 3'000; ++i) {
    std::vector<uint8_t> path(random() % 41);
    for (uint8_t& step : path) step = static_cast<uint8_t>(random());
    const Both both = compare_in(path, frameless, framed);
    ASSERT_EQ(both.ours.all(), both.theirs.all()) << "tree " << i;
    ASSERT_GE(both.ours.count, path.size() + 5);
  }
}

Both g_in_handler;
void record_in_handler(int) { g_in_handler = recurse(3); }

[[gnu::noinline]] void raise_below(int depth) {
  if (depth == 0) {
    raise(SIGUSR1);
  } else {
    raise_below(depth - 1);
  }
  asm volatile("" ::: "memory");
}

class SignalGuard {
 public:
  explicit SignalGuard(int flags) {
    struct sigaction action = {};
    action.sa_handler = record_in_handler;
    action.sa_flags = flags;
    sigaction(SIGUSR1, &action, &before_);
  }
  ~SignalGuard() { sigaction(SIGUSR1, &before_, nullptr); }

 private:
  struct sigaction before_ = {};
};

TEST(UnwinderTest, GoesThroughASignalHandler) {
  const SignalGuard guard(0);
  raise_below(5);
  expect_equal(g_in_handler, 15);
}

TEST(UnwinderTest, GoesFromASignalStackToTheInterruptedOne) {
  std::vector<char> memory(size_t{256} << 10);
  stack_t before = {}, alternate = {};
  alternate.ss_sp = memory.data();
  alternate.ss_size = memory.size();
  ASSERT_EQ(sigaltstack(&alternate, &before), 0);
  {
    const SignalGuard guard(SA_ONSTACK);
    raise_below(5);
  }
  sigaltstack(&before, nullptr);
  expect_equal(g_in_handler, 15);
}

ucontext_t g_main_context, g_coroutine_context;
Both g_in_coroutine;
void run_coroutine() {
  g_in_coroutine = recurse(12);
  swapcontext(&g_coroutine_context, &g_main_context);
}

TEST(UnwinderTest, FollowsACoroutineToItsStart) {
  // Below and above nothing is readable, as on both sides of a real one.
  constexpr size_t kPage = 4096, kStackBytes = 64 * kPage;
  void* memory =
      mmap(nullptr, kStackBytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  char* stack = static_cast<char*>(memory) + kPage;
  ASSERT_EQ(mprotect(stack, kStackBytes, PROT_READ | PROT_WRITE), 0);
  getcontext(&g_coroutine_context);
  g_coroutine_context.uc_stack.ss_sp = stack;
  g_coroutine_context.uc_stack.ss_size = kStackBytes;
  g_coroutine_context.uc_link = &g_main_context;
  makecontext(&g_coroutine_context, run_coroutine, 0);
  swapcontext(&g_main_context, &g_coroutine_context);
  expect_equal(g_in_coroutine, 13);
  munmap(memory, kStackBytes + 2 * kPage);
}

Both g_while_choosing;

TEST(UnwinderTest, GoesThroughTheLoadersTrampoline) {
  when_choosing = [] { g_while_choosing = recurse(2); };
  EXPECT_EQ(late_choice(), 42);
  when_choosing = nullptr;
  if (g_while_choosing.ours.count == 0) GTEST_SKIP() << "functions were bound at the start";
  expect_equal(g_while_choosing, 10);
}

// Whatever is on a stack, a walk ends, stays within it, and does not crash.
TEST(UnwinderTest, EndsOnGarbage) {
  std::mt19937_64 random(7);
  constexpr size_t kWords = 512;
  auto* words = static_cast<uintptr_t*>(alloca(kWords * sizeof(uintptr_t)));
  const auto code = reinterpret_cast<uintptr_t>(&unwind);
  const auto libc = reinterpret_cast<uintptr_t>(&qsort);
  const auto here = reinterpret_cast<uintptr_t>(words);
  size_t longest = 0;
  for (int i = 0; i < 20'000; ++i) {
    for (size_t w = 0; w < kWords; ++w) {
      switch (random() % 5) {
        case 0: words[w] = random(); break;
        case 1: words[w] = random() % 65'536; break;
        case 2: words[w] = here + random() % (2 * kWords * sizeof(uintptr_t)); break;
        case 3: words[w] = code + random() % 4'096; break;
        default: words[w] = libc + random() % 100'000; break;
      }
    }
    Registers start;
    start.pc = (i % 2 == 0 ? code : libc) + random() % 4'096;
    start.rsp = here + random() % 64 * sizeof(uintptr_t);
    start.rbp = i % 3 == 0 ? random() : here + random() % (kWords * sizeof(uintptr_t));
    start.rbx = here + random() % (kWords * sizeof(uintptr_t));
    NativeStack stack;
    unwind(start, cache(), 0, stack);
    ASSERT_GE(stack.count, 1u);
    ASSERT_LE(stack.count, kMaxFrames);
    longest = std::max(longest, stack.count);
  }
  EXPECT_GT(longest, 3u);  // or the garbage would not be like a stack
}

// Code that no table covers, as a program makes it while it runs.
class MadeCode {
 public:
  explicit MadeCode(std::vector<uint8_t> bytes) {
    memory_ = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(memory_, bytes.data(), bytes.size());
    mprotect(memory_, 4096, PROT_READ | PROT_EXEC);
  }
  ~MadeCode() { munmap(memory_, 4096); }
  bool holds(uintptr_t address) const {
    return address - reinterpret_cast<uintptr_t>(memory_) < 4096;
  }
  void call(void (*callback)()) const {
    reinterpret_cast<void (*)(void (*)())>(memory_)(callback);
    asm volatile("" ::: "memory");
  }

 private:
  void* memory_;
};

Both g_below_made_code;
void record_below_made_code() { g_below_made_code = take_both(); }

TEST(UnwinderTest, FollowsFramePointersWhereThereIsNoTable) {
  // push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
  const MadeCode code({0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3});
  code.call(record_below_made_code);
  const std::vector<uintptr_t> ours = g_below_made_code.ours.all();
  ASSERT_GE(ours.size(), 8u);
  EXPECT_TRUE(code.holds(ours[1]));
  const std::vector<uintptr_t> here = take_both().ours.all();
  // All but the frame that called, which stood at another instruction.
  EXPECT_TRUE(std::equal(here.rbegin(), here.rend() - 1, ours.rbegin()));
}

TEST(UnwinderTest, BelievesNoChainThatLeadsNowhere) {
  // push %rbp; push $0x12345678; push $0; mov %rsp,%rbp; sub $16,%rsp; call *%rdi; add $32,%rsp;
  // pop %rbp; ret
  const MadeCode code({0x55, 0x68, 0x78, 0x56, 0x34, 0x12, 0x6a, 0x00, 0x48, 0x89, 0xe5, 0x48,
                       0x83, 0xec, 0x10, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3});
  code.call(record_below_made_code);
  const std::vector<uintptr_t> ours = g_below_made_code.ours.all();
  ASSERT_EQ(ours.size(), 2u);  // the callback, and the frame that called it
  EXPECT_TRUE(code.holds(ours[1]));
}

}  // namespace
}  // namespace gpufl::symbols
