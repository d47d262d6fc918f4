// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bindings/torch_passes.hpp"

// Hears of every operator that PyTorch runs, through its own RecordFunction callbacks, and tells it
// as NVTX ranges: operators that the program called and nodes of the backward pass in the domain
// "torch.op", calls of modules in "torch.module". Which recorder these reach is NVTX's business.
//
// Built without PyTorch: its functions are found in the libtorch_cpu.so that is loaded, by their
// mangled names, so a version that has others is told apart before anything of it is used.
// docs/design/torch-labels.md says what of its layout is relied on. The ranges are made on the
// program's threads; everything else by one thread at a time, with the GIL.
namespace gpufl::python::torch_observer {

// The `category` of ranges in "torch.op": one of these, and from bit kThreadShift on PyTorch's
// number of the thread that makes nodes in it, or has made the node. 0: not known.
enum class OpCategory : unsigned { Operator = 1, Backward = 2, Section = 3 };
inline constexpr unsigned kThreadShift = 8;

// Looks for PyTorch and learns how it tells of operators, from those that `run` runs: see
// torch_layout.hpp. Empty: ready for attach(). Otherwise a sentence that says why not.
std::string prepare(void (*run)(void*), void* argument);
// Ranges from here on, on all threads. Nothing where that is so already. After prepare().
void attach();
// No more of them; those that are open end.
void detach();

// A backward pass that this thread runs, while it is there: see torch_passes.hpp.
class Pass {
 public:
  explicit Pass(bool is_alone);

 private:
  std::optional<torch_passes::Pass> told_;  // none where nothing is attached
};

// Ranges on this thread. A session may begin or end meanwhile: whoever was told of a range's begin
// is told of its end.
//
// Around what no RecordFunction tells of, while it is there.
class Section {
 public:
  explicit Section(const char* name) noexcept;
  ~Section();
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

 private:
  const bool is_recorded_;  // by this shared object's session; otherwise it is NVTX's
};
// A call of a module. kept_text: the number of what framework_ranges keeps of the path; 0: it is
// looked up. What begin_module() returns is for end_module().
bool begin_module(const char* path, uint32_t kept_text) noexcept;
void end_module(bool is_recorded) noexcept;

}  // namespace gpufl::python::torch_observer
