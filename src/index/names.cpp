// SPDX-License-Identifier: Apache-2.0
#include "index/names.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "analysis/code/kernel_name.hpp"
#include "format/limits.hpp"
#include "format/work_words.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::index {
namespace {

using format::Dict;

// How long others wait: for text that is defined, and names that are looked through.
constexpr size_t kBytesAtATime = size_t{256} << 10;
constexpr size_t kNamesAtATime = 256;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// The word that a number of such a track stands for.
std::string label_of_number(TrackKind kind, uint32_t number) {
  if (kind == TrackKind::Copies) {
    return std::string(format::copy_direction_name(number));
  }
  if (kind == TrackKind::Waits) {
    return std::string(format::wait_call_name(number));
  }
  if (kind == TrackKind::Fills) return "memset";
  if (kind == TrackKind::Graphs) return "graph " + std::to_string(number);
  return {};
}

}  // namespace

base::Status Names::update(const Windows& windows, const std::function<bool()>& is_cancelled) {
  const std::lock_guard updating(update_mutex_);
  for (const auto& window : windows) {
    size_t& lines_read = lines_read_[{window->file().channel, window->file().number}];
    if (lines_read >= window->index().dict_lines.size()) continue;
    base::Status status = read_window(*window, lines_read, is_cancelled);
    if (!status) return status;
    const std::vector<uint32_t>& configs = window->index().name_of_config;
    const std::lock_guard lock(mutex_);
    if (configs.size() > name_of_config_.size()) name_of_config_.resize(configs.size());
    bool has_new = false;
    for (size_t i = 0; i < configs.size(); ++i) {
      if (configs[i] == 0) continue;
      name_of_config_[i] = configs[i];
      has_new |= kernel_names_.insert(configs[i]).second;
    }
    if (has_new) label_kernels();
  }
  return {};
}

// All of them: what sets two apart that share a short name depends on the others.
void Names::label_kernels() {
  std::vector<std::string_view> whole;
  for (const uint32_t id : kernel_names_) {
    const auto [known, is_new] = kernels_.try_emplace(id);
    if (is_new) {
      known->second.text = symbols::demangle(dictionaries_.get(Dict::Name, id));
      known->second.kernel_class = analysis::classify_kernel(known->second.text);
    }
    whole.push_back(known->second.text);
  }
  std::vector<std::string> labels = analysis::all_kernel_labels(whole);
  size_t i = 0;
  for (const uint32_t id : kernel_names_) kernels_[id].short_text = std::move(labels[i++]);
}

base::Status Names::read_window(const WindowSource& window, size_t& lines_read,
                                const std::function<bool()>& is_cancelled) {
  std::vector<base::Json> lines;
  size_t bytes = 0, taken = 0;
  const auto hand_over = [&] {
    define(lines);
    lines_read += std::exchange(taken, 0);
    lines.clear();
    bytes = 0;
  };
  base::Status status = window.read_dictionaries(
      [&](std::string_view text) {
        ++taken;
        auto line = base::Json::parse(text, format::kMaxObjectLineBytes);
        if (line) lines.push_back(std::move(*line));
        bytes += text.size();
        if (bytes > kBytesAtATime) hand_over();
        return true;
      },
      is_cancelled, lines_read);
  hand_over();
  return status;
}

void Names::define(const std::vector<base::Json>& lines) {
  const std::lock_guard lock(mutex_);
  for (const base::Json& line : lines) {
    // What is wrong with a line is told by those who read the session as a whole.
    (void)dictionaries_.define(line);
    if (line["dict"].as_string() != "name") continue;
    for (const base::Json& id : line["ids"].items()) {
      names_.insert(static_cast<uint32_t>(id.as_integer()));
    }
  }
}

NameEntry Names::kernel(uint32_t id) const {
  const auto known = kernels_.find(id);
  if (known != kernels_.end()) return known->second;
  // Of a configuration that names something else, or nothing.
  NameEntry entry;
  entry.text = dictionaries_.get(Dict::Name, id);
  entry.short_text = entry.text;
  return entry;
}

NameEntry Names::label(TrackKind kind, uint32_t id) const {
  const std::lock_guard lock(mutex_);
  const Dict dict = label_dict(kind);
  if (dict == Dict::Config) return kernel(id);
  NameEntry entry;
  entry.text =
      dict == Dict::None ? label_of_number(kind, id) : std::string(dictionaries_.get(dict, id));
  entry.short_text = entry.text;
  return entry;
}

std::string Names::text(Dict dict, int64_t id) const {
  const std::lock_guard lock(mutex_);
  return std::string(dictionaries_.get(dict, id));
}

std::map<uint32_t, std::vector<uint32_t>> Names::by_kernel(
    const std::vector<uint32_t>& configs) const {
  const std::lock_guard lock(mutex_);
  std::map<uint32_t, std::vector<uint32_t>> by_name;
  for (const uint32_t config : configs) {
    by_name[config < name_of_config_.size() ? name_of_config_[config] : 0].push_back(config);
  }
  return by_name;
}

std::vector<uint32_t> Names::kernels_called(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  std::vector<uint32_t> whole, in_short;
  for (const auto& [id, entry] : kernels_) {
    if (entry.text == name) whole.push_back(id);
    if (entry.short_text == name) in_short.push_back(id);
  }
  return whole.empty() ? in_short : whole;
}

std::vector<uint32_t> Names::matching(std::string_view text) const {
  const std::string wanted = lower(text);
  std::vector<uint32_t> found;
  std::unique_lock lock(mutex_);
  size_t looked_at = 0;
  for (auto id = names_.begin(); id != names_.end(); ++id) {
    const std::string shown = kernel_names_.contains(*id)
                                  ? kernel(*id).text
                                  : std::string(dictionaries_.get(Dict::Name, *id));
    if (lower(shown).find(wanted) != std::string::npos) found.push_back(*id);
    if (++looked_at % kNamesAtATime != 0) continue;
    // Others get their labels meanwhile. Ids stay where they are, whatever is added.
    lock.unlock();
    lock.lock();
  }
  return found;
}

}  // namespace gpufl::index
