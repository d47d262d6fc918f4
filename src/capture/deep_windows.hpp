// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"
#include "capture/deep_trigger.hpp"
#include "capture/phase.hpp"
#include "format/columns.hpp"
#include "format/log_writer.hpp"

// Deep windows of a session: who may open one, what bounds it, and what it came to. One is open at
// a time. What is to be attached for it is PhasePacer's, which calls the second half. Times are the
// session's and handed in. The lock is held for a moment only.
namespace gpufl::capture {

struct DeepWindowRequest {
  int64_t duration_ns = 0;    // 0: as the session's options say; kept within the bounds below
  uint64_t max_launches = 0;  // likewise
  int64_t cooldown_ns = 0;    // after it, the program opens no other for so long
  std::string name;
};

struct DeepWindowOptions {
  bool is_only = false;  // outside of windows nothing above Trace is attached
  std::optional<int64_t> after_ns;
  std::optional<DeepCondition> when;
  int64_t duration_ns = 2'000'000'000;
  uint64_t max_launches = 0;             // 0: no bound
  int64_t cooldown_ns = 10'000'000'000;  // after a window, no trigger opens another for so long

  bool has_any() const { return is_only || after_ns || when; }
};

// The event of a session that has any: what may open one, beside calls and commands.
base::Json armed_event(const DeepWindowOptions& options);

// What `deep_window` rows tell.
struct DeepWindow {
  DeepWindowRequest asked;  // with the options' bounds where it had none
  format::DeepWindowOpener opener = format::DeepWindowOpener::Api;
  std::string condition;  // that opened it
  std::optional<double> seen;
  int64_t opened_ns = 0, end_ns = 0;
  std::optional<int64_t> attached_ns;
  format::DeepWindowEnd ending = format::DeepWindowEnd::Session;
  std::optional<uint64_t> launches = 0;
  std::string_view engine;  // the highest that was attached in it, a constant; empty: none
  std::string limit;
  uint64_t ignored = 0;
};
void write_deep_window(const DeepWindow& window, format::LogWriter& log);

class DeepWindows {
 public:
  static constexpr int64_t kShortest_ns = 10'000'000;
  static constexpr int64_t kLongest_ns = 60'000'000'000;
  // Attaching may take until the program is calmer; then nobody waits for it any more.
  static constexpr int64_t kLongestOpening_ns = 30'000'000'000;

  // `engine`: the session's. One that has nothing to attach opens no window.
  DeepWindows(const DeepWindowOptions& options, std::string_view engine);
  ~DeepWindows();
  DeepWindows(const DeepWindows&) = delete;
  DeepWindows& operator=(const DeepWindows&) = delete;

  // Any thread. open() fails with a word in front: window_open, cooldown, or why not() says. A
  // window is then open, or opening. Closing one that is not open is no error.
  base::Status open(format::DeepWindowOpener opener, const DeepWindowRequest& request,
                    int64_t now_ns);
  void close(format::DeepWindowEnd ending);
  // What stands in the way of any from now on. Allocates nothing: the end of a session says it too.
  enum class Refusal : uint8_t { None, Paused, Ended };
  void refuse(Refusal why) noexcept;
  bool is_only() const { return options_.is_only; }
  bool has_engine() const { return never_.is_ok(); }
  const DeepWindowOptions& options() const { return options_; }
  base::Json status(int64_t now_ns) const;
  // `event` lines that are to be posted.
  std::vector<base::Json> take_events();
  // Of any session of the process.
  static bool is_any_open() { return open_windows.load(std::memory_order_relaxed) > 0; }
  // In the child of a fork(): none is open there.
  static void after_fork_in_child() { open_windows.store(0, std::memory_order_relaxed); }

  // The pacer's thread. What triggers see; `value` is the condition's metric. May open one.
  void watch(int64_t now_ns, std::optional<double> value);
  // A phase of the window is under way and has so many launches: it closes when a bound is reached.
  void see_phase(int64_t begin_ns, int64_t now_ns, std::optional<uint64_t> launches);
  // None is, yet or any more.
  void see_no_phase(int64_t now_ns);
  // A phase of the window has ended.
  void add(const Phase& phase, bool has_engine);
  // Something that was asked for is not attached in it: the first reason stays.
  void limit(std::string_view reason);
  void fail(std::string_view reason);
  // It is open and does not close: its engine is to be attached.
  bool is_wanted() const;
  int64_t duration_ns() const;  // of the one that is open
  // What has closed: call it when no phase of the window is under way any more.
  std::optional<DeepWindow> take_closed(int64_t now_ns);
  // As above at the session's end, also of one that was open.
  std::optional<DeepWindow> end_session(int64_t now_ns);

 private:
  base::Status standing_refusal() const;
  base::Status refusal_of(format::DeepWindowOpener opener, int64_t now_ns) const;
  base::Status open_locked(format::DeepWindowOpener opener, const DeepWindowRequest& request,
                           int64_t now_ns, std::optional<double> seen);
  void note_opened(const DeepWindow& window);
  void note_refused(format::DeepWindowOpener opener, const base::Status& why,
                    const std::string& name, int64_t now_ns);
  std::optional<DeepWindow> finish(int64_t now_ns);

  static std::atomic<int> open_windows;

  const DeepWindowOptions options_;
  const base::Status never_;  // ok: some may open
  mutable std::mutex mutex_;  // guards what follows
  std::optional<ConditionWatch> when_;
  bool awaits_after_;
  Refusal refusal_ = Refusal::None;
  std::optional<DeepWindow> window_;
  bool is_closing_ = false;
  uint64_t launches_under_way_ = 0;
  int64_t no_call_before_ns_ = 0, no_trigger_before_ns_ = 0;
  uint64_t opened_ = 0;
  // What was refused since the last window, once each: a program may ask in a loop.
  std::vector<std::pair<format::DeepWindowOpener, std::string>> refused_;
  std::vector<base::Json> events_;
};

}  // namespace gpufl::capture
