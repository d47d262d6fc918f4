// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda/cuda_driver.hpp"
#include "backend/nvidia/cupti/call_watch.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"
#include "backend/tracing/launch_gate.hpp"

// What attaches an engine to the program's contexts, on a thread of its own: every call of CUPTI's
// that begins or ends something can hang for ever while a launch is under way, and is made behind
// the launch gate. One that is not back in time (patience_ns) ends the engine; its thread is left
// to itself. ContextEngine is who starts and ends it.
//
// Contexts that are in use when tracing begins are attached behind the gate that tracing began
// behind (attach()), others before their first launch (on_context_created()).
namespace gpufl::backend {

// One context, as an engine is attached to it. Calls are made behind the gate, by one thread.
class AttachedContext {
 public:
  AttachedContext(CUcontext context, uint32_t device) : context_(context), device_(device) {}
  virtual ~AttachedContext() = default;
  AttachedContext(const AttachedContext&) = delete;
  AttachedContext& operator=(const AttachedContext&) = delete;

  virtual Availability enable() = 0;
  // What it has gathered, before it is disabled; what fails here is lost, and said.
  virtual Availability collect() { return {true, "", "", ""}; }
  virtual Availability disable() = 0;
  virtual const char* enable_call() const = 0;
  virtual const char* collect_call() const { return ""; }
  virtual const char* disable_call() const = 0;
  CUcontext context() const { return context_; }
  uint32_t device() const { return device_; }  // CUDA's number
  uint32_t id() const { return id_; }          // of the context, for CUPTI

 private:
  friend class ContextWorker;
  const CUcontext context_;
  const uint32_t device_;
  uint32_t id_ = 0;
  bool is_held_ = false;                    // a primary context that we must release
  bool is_gone_ = false;                    // the program has destroyed it
  AttachedContext* kept_before_ = nullptr;  // of those that are kept for good
};

// Where an engine works. What this points to outlives the process's last callback.
struct EnginePlace {
  const CuptiApi& api;
  const CudaDriver& driver;
  LaunchGate& gate;
  uint32_t gate_session;
  const SessionDevices& devices;
  int64_t session_start_ns;
};

// Why an engine has no data, or no more: at all, or of one GPU while others have.
struct EngineFailure {
  Availability why;
  bool ends_engine = true;
};

// All that the thread uses: it may outlive the ContextEngine.
class ContextWorker {
 public:
  explicit ContextWorker(const EnginePlace& place);
  virtual ~ContextWorker() = default;
  ContextWorker(const ContextWorker&) = delete;
  ContextWorker& operator=(const ContextWorker&) = delete;

