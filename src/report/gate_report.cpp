// SPDX-License-Identifier: Apache-2.0
#include "report/gate_report.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/json.hpp"
#include "report/diff_words.hpp"
#include "report/markdown_page.hpp"
#include "report/text_page.hpp"
#include "report/text_sections.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::compare::GateResult;
using analysis::compare::Judgement;
using analysis::compare::Key;
using analysis::compare::Outcome;
using analysis::compare::Rule;
using analysis::compare::RuleResult;

Tone tone_of(Outcome outcome) { return outcome == Outcome::Pass ? Tone::Good : Tone::Warning; }

std::string name_of(const Rule& rule) {
  const std::string text = rule_text(rule);
  return rule.name.empty() ? text : fmt::format("{} ({})", rule.name, text);
}

std::string side_text(const std::string& label, size_t repeats) {
  return fmt::format("{} ({} repeat{})", label, repeats, repeats == 1 ? "" : "s");
}

std::vector<std::string> judgement_row(const Rule& rule, const Judgement& judgement) {
  return {std::string(to_string(judgement.outcome)),
          change_text(judgement.change.estimate),
          interval_text(judgement.change),
          compared_value(rule.metric, judgement.baseline),
          compared_value(rule.metric, judgement.candidate),
          compared_label(judgement.key)};
}

void add_one_sided(std::vector<std::string>& notes, const std::vector<Key>& keys,
                   std::string_view side) {
  if (keys.empty()) return;
  std::string text =
      fmt::format("Only in the {}, not judged: {}", side, compared_label(keys.front()));
  if (keys.size() > 1) text += fmt::format(" and {} more", keys.size() - 1);
  notes.push_back(text + ".");
}

// "No such kernel." of "no such kernel".
std::string sentence(std::string text) {
  if (text.front() >= 'a' && text.front() <= 'z') text.front() += 'A' - 'a';
  return text + ".";
}

// Sentences below a rule.
std::vector<std::string> notes_of(const RuleResult& result, size_t top) {
  std::vector<std::string> notes;
  if (!result.reason.empty()) notes.push_back(sentence(result.reason));
  if (result.outcome != Outcome::CannotTell) {
    const auto explained = std::find_if(
        result.judgements.begin(), result.judgements.end(), [&](const Judgement& judgement) {
          const bool decides =
              result.outcome == Outcome::Pass || judgement.outcome == Outcome::Regression;
          return decides && !judgement.reason.empty();
        });
    if (explained != result.judgements.end()) {
      notes.push_back(fmt::format("{} {}: {}.",
                                  result.outcome == Outcome::Pass ? "Passes without" : "Fails for",
                                  compared_label(explained->key), explained->reason));
    }
  }
  const size_t hidden = result.judgements.size() - shown_of(result.judgements.size(), top);
  if (hidden > 0) notes.push_back(fmt::format("{} more (--top 0: all).", hidden));
  if (result.left_out > 0) {
    notes.push_back(fmt::format("{} matches with less than {} of the time were not judged.",
                                result.left_out, text::percent(result.rule.min_share)));
  }
  add_one_sided(notes, result.only_baseline, "baseline");
  add_one_sided(notes, result.only_candidate, "candidate");
  return notes;
}

base::Json keys_json(const std::vector<Key>& keys) {
  base::Json list = base::Json::array();
  for (const Key& key : keys) {
    base::Json json = base::Json::object();
    set_key(json, key);
    list.push(std::move(json));
  }
  return list;
}

// Empty: it judges whole runs.
std::string iterations_note(const GateResult& gate, const RuleResult& rule) {
  if (!rule.is_per_iteration) return "";
  return iterations_text(*gate.iterations, "the baseline", "the candidate") + ".";
}

base::Json rule_json(const RuleResult& result) {
  const Rule& rule = result.rule;
  base::Json json = base::Json::object();
  json.set("rule", rule_text(rule));
  if (!rule.name.empty()) json.set("name", rule.name);
  json.set("outcome", to_string(result.outcome));
  if (!result.reason.empty()) json.set("reason", result.reason);
  json.set("subject", to_string(rule.subject));
  if (!rule.pattern.empty()) json.set("pattern", rule.pattern);
  json.set("metric", to_string(rule.metric)).set("max_increase", rule.max_increase);
  json.set("per_iteration", result.is_per_iteration);
  base::Json judgements = base::Json::array();
  for (const Judgement& judgement : result.judgements) {
    base::Json its = base::Json::object();
    set_key(its, judgement.key);
    its.set("outcome", to_string(judgement.outcome));
    if (!judgement.reason.empty()) its.set("reason", judgement.reason);
    its.set("baseline", judgement.baseline).set("candidate", judgement.candidate);
    set_change(its, judgement.change);
    its.set("repeats_baseline", uint64_t{judgement.repeats_baseline});
    its.set("repeats_candidate", uint64_t{judgement.repeats_candidate});
    judgements.push(std::move(its));
  }
  json.set("judgements", std::move(judgements));
  json.set("left_out", uint64_t{result.left_out});
  json.set("only_baseline", keys_json(result.only_baseline));
  json.set("only_candidate", keys_json(result.only_candidate));
  return json;
}

