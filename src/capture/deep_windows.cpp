// SPDX-License-Identifier: Apache-2.0
#include "capture/deep_windows.hpp"

#include <algorithm>
#include <cmath>

#include "capture/engine_ladder.hpp"

namespace gpufl::capture {

namespace {

using base::Json;
using format::DeepWindowEnd;
using format::DeepWindowOpener;

std::string_view word_of(DeepWindowOpener opener) {
  return format::word_of(format::kDeepWindowOpenerWords, static_cast<int64_t>(opener));
}

// "paused: recording is paused" is "paused".
std::string word_in_front(const base::Status& status) {
  return status.message().substr(0, status.message().find(':'));
}

std::string seconds(int64_t duration_ns) {
  const int64_t tenths = std::max<int64_t>((duration_ns + 99'999'999) / 100'000'000, 1);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

base::Status refusal_of_engine(std::string_view engine) {
  if (has_deep_windows(engine)) return base::Status::ok();
  return {base::Code::Unsupported, "engine_too_low: the engine " + std::string(engine) +
                                       " has nothing to attach in a deep window"};
}

bool is_higher(std::string_view engine, std::string_view other) {
  const auto names = engine_names();
  const auto rank = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  return other.empty() || (!engine.empty() && rank(engine) > rank(other));
}

}  // namespace

std::atomic<int> DeepWindows::open_windows{0};

Json armed_event(const DeepWindowOptions& options) {
  Json event = Json::object();
  event.set("name", "deep_windows_armed").set("only", options.is_only);
  if (options.after_ns) event.set("after_ns", *options.after_ns);
  if (options.when) event.set("condition", options.when->text);
  return event;
}

void write_deep_window(const DeepWindow& window, format::LogWriter& log) {
  const auto id = [&](format::Dict dict, std::string_view text) -> int64_t {
    return text.empty() ? 0 : log.intern(dict, text);
  };
  const int64_t start_ns = window.attached_ns.value_or(window.opened_ns);
  format::Batch row(format::Kind::DeepWindow);
  row.push_row({start_ns, std::max<int64_t>(window.end_ns - start_ns, 0),
                id(format::Dict::Name, window.asked.name), static_cast<int64_t>(window.opener),
                static_cast<int64_t>(window.ending),
                window.launches ? static_cast<int64_t>(*window.launches) : -1,
                id(format::Dict::Name, window.engine), id(format::Dict::Text, window.limit),
                id(format::Dict::Text, window.condition),
                window.seen ? std::llround(*window.seen) : -1,
                static_cast<int64_t>(window.ignored)});
  log.write(row);
}

DeepWindows::DeepWindows(const DeepWindowOptions& options, std::string_view engine)
    : options_(options),
      never_(refusal_of_engine(engine)),
      awaits_after_(options.after_ns.has_value()) {
  if (options.when) when_.emplace(*options.when);
}

DeepWindows::~DeepWindows() {
  if (window_) open_windows.fetch_sub(1, std::memory_order_relaxed);
}

// Whoever asks.
base::Status DeepWindows::standing_refusal() const {
  if (!never_) return never_;
  if (refusal_ == Refusal::Ended) return session_ended();
  if (refusal_ == Refusal::None) return base::Status::ok();
  return {base::Code::Unavailable, "paused: recording is paused; resume it first"};
}

base::Status DeepWindows::refusal_of(DeepWindowOpener opener, int64_t now_ns) const {
  if (base::Status refused = standing_refusal(); !refused) return refused;
  if (window_) {
    return {base::Code::Unavailable, "window_open: a deep window is open; there is one at a time"};
  }
  int64_t not_before_ns = 0;  // who asks by hand has decided
  if (opener == DeepWindowOpener::Api) not_before_ns = no_call_before_ns_;
  const bool is_trigger = opener == DeepWindowOpener::When || opener == DeepWindowOpener::After;
  if (is_trigger) not_before_ns = no_trigger_before_ns_;
  if (now_ns >= not_before_ns) return base::Status::ok();
  return {base::Code::Unavailable,
          "cooldown: the last deep window has just closed; the next may "
          "open in " +
              seconds(not_before_ns - now_ns)};
}

base::Status DeepWindows::open(DeepWindowOpener opener, const DeepWindowRequest& request,
                               int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  return open_locked(opener, request, now_ns, std::nullopt);
}

base::Status DeepWindows::open_locked(DeepWindowOpener opener, const DeepWindowRequest& request,
                                      int64_t now_ns, std::optional<double> seen) {
  if (base::Status refused = refusal_of(opener, now_ns); !refused) {
    if (window_) {
      ++window_->ignored;
    } else {
      note_refused(opener, refused, request.name, now_ns);
    }
    return refused;
  }
  DeepWindow window;
  window.asked = request;
  const int64_t duration_ns = request.duration_ns > 0 ? request.duration_ns : options_.duration_ns;
  window.asked.duration_ns = std::clamp(duration_ns, kShortest_ns, kLongest_ns);
  if (request.max_launches == 0) window.asked.max_launches = options_.max_launches;
  if (opener != DeepWindowOpener::Api) window.asked.cooldown_ns = options_.cooldown_ns;
  window.opener = opener;
  window.opened_ns = window.end_ns = now_ns;
  if (opener == DeepWindowOpener::When) window.condition = options_.when->text;
  window.seen = seen;
  note_opened(window);
  window_ = std::move(window);
  is_closing_ = false;
  launches_under_way_ = 0;
  ++opened_;
  refused_.clear();
  open_windows.fetch_add(1, std::memory_order_relaxed);
  return base::Status::ok();
}

void DeepWindows::note_opened(const DeepWindow& window) {
  Json line = Json::object();
  line.set("name", "deep_window_opened").set("opened_by", word_of(window.opener));
  if (!window.asked.name.empty()) line.set("window", window.asked.name);
  if (!window.condition.empty()) line.set("condition", window.condition);
  if (window.seen) line.set("seen", static_cast<int64_t>(std::llround(*window.seen)));
  line.set("max_duration_ns", window.asked.duration_ns);
  if (window.asked.max_launches != 0) line.set("max_launches", window.asked.max_launches);
  events_.push_back(std::move(line));
}

void DeepWindows::note_refused(DeepWindowOpener opener, const base::Status& why,
                               const std::string& name, int64_t now_ns) {
  std::string reason = word_in_front(why);
  // A condition goes on holding: it opens one as soon as it may.
  if (opener == DeepWindowOpener::When && reason == "cooldown") return;
  const std::pair known(opener, reason);
  if (std::find(refused_.begin(), refused_.end(), known) != refused_.end()) return;
  refused_.push_back(known);
  Json line = Json::object();
  line.set("name", "deep_window_refused").set("opened_by", word_of(opener));
  if (!name.empty()) line.set("window", name);
  line.set("asked", now_ns).set("reason", std::move(reason)).set("text", why.message());
  events_.push_back(std::move(line));
}

void DeepWindows::close(DeepWindowEnd ending) {
  const std::lock_guard lock(mutex_);
  if (!window_ || is_closing_) return;
  window_->ending = ending;
  is_closing_ = true;
}

void DeepWindows::refuse(Refusal why) noexcept {
  const std::lock_guard lock(mutex_);
  refusal_ = why;
}

std::vector<Json> DeepWindows::take_events() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

Json DeepWindows::status(int64_t now_ns) const {
  const std::lock_guard lock(mutex_);
  Json out = Json::object();
  out.set("open", window_.has_value()).set("opened", opened_);
  if (const base::Status refused = standing_refusal(); !refused) {
    out.set("reason", word_in_front(refused));
  }
  if (options_.when) out.set("when", options_.when->text);
  const int64_t cooldown_ns = no_trigger_before_ns_ - now_ns;
  if (!window_ && cooldown_ns > 0) out.set("cooldown_ns", cooldown_ns);
  if (!window_) return out;
  if (!window_->asked.name.empty()) out.set("name", window_->asked.name);
  out.set("opened_by", word_of(window_->opener));
  out.set("attached", window_->attached_ns.has_value());
  out.set("for_ns", now_ns - window_->attached_ns.value_or(window_->opened_ns));
  out.set("max_duration_ns", window_->asked.duration_ns);
  if (window_->launches) out.set("launches", *window_->launches + launches_under_way_);
  if (window_->asked.max_launches != 0) out.set("max_launches", window_->asked.max_launches);
  return out;
}

void DeepWindows::watch(int64_t now_ns, std::optional<double> value) {
  const std::lock_guard lock(mutex_);
  if (awaits_after_ && now_ns >= *options_.after_ns) {
    awaits_after_ = false;
    (void)open_locked(DeepWindowOpener::After, {}, now_ns, std::nullopt);
  }
  if (!when_) return;
  if (window_) return when_->reset();
  if (!when_->see(now_ns, value)) return;
  if (open_locked(DeepWindowOpener::When, {}, now_ns, value)) when_->reset();
}

void DeepWindows::see_phase(int64_t begin_ns, int64_t now_ns, std::optional<uint64_t> launches) {
  const std::lock_guard lock(mutex_);
  if (!window_) return;
  if (!window_->attached_ns) window_->attached_ns = std::max(begin_ns, window_->opened_ns);
  launches_under_way_ = launches.value_or(0);
  if (is_closing_) return;
  const uint64_t covered = window_->launches.value_or(0) + launches_under_way_;
  const uint64_t max_launches = window_->asked.max_launches;
  if (max_launches != 0 && covered >= max_launches) {
    window_->ending = DeepWindowEnd::Launches;
    is_closing_ = true;
  } else if (now_ns - *window_->attached_ns >= window_->asked.duration_ns) {
    window_->ending = DeepWindowEnd::Duration;
    is_closing_ = true;
  }
}

void DeepWindows::see_no_phase(int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (!window_ || is_closing_) return;
  if (window_->attached_ns) {  // between two of its phases
    if (now_ns - *window_->attached_ns < window_->asked.duration_ns) return;
    window_->ending = DeepWindowEnd::Duration;
  } else {
    if (now_ns - window_->opened_ns < kLongestOpening_ns) return;
    window_->ending = DeepWindowEnd::Failure;
    if (window_->limit.empty()) window_->limit = "attaching";
  }
  is_closing_ = true;
}

void DeepWindows::add(const Phase& phase, bool has_engine) {
  const std::lock_guard lock(mutex_);
  if (!window_) return;
  if (!window_->attached_ns) window_->attached_ns = std::max(phase.begin_ns, window_->opened_ns);
  if (window_->launches && phase.launch_calls) {
    *window_->launches += *phase.launch_calls;
  } else {
    window_->launches.reset();
  }
  launches_under_way_ = 0;
  window_->end_ns = std::max(window_->end_ns, phase.end_ns);
  const std::string_view engine = has_engine ? phase.engine : kTraceEngine;
  if (is_higher(engine, window_->engine)) window_->engine = engine;
}

void DeepWindows::limit(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  if (window_ && window_->limit.empty()) window_->limit = reason;
}

void DeepWindows::fail(std::string_view reason) {
  limit(reason);
  close(DeepWindowEnd::Failure);
}

bool DeepWindows::is_wanted() const {
  const std::lock_guard lock(mutex_);
  return window_ && !is_closing_;
}

int64_t DeepWindows::duration_ns() const {
  const std::lock_guard lock(mutex_);
  return window_ ? window_->asked.duration_ns : 0;
}

std::optional<DeepWindow> DeepWindows::take_closed(int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (!window_ || !is_closing_) return std::nullopt;
  return finish(now_ns);
}

std::optional<DeepWindow> DeepWindows::end_session(int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  refusal_ = Refusal::Ended;
  if (!window_) return std::nullopt;
  if (!is_closing_) window_->ending = DeepWindowEnd::Session;
  return finish(now_ns);
}

std::optional<DeepWindow> DeepWindows::finish(int64_t now_ns) {
  std::optional<DeepWindow> closed = std::exchange(window_, std::nullopt);
  open_windows.fetch_sub(1, std::memory_order_relaxed);
  is_closing_ = false;
  if (closed->engine.empty()) closed->end_ns = now_ns;  // no phase of it said when it ended
  const int64_t cooldown_ns = closed->asked.cooldown_ns;
  no_call_before_ns_ = now_ns + cooldown_ns;
  no_trigger_before_ns_ = now_ns + std::max(cooldown_ns, options_.cooldown_ns);
  return closed;
}

}  // namespace gpufl::capture
