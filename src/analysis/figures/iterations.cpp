// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/iterations.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/code/kernel_name.hpp"
#include "analysis/figures/busy.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/figures/recorded_time.hpp"
#include "analysis/figures/scope_work.hpp"
#include "analysis/math/saturating.hpp"
#include "analysis/session/scope_paths.hpp"
#include "analysis/session/selection.hpp"
#include "analysis/tables/wait_calls.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::analysis {

namespace {

// Spans that may be the steps of a program: the same scope, or range, on one thread.
struct Candidate {
  std::string label;
  uint32_t scope_path = kNoRow;
  uint32_t depth = 0;
  Intervals spans;  // none overlap; they may touch
  int64_t total_ns = 0;
  bool is_last_cut = false;

  // Spans come in order of their start. What lies inside the one before is a step of a step.
  void add(Interval span) {
    if (span.end <= span.start || (!spans.empty() && span.start < spans.back().end)) return;
    spans.push_back(span);
    total_ns += span.length();
  }
};

// Ranges that a framework opens around its operators and modules: parts of a step, never steps.
constexpr std::string_view kFrameworkDomains = "torch.";
// Steps follow each other: they take most of the time from the first to the last, and most of the
// GPU's work is theirs. What does not is a part of a step, such as the optimizer's.
constexpr double kMostOfIt = 0.5;

bool may_be_steps(const Candidate& candidate) {
  if (candidate.spans.size() < kMinIterations) return false;
  const int64_t from_first_ns =
      saturating_subtract(candidate.spans.back().end, candidate.spans.front().start);
  return static_cast<double>(candidate.total_ns) >= kMostOfIt * static_cast<double>(from_first_ns);
}

// The outermost of those that take about as long as the one that takes longest.
std::optional<Candidate> choose(std::vector<Candidate> candidates) {
  constexpr double kAboutAsLong = 0.5;
  std::erase_if(candidates, [](const Candidate& candidate) { return !may_be_steps(candidate); });
  int64_t longest_ns = 0;
  for (const Candidate& candidate : candidates) {
    longest_ns = std::max(longest_ns, candidate.total_ns);
  }
  std::optional<Candidate> best;
  for (Candidate& candidate : candidates) {
    if (static_cast<double>(candidate.total_ns) < kAboutAsLong * static_cast<double>(longest_ns)) {
      continue;
    }
    if (!best || candidate.depth < best->depth ||
        (candidate.depth == best->depth && candidate.total_ns > best->total_ns)) {
      best = std::move(candidate);
    }
  }
  return best;
}

std::optional<Candidate> from_scopes(const SessionData& session, const AnalysisOptions& options,
                                     const Selection& selection) {
  const Tables& tables = session.tables;
  const std::shared_ptr<const ScopePaths> held = session.scope_paths(options);
  const ScopePaths& paths = *held;
  // Tags number steps ("step / 17"), so paths that differ in tags alone are one family.
  std::vector<uint32_t> family_of(paths.paths.size());
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> families;  // by family around it, and name
  for (uint32_t i = 0; i < paths.paths.size(); ++i) {
    const ScopePaths::Path& path = paths.paths[i];
    const uint32_t outer = path.parent == kNoRow ? kNoRow : family_of[path.parent];
    family_of[i] = families.try_emplace({outer, path.name}, i).first->second;
  }
  std::map<std::pair<uint32_t, int64_t>, Candidate> candidates;  // by family and thread
  const Scopes& scopes = tables.scopes;
  const RowRange rows = selection.rows(scopes);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    const uint32_t path = paths.of_scope[row];
    if (path == kNoRow || !paths.is_chosen[path]) continue;
    if (scopes.ending[row] == Scopes::kOpen) continue;
    const uint32_t family = family_of[path];
    Candidate& candidate = candidates[{family, scopes.thread[row]}];
    if (candidate.spans.empty()) {
      const ScopePaths::Path& first = paths.paths[family];
      candidate.label = tables.name(first.name);
      if (first.parent != kNoRow) {
        candidate.label = paths.paths[first.parent].text + " > " + candidate.label;
      }
      candidate.scope_path = family;
      candidate.depth = first.depth;
    }
    candidate.add({scopes.start[row], scopes.end(row)});
  }
  std::vector<Candidate> list;
  for (auto& [key, candidate] : candidates) list.push_back(std::move(candidate));
  return choose(std::move(list));
}

