// SPDX-License-Identifier: Apache-2.0
#include "cli/metrics_command.hpp"

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/metric_catalog.hpp"
#include "base/json.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/terminal.hpp"
#include "report/text_page.hpp"
#include "text/near_names.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

using backend::CountedBy;
using backend::CountingEngine;
using backend::MetricCatalog;
using backend::MetricFacts;
using base::Json;

constexpr const char* kWho = "gpufl metrics";

struct Options {
  std::string chip;
  std::string pattern;
  std::vector<std::string> names;
  bool json = false;
};

// Metrics for one engine, with what that takes.
struct PlannedSet {
  CountingEngine engine;
  std::string preset;  // empty: they were named
  std::vector<std::string> metrics;
  std::optional<uint32_t> passes;
  std::vector<std::string> fitting;  // into one pass, where that matters and not all do
  std::string why_not;               // the chip cannot be counted by that engine
  std::vector<std::string> missing;  // that cannot be counted: engines leave them out

  bool is_planned() const { return engine.by != CountedBy::Instruction; }
};

PlannedSet planned(const MetricCatalog& catalog, const CountingEngine& engine, std::string preset,
                   std::vector<std::string> metrics) {
  PlannedSet set{engine, std::move(preset), std::move(metrics), {}, {}, catalog.why_not(engine.by),
                 {}};
  if (!set.is_planned() || !set.why_not.empty()) return set;
  const auto passes = [&](const std::vector<std::string>& some) {
    return catalog.passes(engine.by, some);
  };
  backend::MetricGrouping grouping = backend::group_metrics(set.metrics, passes);
  set.missing = std::move(grouping.unknown);
  if (grouping.groups.empty()) return set;
  std::vector<std::string> counted;
  uint32_t one_by_one = 0;
  for (const backend::CountedTogether& group : grouping.groups) {
    counted.insert(counted.end(), group.metrics.begin(), group.metrics.end());
    one_by_one += group.passes;
  }
  set.passes = one_by_one;
  if (engine.by != CountedBy::Time) return set;
  set.passes = passes(counted).value_or(one_by_one);
  const backend::CountedTogether& first = grouping.groups.front();
  if (*set.passes > 1 && first.passes == 1) set.fitting = first.metrics;
  return set;
}

std::vector<std::string> names_of(const backend::MetricSet& preset) {
  return {preset.metrics.begin(), preset.metrics.end()};
}

std::vector<PlannedSet> all_presets(const MetricCatalog& catalog) {
  std::vector<PlannedSet> sets;
  for (const CountingEngine& engine : backend::counting_engines()) {
    for (const backend::MetricSet& preset : engine.presets) {
      sets.push_back(planned(catalog, engine, std::string(preset.name), names_of(preset)));
    }
  }
  return sets;
}

std::string passes_text(const PlannedSet& set) {
  if (!set.is_planned()) return "counted without passes";
  if (!set.why_not.empty()) return fmt::format("refused, because {}", set.why_not);
  if (!set.passes) return "not available";
  std::string passes = *set.passes == 1 ? "1 pass" : fmt::format("{} passes", *set.passes);
  if (!set.missing.empty()) passes += fmt::format(" without {}", fmt::join(set.missing, ", "));
  const bool is_refused = set.engine.by == CountedBy::Time && *set.passes > 1;
  return is_refused ? passes + ", so it is refused" : passes;
}

