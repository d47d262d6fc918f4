// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/table_dictionaries.hpp"

#include <algorithm>
#include <utility>

#include "analysis/tables/table_append.hpp"
#include "analysis/tables/table_columns.hpp"
#include "format/kind_columns.hpp"
#include "format/limits.hpp"
#include "format/occupancy_unit.hpp"

namespace gpufl::analysis {
namespace {

using base::Json;

constexpr const char* kUnknown = "?";

// The dictionary's values, and the one that stands for those beyond.
bool is_possible(int64_t id) {
  return id > 0 && id <= static_cast<int64_t>(format::kMaxDictionaryEntries) + 1;
}

// An id stands for the same in every file, so the first that tells is right.
void define_text(std::vector<std::string>& texts, std::vector<uint32_t>& fresh, int64_t id,
                 const Json& value) {
  if (!is_possible(id) || !value.is_string()) return;
  const auto at = static_cast<size_t>(id);
  if (at >= texts.size()) texts.resize(at + 1, kUnknown);
  if (texts[at] != kUnknown || value.as_string() == kUnknown) return;
  texts[at] = value.as_string();
  fresh.push_back(static_cast<uint32_t>(at));
}

std::array<int64_t, 3> triple(const Json& list) {
  std::array<int64_t, 3> out{};
  for (size_t i = 0; i < out.size() && i < list.items().size(); ++i) {
    out[i] = std::max<int64_t>(list.items()[i].as_integer(), 0);
  }
  return out;
}

std::optional<int64_t> optional_integer(const Json& value) {
  return value.is_integer() ? std::optional(value.as_integer()) : std::nullopt;
}

LaunchConfig parse_config(const Json& value) {
  LaunchConfig config;
  config.name = narrowed<uint32_t>(value["name"].as_integer());
  config.grid = triple(value["grid"]);
  config.block = triple(value["block"]);
  if (value["cluster"].is_array()) config.cluster = triple(value["cluster"]);
  config.registers = optional_integer(value["registers"]);
  config.shared_static = optional_integer(value["shared_static"]);
  config.shared_dynamic = optional_integer(value["shared_dynamic"]);
  config.local_per_thread = optional_integer(value["local_per_thread"]);
  config.local_total = optional_integer(value["local_total"]);
  config.cache = value["cache"].as_string();
  if (value["occupancy"].is_number()) {
    config.occupancy = value["occupancy"].as_number() / format::kWholeOccupancy;
  }
  const bool is_former = value.find("occupancy_bound") == nullptr;
  const auto bound = [](std::string_view word) {
    return std::string(format::name_for_all(format::kFormerOccupancyBounds, word));
  };
  config.occupancy_bound =
      bound(value[is_former ? "occupancy_limit" : "occupancy_bound"].as_string());
  for (const auto& [word, blocks] :
       value[is_former ? "occupancy_limits" : "occupancy_bounds"].members()) {
    if (blocks.is_integer()) config.occupancy_bounds.emplace(bound(word), blocks.as_integer());
  }
  return config;
}

LaunchConfig unknown_config() {
  LaunchConfig config;
  config.name = kNoRow;
  return config;
}

// Makes ids that nothing defines one, which there is only if it is needed.
class IdBounds {
 public:
  explicit IdBounds(std::vector<std::string>& texts)
      : texts_(texts), unknown_(static_cast<uint32_t>(texts.size())) {}

  void apply(uint32_t& id) {
    if (id < unknown_) return;
    id = unknown_;
    if (texts_.size() == unknown_) texts_.emplace_back(kUnknown);
  }
  void apply(std::vector<uint32_t>& ids) {
    for (uint32_t& id : ids) apply(id);
  }

 private:
  std::vector<std::string>& texts_;
  const uint32_t unknown_;
};

}  // namespace

TableDictionaries::TableDictionaries()
    : names_{""}, texts_{""}, metrics_{""}, configs_{unknown_config()}, is_defined_{0} {}

void TableDictionaries::define(const Json& dict_line) {
  const std::string& dict = dict_line["dict"].as_string();
  const auto& ids = dict_line["ids"].items();
  const auto& values = dict_line["values"].items();
  for (size_t i = 0; i < ids.size() && i < values.size(); ++i) {
    const int64_t id = ids[i].as_integer();
    if (dict == "name") {
      define_text(names_, fresh_.names, id, values[i]);
    } else if (dict == "text") {
      define_text(texts_, fresh_.texts, id, values[i]);
    } else if (dict == "metric") {
      define_text(metrics_, fresh_.metrics, id, values[i]);
    } else if (dict == "config") {
      define_config(id, values[i]);
    }
  }
}

uint32_t TableDictionaries::config_index(int64_t id) {
  if (!is_possible(id)) return kUnknownConfig;
  const auto at = static_cast<size_t>(id);
  if (at >= config_of_id_.size()) config_of_id_.resize(at + 1, kNoRow);
  if (config_of_id_[at] == kNoRow) {
    config_of_id_[at] = static_cast<uint32_t>(configs_.size());
    fresh_.configs.push_back(config_of_id_[at]);
    configs_.push_back(unknown_config());
    is_defined_.push_back(0);
  }
  return config_of_id_[at];
}

void TableDictionaries::define_config(int64_t id, const Json& value) {
  const uint32_t index = config_index(id);
  if (index == kUnknownConfig || is_defined_[index] != 0 || !value.is_object()) return;
  configs_[index] = parse_config(value);
  is_defined_[index] = 1;
  if (fresh_.configs.empty() || fresh_.configs.back() != index) fresh_.configs.push_back(index);
}

void TableDictionaries::hand_over(TablePiece& piece) {
  const auto take = [](const std::vector<uint32_t>& ids, const auto& values, auto& out) {
    for (const uint32_t id : ids) out.push_back(values[id]);
  };
  take(fresh_.names, names_, piece.rows.names);
  take(fresh_.texts, texts_, piece.rows.texts);
  take(fresh_.metrics, metrics_, piece.rows.metrics);
  take(fresh_.configs, configs_, piece.rows.configs);
  piece.ids = std::exchange(fresh_, {});
}

void TableDictionaries::append_configs(const std::vector<int64_t>& ids,
                                       std::vector<uint32_t>& out) {
  const size_t before = out.size();
  out.resize(before + ids.size());
  for (size_t row = 0; row < ids.size(); ++row) {
    const auto id = static_cast<uint64_t>(ids[row]);
    const uint32_t index = id < config_of_id_.size() ? config_of_id_[id] : kNoRow;
    out[before + row] = index != kNoRow ? index : config_index(ids[row]);
  }
}

void TableDictionaries::finish(Tables& tables) {
  IdBounds names(names_), texts(texts_), metrics(metrics_);
  for (LaunchConfig& config : configs_) names.apply(config.name);
  names.apply(tables.counters.metric);
  metrics.apply(tables.device_metrics.metric);
  metrics.apply(tables.host_metrics.metric);
  each_table(tables, [&]<typename Table>(Table& table) {
    if constexpr (OfOneKind<Table>) {
      each_described_column(table, [&](auto& column, auto i) {
        constexpr format::Dict kDict = format::kColumnsOf<Table::kKind>[i].dict;
        if constexpr (kDict == format::Dict::Name) names.apply(column);
        if constexpr (kDict == format::Dict::Text) texts.apply(column);
        if constexpr (kDict == format::Dict::Metric) metrics.apply(column);
      });
    }
  });
  tables.names = std::move(names_);
  tables.texts = std::move(texts_);
  tables.metrics = std::move(metrics_);
  tables.configs = std::move(configs_);
}

}  // namespace gpufl::analysis
