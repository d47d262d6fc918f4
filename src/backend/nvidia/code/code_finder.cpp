// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/code/code_finder.hpp"

#include <algorithm>
#include <utility>

#include "backend/nvidia/code/code_file.hpp"
#include "backend/nvidia/code/cubin_functions.hpp"
#include "base/clock.hpp"
#include "base/hash.hpp"

namespace gpufl::backend {
namespace {

constexpr size_t kMaxRemembered = size_t{1} << 20;
constexpr int64_t kMaxSearchNs = 60'000'000'000;  // of a session

bool has_function(const std::vector<uint64_t>& functions, uint64_t function) {
  return std::binary_search(functions.begin(), functions.end(), function);
}

}  // namespace

void CodeFinder::begin(const CodeSources& sources, bool is_new_session) {
  sources_ = sources;
  fat_binaries_.want(sources.architectures);
  if (!is_new_session) return;
  search_ns_ = 0;
  for (auto* known : {&wanted_, &wanted_ids_, &delivered_, &delivered_ids_, &covered_}) {
    known->clear();
  }
}

bool CodeFinder::is_wanted(const Held& held) const {
  return wanted_ids_.contains(held.id) ||
         std::any_of(held.functions.begin(), held.functions.end(),
                     [&](uint64_t function) { return wanted_.contains(function); });
}

void CodeFinder::add_loaded(base::PageString image) {
  const auto id = sources_.checksum(image);
  if (!id) return;
  Held loaded{*id, std::move(image), {}};
  loaded.functions = cubin_functions(loaded.image);
  if (is_wanted(loaded)) return deliver(std::move(loaded), "callback", "");
  held_bytes_ += loaded.image.size();
  held_.push_back(std::move(loaded));
  while (held_bytes_ > kMaxHeldBytes) {
    held_bytes_ -= held_.front().image.size();
    held_.pop_front();
  }
}

template <typename IsOne>
bool CodeFinder::deliver_held(IsOne is_one) {
  bool is_any = false;
  for (auto next = held_.begin(); next != held_.end();) {
    const auto held = next++;
    if (!is_one(*held)) continue;
    is_any = true;
    held_bytes_ -= held->image.size();
    deliver(std::move(*held), "callback", "");
    held_.erase(held);
  }
  return is_any;
}

void CodeFinder::deliver(Held held, std::string_view found, std::string path) {
  if (covered_.size() >= kMaxRemembered) covered_.clear();
  if (delivered_.size() >= kMaxRemembered) delivered_.clear();
  delivered_ids_.insert(held.id);
  covered_.insert(held.functions.begin(), held.functions.end());
  if (!delivered_.insert(base::xxh64(held.image.data(), held.image.size())).second) return;
  const auto functions = static_cast<int64_t>(held.functions.size());
  deliver_({held.id, std::move(held.image), found, std::move(path), functions});
}

bool CodeFinder::want_kernel(const std::string& name, int64_t since_ns) {
  const uint64_t function = function_key(name);
  wanted_.insert(function);
  // All that were loaded: code of one name may have been compiled more than once.
  deliver_held([&](const Held& held) { return has_function(held.functions, function); });
  return covered_.contains(function) || search(name, std::nullopt, since_ns) || !stop_;
}

bool CodeFinder::want_sampled(uint64_t id, const std::string& function, int64_t since_ns) {
  wanted_ids_.insert(id);
  deliver_held([&](const Held& held) { return held.id == id; });
  // The checksum does not see all of an image: another one of that id may lack the function.
  const bool is_known = delivered_ids_.contains(id) && covered_.contains(function_key(function));
  if (is_known || search(function, id, since_ns)) return true;
  if (stop_) return false;
  if (!delivered_ids_.contains(id)) deliver_({id, {}, "", "", -1});
  return true;
}

bool CodeFinder::search(const std::string& name, std::optional<uint64_t> id, int64_t since_ns) {
  const int64_t began_ns = base::monotonic_ns();
  const uint64_t function = function_key(name);
  bool is_found = false;
  const auto look_at = [&](const FoundImage& one, std::string_view found) {
    const auto its_id = sources_.checksum(one.image);
    if (!its_id || (id && *id != *its_id)) return true;
    Held image{*its_id, base::PageString(one.image), cubin_functions(one.image)};
    if (!has_function(image.functions, function)) return true;
    deliver(std::move(image), found, one.path);
    is_found = true;
    return false;
  };
  refresh(since_ns);
  fat_binaries_.find(function, stop_,
                     [&](const FoundImage& one) { return look_at(one, "fat_binary"); });
  if (!is_found) {
    caches_.find(name, stop_, [&](const FoundImage& one) { return look_at(one, "cache"); });
  }
  search_ns_ += base::monotonic_ns() - began_ns;
  return is_found;
}

void CodeFinder::refresh(int64_t since_ns) {
  if (refreshed_ns_ >= since_ns || search_ns_ > kMaxSearchNs || stop_) return;
  const int64_t now_ns = base::monotonic_ns();
  fat_binaries_.refresh(mapped_files(), stop_);
  caches_.refresh(sources_.cache_folders, stop_);
  if (!stop_) refreshed_ns_ = now_ns;
}

}  // namespace gpufl::backend
