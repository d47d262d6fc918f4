// SPDX-License-Identifier: Apache-2.0
#include "symbols/stack_fixture/call_shapes.hpp"

#include <alloca.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <vector>

#define SHAPE [[gnu::noinline]] static void

namespace {

// Keeps a call from becoming a jump, and a variable in memory.
#define KEEP(variable) asm volatile("" : : "r"(&(variable)) : "memory")

SHAPE next(CallTree& tree) {
  if (tree.left == 0) {
    tree.bottom(tree);
  } else {
    const uint8_t step = *tree.path++;
    --tree.left;
    const size_t library = (step & CallTree::kOtherLibrary) != 0 ? 1 - tree.library : tree.library;
    tree.library = library;
    tree.libraries[library](tree);
  }
  KEEP(tree);
}

SHAPE plain(CallTree& tree) {
  next(tree);
  KEEP(tree);
}

SHAPE many_registers(CallTree& tree) {
  uint64_t a = tree.left, b = a * 3, c = a ^ b, d = b + c, e = c * d, f = a + e;
  asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
  next(tree);
  asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
}

SHAPE large_frame(CallTree& tree) {
  char bytes[40'000];
  KEEP(bytes);
  next(tree);
  KEEP(bytes);
}

SHAPE allocating(CallTree& tree) {
  auto* bytes = static_cast<char*>(alloca(16 + tree.left * 24));
  std::memset(bytes, 1, 16);
  next(tree);
  KEEP(*bytes);
}

SHAPE realigned(CallTree& tree) {
  alignas(64) char bytes[64];
  KEEP(bytes);
  next(tree);
  KEEP(bytes);
}

SHAPE realigned_and_allocating(CallTree& tree) {
  alignas(64) char aligned[64];
  auto* bytes = static_cast<char*>(alloca(16 + tree.left * 40));
  KEEP(aligned);
  next(tree);
  KEEP(aligned);
  KEEP(*bytes);
}

SHAPE through_function_object(CallTree& tree) {
  const std::function<void(CallTree&)> function = [&tree](CallTree& given) {
    next(given);
    KEEP(tree);
  };
  function(tree);
  KEEP(function);
}

struct Base {
  virtual ~Base() = default;
  virtual void call(CallTree& tree) = 0;
};
struct Derived final : Base {
  [[gnu::noinline]] void call(CallTree& tree) override {
    next(tree);
    KEEP(tree);
  }
};
SHAPE through_virtual(CallTree& tree) {
  Derived derived;
  Base* base = &derived;
  asm volatile("" : "+r"(base));
  base->call(tree);
  KEEP(derived);
}

// libc's qsort calls back, once for two elements.
thread_local CallTree* t_sorting = nullptr;
SHAPE through_qsort(CallTree& tree) {
  int values[2] = {2, 1};
  t_sorting = &tree;
  qsort(values, 2, sizeof(int), [](const void* a, const void* b) {
    if (CallTree* given = t_sorting) {
      t_sorting = nullptr;
      next(*given);
    }
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  KEEP(values);
}

struct CallsWhileUnwinding {
  CallTree& tree;
  ~CallsWhileUnwinding() {
    next(tree);
    KEEP(tree);
  }
};
SHAPE while_an_exception_flies(CallTree& tree) {
  try {
    CallsWhileUnwinding guard{tree};
    throw std::runtime_error("flies");
  } catch (const std::exception&) {
    KEEP(tree);
  }
}

SHAPE in_a_catch_block(CallTree& tree) {
  try {
    throw 1;
  } catch (int) {
    next(tree);
    KEEP(tree);
  }
}

// A call that does not return may be the last instruction: its return address is the next
// function's.
struct WayBack {
  CallTree& tree;
  std::jmp_buf where;
};
[[noreturn, gnu::noinline]] void go_back(WayBack& way) {
  next(way.tree);
  std::longjmp(way.where, 1);
}
[[noreturn, gnu::noinline]] void ends_in_a_call(WayBack& way) { go_back(way); }
SHAPE through_noreturn(CallTree& tree) {
  WayBack way{tree, {}};
  if (setjmp(way.where) == 0) ends_in_a_call(way);
  KEEP(way);
}

SHAPE many_arguments(CallTree& tree, long a, long b, long c, long d, long e, long f, long g,
                     long h) {
  next(tree);
  const long sum = a + b + c + d + e + f + g + h;
  KEEP(sum);
}
SHAPE pushes_arguments(CallTree& tree) {
  many_arguments(tree, 1, 2, 3, 4, 5, 6, 7, 8);
  KEEP(tree);
}

constexpr CallTree::Enter kShapes[] = {plain,
                                       many_registers,
                                       large_frame,
                                       allocating,
                                       realigned,
                                       realigned_and_allocating,
                                       through_function_object,
                                       through_virtual,
                                       through_qsort,
                                       while_an_exception_flies,
                                       in_a_catch_block,
                                       through_noreturn,
                                       pushes_arguments};

}  // namespace

__attribute__((visibility("default"))) void enter_call_tree(CallTree& tree) {
  const size_t count = std::size(kShapes);
  kShapes[tree.left > 0 ? (tree.path[0] & 0x7f) % count : 0](tree);
  KEEP(tree);
}
