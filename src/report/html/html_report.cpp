// SPDX-License-Identifier: Apache-2.0
#include "report/html/html_report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "analysis/insights/run_insights.hpp"
#include "base/json.hpp"
#include "format/former_names.hpp"
#include "report/html/head_figures.hpp"
#include "report/html/html_page.hpp"
#include "report/html/picture.hpp"
#include "report/html/svg_chart.hpp"
#include "report/text_page.hpp"
#include "report/text_report.hpp"
#include "report/text_sections.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::embedded {
extern const std::string_view kReportCss, kReportJs;
}

namespace gpufl::report {
namespace {

using analysis::RunData;
using base::Json;

// A text inside a script element: nothing in it may look like markup.
void append_json_text(std::string_view text, std::string& out) {
  for (const char c : Json(text).dump()) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
}

template <typename Value>
void append_list(std::string_view name, const BlockRow& row, Value value, std::string& out) {
  out += fmt::format(",\"{}\":[", name);
  for (size_t i = 0; i < row.size(); ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : ",", value(row[i]));
  }
  out += ']';
}

// Starts as differences, so that they are short; counts only where a block stands for several.
void append_row(const BlockRow& row, std::string& out) {
  out += "{\"s\":[";
  int64_t before = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : ",", row[i].start_ns - before);
    before = row[i].start_ns;
  }
  out += ']';
  append_list("d", row, [](const Block& block) { return block.end_ns - block.start_ns; }, out);
  append_list("t", row, [](const Block& block) { return block.text; }, out);
  const bool is_merged =
      std::any_of(row.begin(), row.end(), [](const Block& block) { return block.count > 1; });
  if (is_merged) {
    append_list("c", row, [](const Block& block) { return block.count; }, out);
    append_list("b", row, [](const Block& block) { return block.busy_ns; }, out);
  }
  out += '}';
}

std::string picture_json(const Picture& picture) {
  std::string out = fmt::format("{{\"start\":{},\"end\":{},\"texts\":[", picture.start_ns,
                                std::max(picture.end_ns, picture.start_ns + 1));
  for (size_t i = 0; i < picture.texts.size(); ++i) {
    out += i == 0 ? "[" : ",\n[";
    append_json_text(text::make_harmless(picture.texts[i].label), out);
    if (!picture.texts[i].whole.empty() || !picture.texts[i].work.empty()) {
      out += ',';
      append_json_text(text::make_harmless(picture.texts[i].whole), out);
    }
    if (!picture.texts[i].work.empty()) out += fmt::format(",\"{}\"", picture.texts[i].work);
    out += ']';
  }
  out += "],\"tracks\":[";
  for (size_t i = 0; i < picture.tracks.size(); ++i) {
    const PictureTrack& track = picture.tracks[i];
    out += i == 0 ? "\n{\"group\":" : ",\n{\"group\":";
    append_json_text(text::make_harmless(track.group), out);
    out += ",\"name\":";
    append_json_text(text::make_harmless(track.name), out);
    out += fmt::format(",\"kind\":\"{}\"", to_string(track.kind));
    if (!track.domain.empty()) {
      out += ",\"domain\":";
      append_json_text(text::make_harmless(track.domain), out);
    }
    if (track.is_inside()) {
      out += ",\"inside\":";
      append_json_text(text::make_harmless(track.kernel), out);
    }
    out += ",\"rows\":[";
    for (size_t row = 0; row < track.rows.size(); ++row) {
      if (row > 0) out += ',';
      append_row(track.rows[row], out);
    }
    out += "]}";
  }
  out += "]}";
  return out;
}

std::string inside_note(const Picture& picture) {
  const bool has_inside = std::any_of(picture.tracks.begin(), picture.tracks.end(),
                                      [](const PictureTrack& track) { return track.is_inside(); });
  if (!has_inside) return {};
  std::string note =
      " Double click a kernel that was profiled inside, or click its name below the streams, to "
      "see what its warps did: of many thread blocks the first and the one that took longest";
  if (picture.inside_merged_below_ns > 0) {
    note += ", neighbours within " +
            text::duration(static_cast<double>(picture.inside_merged_below_ns)) + " as one block";
  }
  return note + ".";
}

