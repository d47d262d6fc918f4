// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/lost_windows.hpp"

#include <algorithm>

namespace gpufl::analysis {

namespace {

using State = format::WindowFile::State;

// To the millisecond, as a place in a log and not as a figure.
std::string seconds(int64_t time_ns) {
  std::string digits = std::to_string(time_ns / 1'000'000);
  if (digits.size() < 4) digits.insert(0, 4 - digits.size(), '0');
  return digits.insert(digits.size() - 3, ".") + " s";
}

std::string_view word_of(LostWindow::Reason reason) {
  switch (reason) {
    case LostWindow::Reason::Missing: return "missing";
    case LostWindow::Reason::Deleted: return "deleted";
    case LostWindow::Reason::Damaged: return "damaged";
  }
  return "?";
}

}  // namespace

std::string describe(const LostWindow& lost) {
  const bool is_range = lost.last_number > lost.number;
  std::string text = (is_range ? "windows " : "window ") + std::to_string(lost.number);
  if (is_range) text += " to " + std::to_string(lost.last_number);
  text += " of " + std::string(to_string(lost.channel)) + (is_range ? " are " : " is ");
  text += word_of(lost.reason);
  return text + ": " + seconds(lost.span.start) + " to " + seconds(lost.span.end);
}

void LostWindowFinder::close_open(int64_t end_ns) {
  for (; open_ < lost_.size(); ++open_) {
    Interval& span = lost_[open_].span;
    if (span.end <= span.start) span.end = std::max(span.start, end_ns);
  }
}

void LostWindowFinder::on_window(const format::WindowFile& window) {
  if (channel_ != window.channel) {
    channel_ = window.channel;
    open_ = lost_.size();
    seen_ns_ = 0;
  }
  window_ = window;
  has_rows_ = has_kernels_ = has_fault_ = false;
  last_kernel_ns_ = window.first_ns;
  if (window.state != State::Missing && window.state != State::Deleted) return;
  LostWindow lost;
  lost.channel = window.channel;
  lost.number = window.number;
  lost.last_number = std::max(window.number, window.last_number);
  lost.reason =
      window.state == State::Deleted ? LostWindow::Reason::Deleted : LostWindow::Reason::Missing;
  // Its end stays open where nothing tells it.
  lost.span =
      window.last_ns > 0 ? Interval{window.first_ns, window.last_ns} : Interval{seen_ns_, seen_ns_};
  lost_.push_back(lost);
}

void LostWindowFinder::on_problem(const format::Problem& problem) {
  using Kind = format::Problem::Kind;
  // The torn last line of a window that nobody sealed is where its process ended.
  if (!window_ || problem.line == 0 ? problem.kind != Kind::BadWindow
                                    : problem.kind != Kind::BadLine) {
    return;
  }
  has_fault_ = true;
}

void LostWindowFinder::on_rows(format::Kind kind, Interval span) {
  if (!window_) return;
  close_open(span.start);
  has_rows_ = true;
  seen_ns_ = std::max(seen_ns_, span.end);
  if (kind != format::Kind::Kernel) return;
  // Kernels come in order and closely, so where a line of them is lost there is a gap; there is
  // none where the lost line held something else.
  if (has_fault_) add_damage({last_kernel_ns_, span.start});
  has_fault_ = false;
  has_kernels_ = true;
  last_kernel_ns_ = std::max(last_kernel_ns_, span.end);
}

void LostWindowFinder::add_damage(Interval span) {
  if (!window_->in_manifest || span.end <= span.start) return;
  if (!lost_.empty() && lost_.back().reason == LostWindow::Reason::Damaged &&
      lost_.back().channel == window_->channel && lost_.back().number == window_->number) {
    lost_.back().span.start = std::min(lost_.back().span.start, span.start);
    lost_.back().span.end = std::max(lost_.back().span.end, span.end);
    return;
  }
  LostWindow lost;
  lost.channel = window_->channel;
  lost.number = lost.last_number = window_->number;
  lost.reason = LostWindow::Reason::Damaged;
  lost.span = span;
  lost_.push_back(lost);
  open_ = lost_.size();
}

void LostWindowFinder::on_window_end(const format::WindowFile& window) {
  if (has_fault_ && (has_kernels_ || !has_rows_)) add_damage({last_kernel_ns_, window.last_ns});
  window_.reset();
}

std::vector<LostWindow> LostWindowFinder::finish(int64_t end_ns) {
  close_open(end_ns);
  return std::move(lost_);
}

}  // namespace gpufl::analysis
