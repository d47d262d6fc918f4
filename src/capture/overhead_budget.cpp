// SPDX-License-Identifier: Apache-2.0
#include "capture/overhead_budget.hpp"

#include <algorithm>
#include <utility>

namespace gpufl::capture {

namespace {

// More is believed at once, less only by and by.
double follow(double known, double measured) {
  return measured > known ? measured : (known + measured) / 2;
}

// From 0 to 1, any as likely as another.
double random_share(uint64_t seed, uint64_t position) {
  uint64_t bits = seed + position * 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 33)) * 0xFF51AFD7ED558CCDu;
  bits = (bits ^ (bits >> 33)) * 0xC4CEB9FE1A85EC53u;
  return static_cast<double>((bits ^ (bits >> 33)) >> 11) * 0x1.0p-53;
}

}  // namespace

OverheadBudget::OverheadBudget(double share, uint64_t seed)
    : share_(std::clamp(share, 0.0001, 1.0)), seed_(seed) {}

double OverheadBudget::earned_at(int64_t now_ns) const {
  const double earned = earned_ns_ + share_ * static_cast<double>(now_ns - counted_ns_);
  return std::min(earned, std::max(share_ * static_cast<double>(kSavings_ns), wanted_ns()));
}

// What must have been earned when the next phase begins; it earns some itself.
double OverheadBudget::needed_ns() const {
  return switching_ns_ + (rate_ - share_) * static_cast<double>(phase_ns());
}

// When the next phase begins.
double OverheadBudget::wanted_ns() const { return (1 + reserve_) * needed_ns(); }

int64_t OverheadBudget::phase_ns() const {
  if (is_first_) return kFirst_ns;
  if (rate_ <= share_) return kLongest_ns;  // being attached pays for itself
  // As much for being attached as for attaching: shorter phases are more wasteful, and of longer
  // ones there are fewer.
  const double balanced = switching_ns_ / rate_;
  return static_cast<int64_t>(
      std::clamp(balanced, static_cast<double>(kShortest_ns), static_cast<double>(kLongest_ns)));
}

int64_t OverheadBudget::next_begin_ns() const {
  if (is_first_ || stays_since_ns_) return not_before_ns_;
  const double wait = std::max(0.0, (wanted_ns() - earned_ns_) / share_);
  return std::max(not_before_ns_, counted_ns_ + static_cast<int64_t>(wait) + 1);
}

bool OverheadBudget::is_over(int64_t now_ns, int64_t attached_ns, const PhaseCost& so_far) const {
  if (attached_ns >= phase_ns()) return true;
  if (attached_ns < kCutShort_ns) return false;
  const double credit = is_first_ ? share_ * static_cast<double>(kFirstCredit_ns) : 0;
  return static_cast<double>(so_far.total_ns()) > earned_at(now_ns) + credit;
}

void OverheadBudget::spend(int64_t now_ns, int64_t attached_ns, const PhaseCost& cost) {
  earned_ns_ = earned_at(now_ns) - static_cast<double>(cost.total_ns());
  counted_ns_ = now_ns;
  const auto switching = static_cast<double>(cost.switching_ns);
  const double rate =
      static_cast<double>(cost.running_ns) / static_cast<double>(std::max<int64_t>(attached_ns, 1));
  switching_ns_ = is_first_ ? switching : follow(switching_ns_, switching);
  rate_ = is_first_ ? rate : follow(rate_, rate);
  is_first_ = false;
  reserve_ = random_share(seed_, ++phases_);
  retry_ns_ = kFirstRetry_ns;
  not_before_ns_ = now_ns + kShortestPause_ns;
}

void OverheadBudget::fail(int64_t now_ns, int64_t took_ns) {
  earned_ns_ = earned_at(now_ns) - static_cast<double>(took_ns);
  counted_ns_ = now_ns;
  not_before_ns_ = now_ns + retry_ns_;
  retry_ns_ = std::min(2 * retry_ns_, kLastRetry_ns);
}

void OverheadBudget::rest(int64_t now_ns) {
  not_before_ns_ = std::max(not_before_ns_, now_ns + kShortestPause_ns);
}

void OverheadBudget::begin_pause(int64_t now_ns, bool is_attached) {
  if (!is_attached) {
    detach_retry_ns_ = kFirstRetry_ns;
    return;
  }
  stays_since_ns_ = now_ns;
  not_before_ns_ = now_ns + detach_retry_ns_;
  detach_retry_ns_ = std::min(2 * detach_retry_ns_, kLastRetry_ns);
}

int64_t OverheadBudget::end_pause(int64_t now_ns) {
  const auto since_ns = std::exchange(stays_since_ns_, std::nullopt);
  if (!since_ns) return 0;
  const auto cost_ns = static_cast<int64_t>(rate_ * static_cast<double>(now_ns - *since_ns));
  earned_ns_ = earned_at(now_ns) - static_cast<double>(cost_ns);
  counted_ns_ = now_ns;
  return cost_ns;
}

}  // namespace gpufl::capture