std::optional<Candidate> from_markers(const Tables& tables, const Selection& selection) {
  const Markers& markers = tables.markers;
  std::map<std::pair<uint32_t, int64_t>, Candidate> candidates;  // by name and thread
  // Ranges are in order of their start, so how many are open around one tells its depth.
  std::unordered_map<int64_t, std::vector<int64_t>> open_ends;  // by thread
  const RowRange rows = selection.rows(markers);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    if (markers.duration[row] <= 0) continue;
    if (tables.name(markers.domain[row]).starts_with(kFrameworkDomains)) continue;
    const Interval span{markers.start[row],
                        saturating_add(markers.start[row], markers.duration[row])};
    std::vector<int64_t>& ends = open_ends[markers.thread[row]];
    while (!ends.empty() && ends.back() <= span.start) ends.pop_back();
    Candidate& candidate = candidates[{markers.name[row], markers.thread[row]}];
    if (candidate.spans.empty()) {
      candidate.label = tables.name(markers.name[row]);
      candidate.depth = static_cast<uint32_t>(ends.size());
    }
    candidate.add(span);
    ends.push_back(span.end);
  }
  std::vector<Candidate> list;
  for (auto& [key, candidate] : candidates) list.push_back(std::move(candidate));
  return choose(std::move(list));
}