  virtual const char* name() const = 0;  // as people read it: "PC sampling"
  virtual std::string_view engine() const = 0;
  virtual const char* hang_reason() const = 0;  // a word of Availability
  // A call that takes longer does not come back.
  virtual int64_t patience_ns() const { return 2'000'000'000; }
  // The collector's thread. What drain() brings to the log is what was there at gather().
  virtual void gather() {}
  virtual void drain(DeviceNumbers& devices, RowSink& sink) = 0;
  virtual void account(format::Ledger& ledger) const = 0;
  virtual void report(TraceStatus& status) const = 0;

  void run();
  void attach();
  void on_context_created(CUcontext context) noexcept;
  void on_context_destroyed(CUcontext context) noexcept;
  void end();
  void watch();
  std::vector<EngineFailure> take_failures();
  bool is_left_on() const;
  bool knows(uint32_t context) const;
  static bool does_any_hang();

 protected:
  // How long the program's launches are waited for when a window is to open or close.
  static constexpr std::chrono::microseconds kWindowPatience{5'000};

  // The thread's, all of them. Whether the engine can be had on that GPU, asked behind the gate.
  virtual Availability ask(uint32_t device, CUcontext context) = 0;
  virtual std::unique_ptr<AttachedContext> make_context(CUcontext context, uint32_t device) = 0;
  virtual void on_attached(const AttachedContext&) {}
  // The program has destroyed it while it was attached.
  virtual void on_gone(AttachedContext&) {}
  // What there is to do from time to time while contexts are attached, and when next.
  virtual void take_turn() = 0;
  virtual int64_t next_turn_ns() const = 0;
  // After the last context was given up, behind the gate.
  virtual void end_calls() {}
  // Before contexts are given up, with launches let through.
  virtual void before_detaching() {}

  // What is lacking while the engine goes on.
  void tell_lacking(Availability why);
  // A call of CUPTI's, watched. Not available where it failed, or the engine was given up
  // meanwhile.
  Availability make(const char* call, const std::function<Availability()>& made);
  // The same, where a failure ends the engine.
  bool make_or_fail(const char* call, const std::function<Availability()>& made);
  // Ends the engine.
  void fail(Availability why) noexcept;
  bool is_over() const;
  bool is_over_for_good() const;
  // Until the time is up, or there is something else to do.
  void wait_within_turn(std::chrono::nanoseconds length);
  void drop_destroyed();
  // Whether the program has destroyed it, asked behind the gate: what shutting it waited for may
  // have done that. attached() stays as it is.
  bool is_gone(const AttachedContext& one);
  // Calls it while the program does not destroy the context: that waits for it, but not for long.
  // False: it is destroyed already.
  bool while_it_exists(const AttachedContext& one, const std::function<void()>& call);
  // Waits for launches as long as it takes: what is open has to be closed. False: given up.
  bool shut_for_stop();
  // Waits for launches as long as a window may make the program wait.
  bool shut_for_window() { return gate_.shut(gate_session_, kWindowPatience); }
  void open_gate();
  // "sampling" while all is well; "ended", or why there is nothing any more.
  std::string state(const char* when_well) const;
  const std::vector<std::unique_ptr<AttachedContext>>& attached() const { return attached_; }

  const CuptiApi api_;  // a copy: the thread may outlive the library's owner
  const CudaDriver& driver_;
  const CudaContexts& contexts_of_;
  LaunchGate& gate_;
  const SessionDevices devices_;
  const int64_t session_start_ns_;

 private:
  void work();
  bool wait_for_work();
  bool take_new_contexts();
  bool shut_for_new_contexts();
  void forget_new_contexts();
  void note_destroyed();
  void attach_context(CUcontext context, bool is_held);
  bool detach(AttachedContext& one);
  void detach_all();
  static void keep_for_good(std::unique_ptr<AttachedContext> attached) noexcept;
  void refuse(uint32_t device, Availability why);
  void leave_on();
  bool has_hung() const;
  void fail_locked(Availability why) noexcept;
  Availability out_of_memory() const noexcept;

  const uint32_t gate_session_;
  std::vector<std::unique_ptr<AttachedContext>> attached_;  // the thread's
  bool has_enabled_ = false;                                // or tried to
  int64_t ending_since_ns_ = 0;
  int attach_tries_ = 0;  // that failed, of contexts that wait
  // Of contexts that are gone; CUPTI may still write to them.
  std::vector<std::unique_ptr<AttachedContext>> retired_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable cv_;
  std::vector<CUcontext> created_;
  std::vector<CUcontext> destroyed_;
  CUcontext occupied_ = nullptr;  // by while_it_exists()
  bool attach_wanted_ = false;
  bool end_wanted_ = false;
  bool has_ended_ = false;
  bool has_failed_ = false;        // for good
  bool has_hung_ = false;          // and a call of CUPTI's does not come back
  bool is_left_on_ = false;        // the engine could not be ended
  bool has_given_up_any_ = false;  // contexts, and said so
  const char* call_ = nullptr;     // of CUPTI's, under way
  int64_t call_began_ns_ = 0;
  std::vector<EngineFailure> failures_;
  std::set<uint32_t> known_;                                 // CUPTI's numbers of contexts
  std::set<uint32_t> refusing_;                              // CUDA's numbers of devices
  std::vector<std::pair<uint32_t, Availability>> refusals_;  // new ones
  std::string state_;                                        // empty while all is well
};

// An engine beside a tracer, from its start to its end.
class ContextEngine : public ContextListener {
 public:
  // Null: no thread is to be had.
  static std::unique_ptr<ContextEngine> start(std::shared_ptr<ContextWorker> worker);
  // Gives up as end() does.
  ~ContextEngine() override { end(); }
  ContextEngine(const ContextEngine&) = delete;
  ContextEngine& operator=(const ContextEngine&) = delete;

  const char* name() const { return worker_->name(); }
  std::string_view engine() const { return worker_->engine(); }
  // The gate is shut, and records are on where there are any: attaches the contexts in use and
  // opens the gate. Returns when that is done, or has failed, or hangs.
  void attach() { worker_->attach(); }
  // A new context's launches wait until it is attached.
  void on_context_created(CUcontext context) noexcept override {
    worker_->on_context_created(context);
  }
  void on_context_destroyed(CUcontext context) noexcept override {
    worker_->on_context_destroyed(context);
  }
  // Nothing is attached from now on. Waits for calls under way, at most some seconds.
  void end() { worker_->end(); }

  // The collector's thread, as the tracer's. gather() also ends the engine where a call of CUPTI's
  // does not come back.
  void gather() {
    worker_->watch();
    worker_->gather();
  }
  void drain(DeviceNumbers& devices, RowSink& sink) { worker_->drain(devices, sink); }
  void account(format::Ledger& ledger) const { worker_->account(ledger); }

  // Once each.
  std::vector<EngineFailure> take_failures() { return worker_->take_failures(); }
  void report(TraceStatus& status) const { worker_->report(status); }
  // Whether of this context, by CUPTI's number, all has been said: it is attached or was refused,
  // or the engine has ended.
  bool knows(uint32_t context) const { return worker_->knows(context); }
  // It could not be ended, or a call of CUPTI's has not come back: CUPTI is not given up under it.
  bool is_left_on() const { return worker_->is_left_on(); }
  static bool does_any_hang() { return ContextWorker::does_any_hang(); }  // now, in this process

 private:
  explicit ContextEngine(std::shared_ptr<ContextWorker> worker) : worker_(std::move(worker)) {}

  std::shared_ptr<ContextWorker> worker_;  // its thread's, too
};

}  // namespace gpufl::backend
