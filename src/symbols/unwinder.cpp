// SPDX-License-Identifier: Apache-2.0
#include "symbols/unwinder.hpp"

#include "symbols/modules.hpp"
#include "symbols/thread_stack.hpp"
#include "symbols/unwind_cfi.hpp"
#include "symbols/unwind_step.hpp"

namespace gpufl::symbols {

#if defined(__x86_64__)

namespace {

// The kernel's signal frame: rsp points to a ucontext_t when the handler has returned into it.
constexpr uintptr_t kSignalRbp = 120, kSignalRbx = 128, kSignalRsp = 160, kSignalRip = 168;

// Nothing is mapped below, so nothing there is an address.
constexpr uintptr_t kFirstAddress = 4096;

// The largest frame that is believed without a table. A coroutine's first function may hold the rbp
// of who made the coroutine, on another stack far away.
constexpr uintptr_t kMaxGuess = uintptr_t{256} << 10;

// A callee-saved register of the frame that a walk has come to: its value, or where it was saved.
// It is loaded when it is needed, which is seldom.
class TrackedRegister {
 public:
  explicit TrackedRegister(uintptr_t value) : value_(value) {}

  template <typename Memory>
  bool read(Memory& memory, uintptr_t& value) const {
    if (saved_at_ != 0) return memory.load(saved_at_, value);
    value = value_;
    return !is_lost_;
  }
  void set_saved_at(uintptr_t address) {
    saved_at_ = address;
    is_lost_ = false;
  }
  void lose() {
    saved_at_ = 0;
    is_lost_ = true;
  }

 private:
  uintptr_t value_;
  uintptr_t saved_at_ = 0;
  bool is_lost_ = false;
};

template <typename Memory>
class Walk {
 public:
  Walk(const Registers& start, Memory& memory, UnwindCache& cache, uint64_t generation)
      : memory_(memory),
        cache_(cache),
        generation_(generation),
        pc_(start.pc),
        rsp_(start.rsp),
        rbp_(start.rbp),
        rbx_(start.rbx) {}

  void run(NativeStack& out) {
    out.count = 0;
    out.is_cut = false;
    // Frames that were found by following rbp count only when they lead back to code with a table.
    size_t believed = SIZE_MAX;
    for (;;) {
      if (out.count == kMaxFrames) {
        out.is_cut = true;
        break;
      }
      out.pc[out.count] = pc_;
      const UnwindStep step = look_up();
      const bool is_guess = step.kind == StepKind::FramePtr;
      if (!is_guess) believed = SIZE_MAX;
      const bool goes_on = take(step);
      out.cfa[out.count++] = goes_on ? rsp_ : UINTPTR_MAX;
      if (is_guess && believed == SIZE_MAX) believed = out.count;
      if (!goes_on) break;
    }
    if (believed < out.count) out.count = believed;
  }

 private:
  UnwindStep look_up() {
    uint64_t packed = cache_.find(pc_, generation_);
    if (__builtin_expect(packed == 0, 0)) packed = evaluate();
    return UnwindStep::unpack(packed);
  }

  [[gnu::noinline]] uint64_t evaluate() {
    const CodeModule module = find_code_module(pc_);
    UnwindStep step;
    if (module.contains(pc_)) step = evaluate_cfi(module, pc_);
    if (step.kind == StepKind::None) step.kind = StepKind::FramePtr;
    const uint64_t packed = step.pack();
    // Code that no file holds may be something else at the next look.
    if (module.contains(pc_)) cache_.insert(pc_, generation_, packed);
    return packed;
  }

  // Goes to the caller. False: this is the outermost frame, or the last that makes sense.
  bool take(const UnwindStep& step) {
    uintptr_t cfa = 0;
    switch (step.kind) {
      case StepKind::Cfi:
        if (!base(step, cfa)) return false;
        cfa += static_cast<intptr_t>(step.cfa_offset);
        break;
      case StepKind::CfiDeref:
        if (!base(step, cfa) || !memory_.load(cfa + static_cast<intptr_t>(step.cfa_offset), cfa)) {
          return false;
        }
        break;
      case StepKind::Signal: return leave_signal_frame();
      case StepKind::FramePtr: return follow_frame_pointer();
      default: return false;
    }
    // rbp last: what is saved relative to it means the one of this frame.
    return restore(step.rbx, cfa, rbx_) && restore(step.rbp, cfa, rbp_) && return_to(cfa);
  }

  bool base(const UnwindStep& step, uintptr_t& value) {
    switch (step.base) {
      case StepBase::Rsp: value = rsp_; return true;
      case StepBase::Rbp: return rbp_.read(memory_, value);
      default: return rbx_.read(memory_, value);
    }
  }

  bool restore(const SavedRegister& saved, uintptr_t cfa, TrackedRegister& target) {
    switch (saved.at) {
      case SavedAt::Nowhere: return true;
      case SavedAt::Cfa:
        target.set_saved_at(cfa + static_cast<intptr_t>(saved.offset));
        return true;
      case SavedAt::Rbp: {
        uintptr_t frame = 0;
        if (!rbp_.read(memory_, frame)) return false;
        target.set_saved_at(frame + static_cast<intptr_t>(saved.offset));
        return true;
      }
      default: target.lose(); return true;
    }
  }

  bool return_to(uintptr_t cfa) {
    uintptr_t address = 0;
    if (cfa <= rsp_ || !memory_.load(cfa - sizeof(address), address) || address < kFirstAddress) {
      return false;
    }
    rsp_ = cfa;
    pc_ = address - 1;
    return true;
  }

  bool leave_signal_frame() {
    uintptr_t pc = 0, rsp = 0, rbp = 0, rbx = 0;
    if (!memory_.load(rsp_ + kSignalRip, pc) || !memory_.load(rsp_ + kSignalRsp, rsp) ||
        !memory_.load(rsp_ + kSignalRbp, rbp) || !memory_.load(rsp_ + kSignalRbx, rbx) ||
        pc < kFirstAddress || !memory_.may_continue_at(rsp_, rsp)) {
      return false;
    }
    pc_ = pc;
    rsp_ = rsp;
    rbp_ = TrackedRegister(rbp);
    rbx_ = TrackedRegister(rbx);
    return true;
  }

  bool follow_frame_pointer() {
    uintptr_t frame = 0;
    if (!rbp_.read(memory_, frame) || frame < rsp_ || frame - rsp_ > kMaxGuess ||
        frame % sizeof(frame) != 0) {
      return false;
    }
    if (!return_to(frame + 2 * sizeof(frame))) return false;
    rbp_.set_saved_at(frame);
    return true;
  }

  Memory& memory_;
  UnwindCache& cache_;
  const uint64_t generation_;
  uintptr_t pc_, rsp_;
  TrackedRegister rbp_, rbx_;
};

}  // namespace

void unwind(const Registers& start, UnwindCache& cache, uint64_t generation,
            NativeStack& out) noexcept {
  const ThreadStack stack = thread_stack();
  if (stack.contains(start.rsp)) {
    OwnStack memory(start.rsp, stack.end);
    Walk(start, memory, cache, generation).run(out);
  } else {
    ForeignStack memory;
    Walk(start, memory, cache, generation).run(out);
  }
}

#else

void unwind(const Registers&, UnwindCache&, uint64_t, NativeStack& out) noexcept {
  out.count = 0;
  out.is_cut = false;
}

#endif

}  // namespace gpufl::symbols