void write_timeline(HtmlPage& page, const Picture& picture, bool is_part) {
  page.heading("Timeline");
  if (picture.slices == 0) {
    page.paragraph(0, "The session holds no kernels, copies, scopes or calls to draw.");
    return;
  }
  std::string html =
      R"(<div id="timeline"><div id="tools"><button id="in">Zoom in</button>)"
      R"(<button id="out">Zoom out</button><button id="all">All</button>)"
      R"(<button id="inside" aria-pressed="false" hidden>Inside kernels</button>)"
      R"(<input id="find" type="search" placeholder="Highlight by name" )"
      R"(aria-label="Highlight by name; Enter selects the next one">)"
      R"(<span id="matches" role="status"></span><span class="view"></span></div>)"
      R"(<div id="plot"></div><div id="chosen" hidden></div></div>)"
      R"(<p class="note">Drag to move, Ctrl and wheel to zoom, click for details, double click to )"
      R"(zoom to one; drag along the times to add up what is between. Keys: W, A, S and D or +, - )"
      R"(and arrows, 0 shows all. )";
  if (picture.merged_below_ns > 0) {
    html += fmt::format(
        "{} events are drawn; neighbours within {} are one block. "
        "<code>gpufl export --to perfetto</code> has every single one.",
        text::count(picture.slices), text::duration(static_cast<double>(picture.merged_below_ns)));
  } else {
    html += fmt::format("All {} events.", text::count(picture.slices));
  }
  html += inside_note(picture);
  if (is_part) html += " Streams show only the GPU and the scopes asked for, threads everything.";
  html += "</p>\n<script type=\"application/json\" id=\"picture\">" + picture_json(picture) +
          "</script>\n";
  page.element(html);
}

struct MetricChart {
  std::string_view metric, title, unit;
  double scale, ceiling;
};
constexpr std::array kMetricCharts = {
    MetricChart{"memory_used_bytes", "GPU memory used", "GiB", 1.0 / (1 << 30), 0},
    MetricChart{"gpu_util_pct", "GPU utilisation (driver)", "%", 1, 100},
    MetricChart{"power_mw", "Power", "W", 1e-3, 0},
    MetricChart{"compute_clock_mhz", "SM clock", "MHz", 1, 0},
    MetricChart{"temperature_c", "Temperature", "°C", 1, 0},
};

// One chart for each thing, a line for each GPU of each process; those with nothing are left out.
void write_charts(HtmlPage& page, const RunData& run, const analysis::RunOverview& overview,
                  const Picture& picture) {
  const auto shifted = [&](analysis::Series series, size_t session) {
    for (auto& point : series.points) point.time_ns += run.offset_ns[session];
    return series;
  };
  const auto line_name = [&](size_t session, int64_t device) {
    const auto& rank = overview.ranks[session].rank;
    return (run.sessions.size() == 1 ? std::string()
            : rank                   ? fmt::format("rank {}, ", *rank)
                                     : fmt::format("process {}, ", session + 1)) +
           fmt::format("GPU {}", device);
  };
  std::string charts;
  const auto add = [&](Chart chart) {
    std::erase_if(chart.lines, [](const ChartLine& line) { return line.series.points.empty(); });
    chart.start_ns = picture.start_ns;
    chart.end_ns = picture.end_ns;
    for (const ChartLine& line : chart.lines) {
      chart.end_ns = std::max(chart.end_ns, line.series.points.back().time_ns);
    }
    if (!chart.lines.empty()) charts += svg_chart(chart);
  };
  Chart busy{"Busy with kernels, copies and memsets", "%", {}, 100, 100, 0, 0};
  for (size_t i = 0; i < overview.ranks.size(); ++i) {
    for (const analysis::DeviceBusy& device : overview.ranks[i].overview.devices) {
      busy.lines.push_back({line_name(i, device.device), shifted(device.busy_series, i)});
    }
  }
  add(std::move(busy));
  for (const MetricChart& kind : kMetricCharts) {
    Chart chart{
        std::string(kind.title), std::string(kind.unit), {}, kind.scale, kind.ceiling, 0, 0};
    for (size_t i = 0; i < overview.ranks.size(); ++i) {
      for (const analysis::MetricFigures& metric : overview.ranks[i].overview.metrics) {
        if (format::name_for_all(format::kFormerMetrics, metric.metric) == kind.metric &&
            metric.device && metric.index == 0) {
          chart.lines.push_back({line_name(i, *metric.device), shifted(metric.series, i)});
        }
      }
    }
    add(std::move(chart));
  }
  if (charts.empty()) return;
  page.heading("Over time");
  page.element("<div class=\"charts\">" + charts + "</div>\n");
}

