// SPDX-License-Identifier: Apache-2.0
#include "backend/range_plan.hpp"

#include <algorithm>

namespace gpufl::backend {

void RangePlan::set_groups(const std::vector<uint32_t>& passes) {
  passes_.resize(std::max(passes_.size(), passes.size()));
  for (size_t i = 0; i < passes.size(); ++i) passes_[i] = std::max(passes_[i], passes[i]);
}

RangePlan::Scope* RangePlan::find(std::string_view name) {
  const auto found = scopes_.find(name);
  if (found != scopes_.end()) return &found->second;
  if (scopes_.size() >= kMostScopes) return nullptr;
  return &scopes_[std::string(name)];
}

// What begins inside of a scope cannot be measured while that is: both are, by turns.
bool RangePlan::is_outdone(const Scope& scope) const {
  return std::any_of(scope.inside.begin(), scope.inside.end(), [&](const auto& inside) {
    const auto found = scopes_.find(inside.first);
    return found != scopes_.end() && is_due(found->second) &&
           found->second.measured < scope.measured;
  });
}

std::optional<size_t> RangePlan::begin(std::string_view name) {
  if (name.ends_with("_warmup")) return std::nullopt;
  Scope* const scope = find(name);
  if (scope == nullptr || !is_due(*scope)) return std::nullopt;
  if (unfinished_ != nullptr && unfinished_ != scope) {
    if (++passed_over_ < kMostPassedOver) return std::nullopt;
    unfinished_->missed.push_back(unfinished_->group++);
    unfinished_->pass = 0;
    unfinished_ = nullptr;
  }
  // Once begun, a group is finished first.
  if (unfinished_ == nullptr && is_outdone(*scope)) return std::nullopt;
  running_ = scope;
  return scope->group;
}

bool RangePlan::begin_inside(std::string_view name) {
  if (running_ == nullptr || find(name) == nullptr) return false;
  const uint32_t count = ++running_->inside[std::string(name)];
  running_->is_loop = count >= kLoop;
  return running_->is_loop;
}

void RangePlan::end(bool is_group_done) {
  if (running_ == nullptr) return;
  passed_over_ = 0;
  ++running_->measured;
  ++running_->pass;
  unfinished_ = is_group_done ? nullptr : running_;
  if (is_group_done) {
    running_->pass = 0;
    ++running_->group;
  }
  running_ = nullptr;
}

void RangePlan::give_up(bool was_open) {
  if (running_ != nullptr && was_open) {
    running_->pass = 0;
    unfinished_ = nullptr;
  }
  running_ = nullptr;
}

bool RangePlan::is_complete() const {
  return std::none_of(scopes_.begin(), scopes_.end(),
                      [&](const auto& one) { return is_due(one.second); });
}

std::map<std::string, std::vector<size_t>> RangePlan::missing() const {
  std::map<std::string, std::vector<size_t>> missing;
  for (const auto& [name, scope] : scopes_) {
    if (scope.is_loop) continue;
    std::vector<size_t> groups = scope.missed;
    for (size_t group = scope.group; group < passes_.size(); ++group) groups.push_back(group);
    if (!groups.empty()) missing.emplace(name, std::move(groups));
  }
  return missing;
}

}  // namespace gpufl::backend
