// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::Insight;
using analysis::Severity;

constexpr size_t kHeadlines = 3;
constexpr size_t kShownEvidence = 2;

std::string gain_text(const Insight& insight) {
  if (!insight.gain_ns) return {};
  const bool is_of_session = insight.gain_of == "session";
  return fmt::format("{} ({}{}{})", text::duration(*insight.gain_ns),
                     text::percent(insight.gain_share), is_of_session ? "" : " of ",
                     is_of_session ? "" : insight.gain_of);
}

// Advice begins with what to do; the reasons follow.
std::string first_sentence(const std::string& text) {
  const size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

Tone tone_of(const Insight& insight) {
  switch (insight.severity) {
    case Severity::High: return Tone::Warning;
    case Severity::Medium: return Tone::Strong;
    case Severity::Low: break;
  }
  return Tone::Plain;
}

void write_evidence(Page& page, const Insight& insight) {
  const size_t shown = std::min(kShownEvidence, insight.evidence.size());
  for (size_t i = 0; i < shown; ++i) {
    const analysis::Evidence& evidence = insight.evidence[i];
    std::string text;
    // What the insight itself says already is not said again.
    const auto is_told = [&](const std::string& what) {
      return insight.detail.find(what) != std::string::npos ||
             insight.title.find(what) != std::string::npos;
    };
    const auto part = [&](std::string_view before, const std::string& what) {
      if (what.empty() || is_told(what)) return;
      text += fmt::format("{}{}{}", text.empty() ? "" : ", ", before, what);
    };
    constexpr size_t kFewWords = 16;  // "the longest" may stand anywhere
    if (evidence.text.size() < kFewWords || !is_told(evidence.text)) text = evidence.text;
    part("", evidence.kernel);
    if (!evidence.file.empty()) {
      part("at ",
           evidence.line > 0 ? fmt::format("{}:{}", evidence.file, evidence.line) : evidence.file);
    }
    part("in ", evidence.scope);
    if (evidence.device) part("", fmt::format("GPU {}", *evidence.device));
    if (evidence.start_ns) part("", "from " + duration_text(*evidence.start_ns));
    if (text.empty()) continue;
    if (evidence.start_ns) {
      page.moment(7, text, *evidence.start_ns, evidence.end_ns.value_or(*evidence.start_ns), 2);
    } else {
      page.paragraph(7, text, Tone::Plain, 2);
    }
  }
  if (insight.evidence.size() > shown) {
    page.paragraph(7, fmt::format("... {} more", text::count(insight.evidence.size() - shown)));
  }
}

}  // namespace

void write_headline(Page& page, std::span<const Insight> insights) {
  size_t shown = 0;
  bool has_gains = false;
  for (const Insight& insight : insights) {
    // What is wrong and costs no time counts, too: a failed call, a session that was cut off.
    const bool is_shown = insight.severity == Severity::High ||
                          (insight.gain_ns && insight.severity == Severity::Medium);
    if (!is_shown || shown == kHeadlines) continue;
    has_gains |= insight.gain_ns.has_value();
    page.paragraph(2,
                   fmt::format("{}. {}{}", ++shown, insight.title,
                               insight.gain_ns ? ": about " + gain_text(insight) : std::string()),
                   tone_of(insight), 3);
  }
  if (shown == 0) return;
  page.paragraph(2, fmt::format("{}What to do about it: insights, below.",
                                has_gains ? "Gains may overlap. " : ""));
}

void write_first_steps(Page& page, std::span<const Insight> insights, size_t top) {
  std::vector<const Insight*> worth;
  for (const Insight& insight : insights) {
    if (insight.severity != Severity::Low) worth.push_back(&insight);
  }
  if (worth.empty()) return;
  std::stable_partition(worth.begin(), worth.end(),
                        [](const Insight* insight) { return insight->severity == Severity::High; });
  const size_t shown = std::min(top, worth.size());
  const auto gains = std::count_if(worth.begin(), worth.begin() + static_cast<ptrdiff_t>(shown),
                                   [](const Insight* insight) { return insight->gain_ns; });
  std::string remark;
  if (shown < worth.size()) remark = fmt::format("{} of {} findings", shown, worth.size());
  if (gains > 1) remark += fmt::format("{}gains may overlap", remark.empty() ? "" : "; ");
  page.heading("WHAT TO DO FIRST", remark);
  for (size_t i = 0; i < shown; ++i) {
    const Insight& insight = *worth[i];
    page.paragraph(
        2,
        fmt::format("{}. {}{}: {}", i + 1, to_string(insight.severity),
                    insight.gain_ns ? ", saves about " + gain_text(insight) : std::string(),
                    insight.title),
        tone_of(insight), 3);
    if (i > 0 && insight.advice == worth[i - 1]->advice) continue;
    page.paragraph(5, "-> " + first_sentence(insight.advice), Tone::Plain, 3);
  }
}

void write_insights(Page& page, std::span<const Insight> insights, size_t top) {
  if (insights.empty()) return;
  const auto costly = static_cast<size_t>(
      std::count_if(insights.begin(), insights.end(),
                    [](const Insight& insight) { return insight.gain_ns.has_value(); }));
  page.heading("INSIGHTS",
               fmt::format("{}, {} of them with a gain{}", text::count(insights.size()),
                           text::count(costly), costly > 1 ? "; gains may overlap" : ""));
  size_t shown = 0;
  for (const Insight& insight : insights) {
    if (shown == top) break;
    page.paragraph(2,
                   fmt::format("{}. {} {}: {}", ++shown, to_string(insight.severity),
                               to_string(insight.category), insight.title),
                   tone_of(insight), 3);
    if (insight.gain_ns) {
      page.paragraph(5,
                     fmt::format("saves about {}, confidence {}: {}", gain_text(insight),
                                 to_string(insight.confidence), insight.estimate),
                     Tone::Plain, 2);
    }
    if (!insight.detail.empty()) page.paragraph(5, insight.detail, Tone::Plain, 2);
    write_evidence(page, insight);
    page.paragraph(5, fmt::format("-> {} [{}]", insight.advice, insight.rule), Tone::Plain, 3);
  }
  write_more(page, insights.size(), shown);
}

}  // namespace gpufl::report