// The stream that ran most kernels: those of others may come in another order each time.
std::vector<uint32_t> main_stream(const Kernels& kernels, const Selection& selection,
                                  size_t lane_count) {
  std::vector<size_t> counts(lane_count);
  const RowRange all = selection.rows(kernels);
  for (size_t row = all.begin; row < all.end; ++row) {
    if (selection.includes(kernels, row)) ++counts[kernels.lane[row]];
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  std::vector<uint32_t> rows;
  if (most == counts.end()) return rows;
  rows.reserve(*most);
  for (size_t row = all.begin; row < all.end; ++row) {
    const bool is_there = kernels.lane[row] == static_cast<uint32_t>(most - counts.begin());
    if (is_there && selection.includes(kernels, row)) rows.push_back(static_cast<uint32_t>(row));
  }
  return rows;
}

// How many kernels most repeats have.
size_t usual_length(const std::vector<Repeat>& repeats) {
  std::vector<size_t> lengths;
  for (const Repeat& repeat : repeats) lengths.push_back(repeat.end - repeat.begin);
  const auto middle = lengths.begin() + static_cast<ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

// What a loop does besides its kernels: copies and fills of their stream, and where the thread that
// launches them waits.
class OtherCalls {
 public:
  OtherCalls(const Tables& tables, const Selection& selection, size_t kernel_row)
      : tables_(tables), selection_(selection), lane_(tables.kernels.lane[kernel_row]) {
    const int64_t thread = tables.callers[tables.kernels.caller[kernel_row]].thread;
    add_of_lane(tables.copies, tables.copies.route);
    add_of_lane(tables.fills, {});
    const Waits& waits = tables.waits;
    for (size_t row = 0; row < waits.rows(); ++row) {
      if (!selection.includes(waits, row) || !holds_host(waits, row)) continue;
      if (tables.callers[waits.caller[row]].thread != thread) continue;
      // Kernels before it were asked for before it began; what comes after, once it had ended.
      add(waits, row, waits.end(row), waits.wait_kind.empty() ? 0 : waits.wait_kind[row]);
    }
    std::stable_sort(all_.begin(), all_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  // Repeats of these kernels together with all that; in numbers of kernels.
  std::vector<Repeat> repeats(const std::vector<uint32_t>& rows,
                              const std::vector<uint32_t>& names) const {
    std::vector<uint32_t> sequence;
    std::vector<size_t> kernels_before;  // each place of the sequence, and its end
    auto next = all_.begin();
    for (size_t i = 0; i < rows.size(); ++i) {
      for (; next != all_.end() && next->first <= tables_.kernels.asked_at(rows[i]); ++next) {
        sequence.push_back(next->second);
        kernels_before.push_back(i);
      }
      sequence.push_back(names[i]);
      kernels_before.push_back(i);
    }
    kernels_before.push_back(rows.size());
    std::vector<Repeat> repeats;
    for (const auto& [begin, end] : find_repeats(sequence, 2)) {
      if (kernels_before[begin] == kernels_before[end]) continue;
      repeats.push_back({kernels_before[begin], kernels_before[end]});
    }
    return repeats;
  }

 private:
  void add_of_lane(const Work& work, const std::vector<uint8_t>& kinds) {
    for (size_t row = 0; row < work.rows(); ++row) {
      if (work.lane[row] != lane_ || !selection_.includes(work, row)) continue;
      add(work, row, work.asked_at(row), kinds.empty() ? 0 : kinds[row]);
    }
  }
  // Alike is what is of one kind and was asked for at one place.
  void add(const Work& work, size_t row, int64_t time_ns, uint8_t kind) {
    const uint32_t stack = work.stack.empty() ? 0 : work.stack[row];
    const auto symbol = static_cast<uint32_t>(tables_.names.size() + symbols_.size());
    all_.emplace_back(time_ns, symbols_.try_emplace({&work, kind, stack}, symbol).first->second);
  }

  const Tables& tables_;
  const Selection& selection_;
  uint32_t lane_;
  std::map<std::tuple<const Work*, uint8_t, uint32_t>, uint32_t> symbols_;
  std::vector<std::pair<int64_t, uint32_t>> all_;  // when, and which symbol
};

// By how much all repeats are to be moved so that they begin where the GPU waits longest: a step
// begins with the host's work for it. The repeats follow each other; only like ones are asked.
size_t best_shift(const Kernels& kernels, const std::vector<uint32_t>& rows,
                  const std::vector<Repeat>& repeats) {
  const size_t length = usual_length(repeats);
  std::vector<int64_t> idle(length);
  for (const Repeat& repeat : repeats) {
    if (repeat.end - repeat.begin != length) continue;
    for (size_t i = repeat.begin; i < repeat.end; ++i) {
      if (i == 0) continue;
      const int64_t gap = saturating_subtract(kernels.start[rows[i]], kernels.end(rows[i - 1]));
      idle[i - repeat.begin] = saturating_add(idle[i - repeat.begin], std::max<int64_t>(gap, 0));
    }
  }
  return static_cast<size_t>(std::max_element(idle.begin(), idle.end()) - idle.begin());
}

// Where a step begins that ends where `step` does begin: with the same kernels, and half as long to
// twice as long, because the first step of a program often does more than others. Cutting a
// sequence leaves it out where the cuts lie within steps.
std::optional<size_t> step_before(const std::vector<uint32_t>& sequence, const Repeat& step) {
  const size_t length = step.end - step.begin;
  const size_t head = std::clamp<size_t>(length / 2, 1, 4);
  if (step.begin + head > sequence.size()) return std::nullopt;
  const auto distance = [&](size_t begin) {
    const size_t its_length = step.begin - begin;
    return std::max(its_length, length) - std::min(its_length, length);
  };
  std::optional<size_t> best;
  const size_t earliest = step.begin - std::min(step.begin, 2 * length);
  for (size_t begin = earliest; 2 * (step.begin - begin) >= length; ++begin) {
    const bool is_alike = std::equal(sequence.begin() + static_cast<ptrdiff_t>(begin),
                                     sequence.begin() + static_cast<ptrdiff_t>(begin + head),
                                     sequence.begin() + static_cast<ptrdiff_t>(step.begin));
    if (is_alike && (!best || distance(begin) < distance(*best))) best = begin;
  }
  return best;
}

std::optional<Candidate> from_kernels(const Tables& tables, const Selection& selection) {
  const Kernels& kernels = tables.kernels;
  const std::vector<uint32_t> rows = main_stream(kernels, selection, tables.lanes.size());
  std::vector<uint32_t> sequence;
  sequence.reserve(rows.size());
  for (const uint32_t row : rows) {
    sequence.push_back(tables.config(kernels.config[row]).name);
  }
  std::vector<Repeat> repeats = find_repeats(sequence);
  if (repeats.empty()) return std::nullopt;
  if (usual_length(repeats) == 1) {
    const OtherCalls others(tables, selection, rows[rows.size() / 2]);
    std::vector<Repeat> longer = others.repeats(rows, sequence);
    if (!longer.empty() && usual_length(longer) > 1) repeats = std::move(longer);
  }
  const size_t shift = best_shift(kernels, rows, repeats);
  std::vector<Repeat> steps;
  for (const Repeat& repeat : repeats) steps.push_back({repeat.begin + shift, repeat.end + shift});
  if (const auto first = step_before(sequence, steps.front())) {
    steps.insert(steps.begin(), {*first, steps.front().begin});
  }
  Candidate candidate;
  for (const auto& [begin, end] : steps) {
    if (end > rows.size()) break;
    // To where the next begins, so that a pause counts to the step before it.
    const bool is_last = end == rows.size();
    const int64_t end_ns = is_last ? kernels.end(rows[end - 1]) : kernels.start[rows[end]];
    const size_t count = candidate.spans.size();
    candidate.add({kernels.start[rows[begin]], end_ns});
    candidate.is_last_cut = is_last && candidate.spans.size() > count;
    if (candidate.label.empty()) {
      candidate.label = short_kernel_name(symbols::demangle(tables.name(sequence[begin])));
    }
  }
  if (candidate.spans.size() < kMinIterations) return std::nullopt;
  return candidate;
}

// Whether most of the GPU's work belongs to some step.
bool has_most_work(const Tables& tables, const Selection& selection, const Iterations& found) {
  const Kernels& kernels = tables.kernels;
  int64_t all_ns = 0;
  const RowRange rows = selection.rows(kernels);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    if (selection.includes(kernels, row)) all_ns = saturating_add(all_ns, kernels.duration[row]);
  }
  int64_t its_ns = 0;
  for (const Iteration& iteration : found.list) {
    its_ns = saturating_add(its_ns, iteration.kernel_ns);
  }
  return static_cast<double>(its_ns) >= kMostOfIt * static_cast<double>(all_ns);
}

// Whether `found` come many times within what the kernels show to be a step.
bool are_parts_of(const Iterations& found, const std::optional<Iterations>& sequence) {
  return sequence && sequence->coverage >= kMostOfIt * found.coverage &&
         found.list.size() >= 2 * sequence->list.size();
}

// The first ones that take much longer than the middle one of all.
void mark_warmups(Iterations& found) {
  constexpr double kMuchLonger = 1.5;
  if (found.list.size() <= kMinIterations) return;
  std::vector<int64_t> durations;
  for (const Iteration& iteration : found.list) {
    if (!iteration.is_cut) durations.push_back(iteration.span.length());
  }
  const double usual_ns = stats_of(std::span<int64_t>(durations)).median;
  const size_t most = std::min(found.list.size() / 4 + 1, found.list.size() - kMinIterations);
  while (found.warmups<most&& static_cast<double>(
             found.list[found.warmups].span.length())> kMuchLonger *
         usual_ns) {
    found.list[found.warmups++].is_warmup = true;
  }
}

// Kernels belong to the step in which they were asked for; those of a sequence to the one in which
// they ran.
Iterations finish(const SessionData& session, const AnalysisOptions& options,
                  const Selection& selection, IterationSource source, Candidate candidate) {
  Iterations out;
  out.source = source;
  out.label = std::move(candidate.label);
  out.scope_path = candidate.scope_path;
  const Intervals unrecorded = unrecorded_spans(session);
  for (const Interval& span : candidate.spans) {
    if (!clip(unrecorded, span).empty()) continue;
    const bool is_cut = candidate.is_last_cut && &span == &candidate.spans.back();
    out.list.push_back({span, 0, 0, false, is_cut});
  }

  const Kernels& kernels = session.tables.kernels;
  const bool is_of_calls = source != IterationSource::KernelSequence;
  const RowRange rows = selection.rows(kernels);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    if (!selection.includes(kernels, row)) continue;
    const int64_t time_ns = is_of_calls ? kernels.asked_at(row) : kernels.start[row];
    const auto after = std::upper_bound(
        out.list.begin(), out.list.end(), time_ns,
        [](int64_t t, const Iteration& iteration) { return t < iteration.span.start; });
    if (after == out.list.begin() || time_ns >= (after - 1)->span.end) continue;
    Iteration& iteration = *(after - 1);
    ++iteration.kernels;
    iteration.kernel_ns = saturating_add(iteration.kernel_ns, kernels.duration[row]);
  }
  mark_warmups(out);
  std::vector<int64_t> durations, kernel_times;
  for (const Iteration& iteration : out.list) {
    if (iteration.is_warmup) continue;
    if (!iteration.is_cut) durations.push_back(iteration.span.length());
    kernel_times.push_back(iteration.kernel_ns);
  }
  out.duration_ns = stats_of(std::span<int64_t>(durations));
  if (records_gpu_work(session)) {
    out.kernel_ns = stats_of(std::span<int64_t>(kernel_times));
  } else {
    out.kernel_ns = missing_gpu_work(session.summary);
  }
  const Intervals recorded = recorded_spans(session, options);
  const int64_t recorded_ns = total_length(recorded);
  out.coverage = recorded_ns <= 0
                     ? 0
                     : static_cast<double>(total_length(intersect(candidate.spans, recorded))) /
                           static_cast<double>(recorded_ns);
  return out;
}

}  // namespace

std::string_view to_string(IterationSource source) {
  switch (source) {
    case IterationSource::Scopes: return "scopes";
    case IterationSource::Markers: return "markers";
    case IterationSource::KernelSequence: return "kernel sequence";
  }
  return "?";
}

Figure<Iterations> find_iterations(const SessionData& session, const AnalysisOptions& options) {
  const Tables& tables = session.tables;
  const Selection selection(tables, options);
  std::optional<Iterations> sequence;
  // The kernels of a chosen scope are a piece of each step: what repeats among them is no step.
  auto found = options.scope.empty() ? from_kernels(tables, selection) : std::nullopt;
  if (found) {
    sequence =
        finish(session, options, selection, IterationSource::KernelSequence, std::move(*found));
    sequence->is_lower_bound = !lost_gpu_work(session.summary).empty();
    if (sequence->list.size() < kMinIterations) sequence.reset();
  }
  const auto accept = [&](IterationSource source, std::optional<Candidate> candidate) {
    std::optional<Iterations> found;
    if (!candidate) return found;
    found = finish(session, options, selection, source, std::move(*candidate));
    found->is_lower_bound = source == IterationSource::Scopes
                                ? lost_scopes(session.summary).has_value()
                                : lost_markers(session.summary).has_value();
    if (found->list.size() < kMinIterations || !has_most_work(tables, selection, *found) ||
        are_parts_of(*found, sequence)) {
      found.reset();
    }
    return found;
  };
  if (auto found = accept(IterationSource::Scopes, from_scopes(session, options, selection))) {
    return std::move(*found);
  }
  if (auto found = accept(IterationSource::Markers, from_markers(tables, selection))) {
    return std::move(*found);
  }
  if (!records_gpu_work(session)) return missing_gpu_work(session.summary);
  if (sequence && has_most_work(tables, selection, *sequence)) return std::move(*sequence);
  if (!options.scope.empty()) {
    return Unknown{"the chosen scopes are only a part of each step", "report all scopes"};
  }
  return Unknown{"nothing repeats: no scope, no range, no sequence of kernels",
                 "open a scope around each step"};
}

}  // namespace gpufl::analysis