// Control characters are not allowed in XML, not even escaped.
std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : text::make_harmless(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string judgement_line(const Rule& rule, const Judgement& judgement) {
  std::string line = fmt::format(
      "{}: {} {} -> {}, {}", to_string(judgement.outcome), compared_label(judgement.key),
      compared_value(rule.metric, judgement.baseline),
      compared_value(rule.metric, judgement.candidate), change_text(judgement.change.estimate));
  const std::string interval = interval_text(judgement.change);
  return interval.empty() ? line : fmt::format("{} ({})", line, interval);
}

// What a test case says in one line where it did not pass.
std::string message_of(const RuleResult& result) {
  return result.outcome == Outcome::Regression
             ? judgement_line(result.rule, result.judgements.front())
             : result.reason;
}

void write_rule(Page& page, const GateResult& gate, const RuleResult& result, size_t top) {
  // That of the only rule is the gate's own.
  page.heading(name_of(result.rule), gate.rules.size() == 1 ? "" : to_string(result.outcome),
               tone_of(result.outcome));
  const std::string iterations = iterations_note(gate, result);
  if (!iterations.empty()) page.paragraph(2, iterations);
  if (!result.judgements.empty()) {
    TextTable table{{{"", true},
                     {"change"},
                     {"interval", false, 1},
                     {"baseline", false, 2},
                     {"candidate", false, 2},
                     {"what", true}},
                    {},
                    5};
    for (size_t i = 0; i < shown_of(result.judgements.size(), top); ++i) {
      table.rows.push_back(judgement_row(result.rule, result.judgements[i]));
    }
    page.table(table);
  }
  for (const std::string& note : notes_of(result, top)) page.paragraph(2, note);
}

void write_gate(Page& page, const GateResult& result, size_t top) {
  page.heading("GPU performance", to_string(result.outcome), tone_of(result.outcome));
  page.field("Baseline", side_text(result.baseline, result.repeats_baseline));
  page.field("Candidate", side_text(result.candidate, result.repeats_candidate));
  write_warnings(page, result.warnings);
  for (const RuleResult& its : result.rules) write_rule(page, result, its, top);
}

}  // namespace

std::string gate_text(const GateResult& result, const TextOptions& options) {
  TextPage page(width_of(options), options.has_color);
  write_gate(page, result, options.top);
  return page.text();
}

std::string gate_markdown(const GateResult& result, size_t top) {
  MarkdownPage page;
  write_gate(page, result, top);
  return page.text();
}

std::string gate_json(const GateResult& result) {
  base::Json json = base::Json::object();
  json.set("outcome", to_string(result.outcome));
  json.set("baseline", result.baseline);
  json.set("candidate", result.candidate);
  json.set("repeats_baseline", uint64_t{result.repeats_baseline});
  json.set("repeats_candidate", uint64_t{result.repeats_candidate});
  if (result.iterations) {
    json.set("iterations", iterations_json(*result.iterations, "baseline", "candidate"));
  }
  json.set("warnings", json_texts(result.warnings));
  base::Json rules = base::Json::array();
  for (const RuleResult& its : result.rules) rules.push(rule_json(its));
  json.set("rules", std::move(rules));
  return json.dump() + '\n';
}

std::string gate_junit(const GateResult& result) {
  const auto count = [&](Outcome outcome) {
    return std::count_if(result.rules.begin(), result.rules.end(),
                         [outcome](const RuleResult& its) { return its.outcome == outcome; });
  };
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", result.rules.size(),
                  count(Outcome::Regression), count(Outcome::CannotTell));
  text += fmt::format("<testsuites {}>\n  <testsuite name=\"gpufl gate\" {}>\n", counts, counts);
  for (const RuleResult& its : result.rules) {
    text += fmt::format("    <testcase classname=\"gpufl.gate\" name=\"{}\">\n",
                        xml_text(name_of(its.rule)));
    if (its.outcome != Outcome::Pass) {
      const std::string_view element = its.outcome == Outcome::Regression ? "failure" : "error";
      text += fmt::format("      <{} message=\"{}\"/>\n", element, xml_text(message_of(its)));
    }
    if (!its.judgements.empty()) {
      text += "      <system-out>";
      const std::string iterations = iterations_note(result, its);
      if (!iterations.empty()) text += xml_text(iterations) + '\n';
      for (const Judgement& judgement : its.judgements) {
        text += xml_text(judgement_line(its.rule, judgement)) + '\n';
      }
      text += "</system-out>\n";
    }
    text += "    </testcase>\n";
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace gpufl::report
