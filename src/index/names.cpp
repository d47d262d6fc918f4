// SPDX-License-Identifier: Apache-2.0
#include "index/names.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "analysis/code/kernel_name.hpp"
#include "base/json.hpp"
#include "format/limits.hpp"
#include "format/work_words.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::index {
namespace {

using format::Dict;

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
  if (kind == TrackKind::Fills) return "fill";
  if (kind == TrackKind::Graphs) return "graph " + std::to_string(number);
  return {};
}

}  // namespace

base::Status Names::update(const Windows& windows) {
  const std::lock_guard lock(mutex_);
  for (const auto& window : windows) {
    size_t& read = lines_read_[{window->file().channel, window->file().number}];
    const size_t lines = window->index().dict_lines.size();
    if (read >= lines) continue;
    size_t line_number = 0;
    const base::Status status = window->read_dictionaries([&](std::string_view text) {
      if (line_number++ < read) return true;
      const auto line = base::Json::parse(text, format::kMaxObjectLineBytes);
      if (!line) return true;
      // What is wrong with a line is told by those who read the session as a whole.
      (void)dictionaries_.define(*line);
      if ((*line)["dict"].as_string() == "name") {
        for (const base::Json& id : (*line)["ids"].items()) {
          names_.push_back(static_cast<uint32_t>(id.as_integer()));
        }
      }
      return true;
    });
    if (!status) return status;
    read = lines;
    const std::vector<uint32_t>& configs = window->index().name_of_config;
    if (configs.size() > name_of_config_.size()) name_of_config_.resize(configs.size());
    for (size_t i = 0; i < configs.size(); ++i) {
      if (configs[i] != 0) name_of_config_[i] = configs[i];
    }
  }
  std::sort(names_.begin(), names_.end());
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
  return {};
}

const NameEntry& Names::kernel(uint32_t id) const {
  const auto known = kernels_.find(id);
  if (known != kernels_.end()) return known->second;
  NameEntry entry;
  entry.text = symbols::demangle(dictionaries_.get(Dict::Name, id));
  entry.short_text = analysis::kernel_label(analysis::short_kernel_name(entry.text));
  entry.kernel_class = analysis::classify_kernel(entry.text);
  return kernels_.emplace(id, std::move(entry)).first->second;
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

std::map<uint32_t, std::vector<uint32_t>> Names::configs_by_name() const {
  const std::lock_guard lock(mutex_);
  std::map<uint32_t, std::vector<uint32_t>> configs;
  for (uint32_t config = 0; config < name_of_config_.size(); ++config) {
    if (name_of_config_[config] != 0) configs[name_of_config_[config]].push_back(config);
  }
  return configs;
}

std::vector<uint32_t> Names::matching(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  const std::string wanted = lower(text);
  const std::set<uint32_t> kernel_ids(name_of_config_.begin(), name_of_config_.end());
  std::vector<uint32_t> found;
  for (const uint32_t id : names_) {
    const std::string_view name = dictionaries_.get(Dict::Name, id);
    const std::string shown = kernel_ids.contains(id) ? kernel(id).text : std::string(name);
    if (lower(shown).find(wanted) != std::string::npos) found.push_back(id);
  }
  return found;
}

}  // namespace gpufl::index