std::string process_name(const format::SessionHeader& header) {
  return (header.rank ? fmt::format("rank {}: ", *header.rank) : std::string()) +
         process_text(header);
}

std::string document(std::string_view title, std::string_view remark, std::string_view figures,
                     const HtmlPage& page, std::string_view body) {
  std::string nav;
  for (const HtmlPage::Anchor& anchor : page.headings()) {
    nav += fmt::format("<a href=\"#{}\">{}</a>", anchor.id, html_text(anchor.title));
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{} - GPUFlight</title>\n<style>\n{}</style></head><body>\n"
      "<header><h1>{}</h1><p>{}</p>\n{}</header>\n<nav>{}</nav>\n<main>\n{}</main>\n"
      "<script>\n{}</script></body></html>\n",
      html_text(title), embedded::kReportCss, html_text(title), html_text(remark), figures, nav,
      body, embedded::kReportJs);
}

}  // namespace

std::string html_report(const RunReport& report, const HtmlOptions& options) {
  const RunData& run = report.run;
  const std::span<const std::vector<analysis::Insight>> insights = report.of_sessions;
  HtmlPage page;
  // All sessions of a run are analyzed with the same.
  const analysis::AnalysisOptions& asked = report.overview.ranks.front().overview.options;
  const Picture picture = make_picture(run, options.max_blocks, asked);
  const bool is_alone = run.sessions.size() == 1;
  // First what costs most, then where it is seen, then what to do about it. Those of single
  // processes are with them too.
  std::vector<analysis::Insight> merged;
  if (is_alone) {
    page.set_offset(run.offset_ns.front());
  } else {
    merged = merge_insights(run, report.overview, report.insights, insights);
  }
  const std::vector<analysis::Insight>& all = is_alone ? insights.front() : merged;
  write_headline(page, all);
  write_timeline(page, picture, asked.device || !asked.scope.empty());
  write_insights(page, all, rows_of(options.text));
  write_charts(page, run, report.overview, picture);
  if (!is_alone) {
    write_report(page, RunReport{run, report.overview, {}, report.left_out}, options.text);
  }
  for (size_t i = 0; i < run.sessions.size(); ++i) {
    const format::SessionHeader& header = run.sessions[i].summary.header;
    page.set_offset(run.offset_ns[i]);
    if (!is_alone) page.begin_fold(process_name(header));
    const std::span<const analysis::Insight> its =
        is_alone ? std::span<const analysis::Insight>() : insights[i];
    write_report(page, {run.sessions[i], report.overview.ranks[i].overview, its}, options.text);
    if (!is_alone) page.end_fold();
  }
  const format::SessionHeader& header = run.sessions.front().summary.header;
  std::string remark = text::utc(header.start_wall_ns);
  if (!is_alone) remark += fmt::format(", {} processes", run.sessions.size());
  return document(header.app_name.empty() ? header.process : header.app_name, remark,
                  head_figures(report), page, page.finish());
}

}  // namespace gpufl::report