Json strings(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

Json to_json(const PlannedSet& set) {
  Json json = Json::object();
  json.set("engine", set.engine.engine).set("option", set.engine.option);
  if (!set.preset.empty()) json.set("preset", set.preset);
  json.set("metrics", strings(set.metrics));
  if (set.passes) json.set("passes", *set.passes);
  if (!set.fitting.empty()) json.set("fit_one_pass", strings(set.fitting));
  if (!set.why_not.empty()) json.set("refused", set.why_not);
  if (!set.missing.empty()) json.set("missing", strings(set.missing));
  return json;
}

Json to_json(const MetricFacts& metric) {
  Json json = Json::object();
  json.set("name", metric.name).set("kind", metric.kind).set("hardware", metric.hardware);
  return json.set("description", metric.description);
}

Json heading_json(const MetricCatalog& catalog) {
  Json json = Json::object();
  return json.set("chip", catalog.chip()).set("source", catalog.source());
}

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// In the name or the description, whatever the case.
std::vector<MetricFacts> matching(const MetricCatalog& catalog, const std::string& pattern) {
  std::vector<MetricFacts> metrics = catalog.list();
  const std::string wanted = in_small_letters(pattern);
  const auto contains = [&](const std::string& text) {
    return in_small_letters(text).find(wanted) != std::string::npos;
  };
  std::erase_if(metrics, [&](const MetricFacts& metric) {
    return !contains(metric.name) && !contains(metric.description);
  });
  return metrics;
}

// "PmSampling overview, 1 pass: sm__cycles_active.avg, ..."
void write_sets(report::Page& page, const std::vector<PlannedSet>& sets) {
  for (const PlannedSet& set : sets) {
    const std::string preset = set.preset.empty() ? "" : " " + set.preset;
    page.paragraph(2,
                   fmt::format("{}{}, {}: {}", set.engine.engine, preset, passes_text(set),
                               fmt::join(set.metrics, ", ")),
                   report::Tone::Plain, 2);
    if (set.fitting.empty()) continue;
    page.paragraph(4, fmt::format("into one pass fit {}", fmt::join(set.fitting, ",")),
                   report::Tone::Plain, 2);
  }
}

int list(const MetricCatalog& catalog, const Options& options) {
  const std::vector<MetricFacts> metrics = matching(catalog, options.pattern);
  const std::vector<PlannedSet> sets =
      options.pattern.empty() ? all_presets(catalog) : std::vector<PlannedSet>();
  if (options.json) {
    Json json = heading_json(catalog);
    Json presets = Json::array(), list = Json::array();
    for (const PlannedSet& set : sets) presets.push(to_json(set));
    for (const MetricFacts& metric : metrics) list.push(to_json(metric));
    if (!sets.empty()) json.set("presets", std::move(presets));
    print(json.set("metrics", std::move(list)).dump() + "\n");
  } else {
    report::TextPage page(page_width(), false);
    page.paragraph(0, fmt::format("{}, by {}", catalog.chip(), catalog.source()));
    if (!sets.empty()) {
      page.heading("PRESETS");
      write_sets(page, sets);
    }
    page.heading("METRICS", text::count(metrics.size()));
    for (const MetricFacts& metric : metrics) {
      page.paragraph(2, fmt::format("{}  {}", metric.name, metric.description), report::Tone::Plain,
                     2);
    }
    print(page.text());
  }
  return metrics.empty() ? kExitNo : kExitGood;
}

// What was named, each as metrics of one engine: presets are the engine's.
std::vector<PlannedSet> sets_of(const MetricCatalog& catalog,
                                const std::vector<std::string>& names) {
  std::vector<PlannedSet> sets;
  std::vector<std::string> whole;
  for (const std::string& name : names) {
    bool is_preset = false;
    for (const CountingEngine& engine : backend::counting_engines()) {
      const auto preset =
          std::find_if(engine.presets.begin(), engine.presets.end(),
                       [&](const backend::MetricSet& one) { return one.name == name; });
      if (preset == engine.presets.end()) continue;
      is_preset = true;
      sets.push_back(planned(catalog, engine, name, names_of(*preset)));
    }
    const bool is_whole = name.find('.') != std::string::npos;
    if (!is_preset && is_whole) whole.push_back(name);
  }
  if (whole.empty()) return sets;
  for (const CountingEngine& engine : backend::counting_engines()) {
    if (engine.by != CountedBy::Instruction) sets.push_back(planned(catalog, engine, "", whole));
  }
  return sets;
}

struct Described {
  std::string name;
  MetricFacts facts;
  std::string unit;
  std::vector<std::string> forms;  // where it was named without
};

Json to_json(const Described& metric) {
  Json json = to_json(metric.facts).set("asked", metric.name).set("unit", metric.unit);
  if (!metric.forms.empty()) json.set("forms", strings(metric.forms));
  return json;
}

void write(report::Page& page, const Described& metric) {
  const MetricFacts& facts = metric.facts;
  page.heading(metric.name);
  page.field("meaning", facts.description);
  page.field("kind", facts.kind);
  page.field("counted in", facts.hardware);
  page.field("unit", metric.unit.empty() ? "-" : metric.unit);
  if (metric.forms.empty()) return;
  page.field("take it as", fmt::format("{}", fmt::join(metric.forms, ", ")));
}

bool is_preset(const std::vector<PlannedSet>& sets, const std::string& name) {
  return std::any_of(sets.begin(), sets.end(),
                     [&](const PlannedSet& set) { return set.preset == name; });
}

void complain_of_unknown(const MetricCatalog& catalog, const std::string& name) {
  const std::vector<MetricFacts> metrics = catalog.list();
  std::vector<std::string_view> known;
  for (const MetricFacts& metric : metrics) known.emplace_back(metric.name);
  const std::string_view near =
      text::nearest(std::string_view(name).substr(0, name.find('.')), known);
  complain(kWho, fmt::format("{} has no metric and no preset {}{}", catalog.chip(), name,
                             near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

int describe(const MetricCatalog& catalog, const Options& options) {
  const std::vector<PlannedSet> sets = sets_of(catalog, options.names);
  std::vector<Described> metrics;
  bool are_known = true;
  for (const std::string& name : options.names) {
    if (is_preset(sets, name)) continue;
    if (auto facts = catalog.describe(name)) {
      Described one{name, std::move(*facts), "", {}};
      if (one.name == one.facts.name) one.forms = catalog.forms(one.facts);
      const std::string& whole = one.forms.empty() ? name : one.forms.front();
      one.unit = catalog.unit(whole);
      metrics.push_back(std::move(one));
    } else {
      are_known = false;
      complain_of_unknown(catalog, name);
    }
  }
  if (options.json) {
    Json json = heading_json(catalog);
    Json described = Json::array(), planned_sets = Json::array();
    for (const Described& metric : metrics) described.push(to_json(metric));
    for (const PlannedSet& set : sets) planned_sets.push(to_json(set));
    json.set("metrics", std::move(described)).set("sets", std::move(planned_sets));
    print(json.dump() + "\n");
  } else {
    report::TextPage page(page_width(), false);
    page.paragraph(0, fmt::format("{}, by {}", catalog.chip(), catalog.source()));
    for (const Described& metric : metrics) write(page, metric);
    if (!sets.empty()) {
      page.heading("PASSES");
      write_sets(page, sets);
    }
    print(page.text());
  }
  return are_known ? kExitGood : kExitNo;
}

using Act = int (*)(const MetricCatalog& catalog, const Options& options);

int with_catalog(const Options& options, Act act) {
  const auto catalog = backend::open_metric_catalog(options.chip);
  if (catalog) return act(**catalog, options);
  complain(kWho, catalog.status().message());
  return kExitCannotTell;
}

}  // namespace

void add_metrics_command(Command program) {
  auto options = std::make_shared<Options>();
  Command metrics = program.add_command(
      "metrics", "List and describe the hardware counters that engines can count");
  metrics.set_footer(
      "Counters are those of the first GPU, or of the chip that --chip names, which needs no GPU: "
      "NVIDIA's catalogue (libnvperf_host) is looked for in the folder of libcupti.\nExit code: 0 "
      "found; 1 "
      "no "
      "metric of that name; 2 the catalogue could not be read.");
  const auto add_common = [options](Command verb) {
    verb.add_option("--chip", options->chip, "The chip, as NVIDIA calls it: GH100, GB100, AD102")
        .type_name("CHIP");
    verb.add_flag("--json", options->json, "Print one JSON object");
  };
  Command list_verb =
      metrics.add_command("list", "Presets of engines, and the metrics of the chip");
  list_verb.add_option("text", options->pattern,
                       "Only metrics that have this in their name or description");
  add_common(list_verb);
  list_verb.set_action([options] { return with_catalog(*options, list); });
  Command describe_verb =
      metrics.add_command("describe", "What metrics mean, and how many passes they need together");
  describe_verb
      .add_option("name", options->names,
                  "Metrics and presets. With a rollup, as in dram__bytes_read.sum, passes are "
                  "counted; without, the forms are listed that engines take")
      .required();
  add_common(describe_verb);
  describe_verb.set_action([options] { return with_catalog(*options, describe); });
}

}  // namespace gpufl::cli
