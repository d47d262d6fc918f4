// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/group.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

#include "analysis/compare/change.hpp"
#include "analysis/compare/repeat_builder.hpp"
#include "analysis/figures/iterations.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/session/passes.hpp"
#include "analysis/session/session_copies.hpp"
#include "format/session_reader.hpp"
#include "text/units.hpp"

namespace gpufl::analysis::compare {

bool Group::is_budgeted() const {
  return std::any_of(repeats.begin(), repeats.end(), std::mem_fn(&Repeat::is_budgeted));
}

namespace {

namespace fs = std::filesystem;

struct Found {
  fs::path dir;
  format::SessionHeader header;
};

// Passes of one run are one recording of the program: of each run, the one that says most about its
// times stays.
void leave_one_pass(std::vector<Found>& found, Group& group) {
  std::map<std::string, std::vector<format::SessionHeader>> runs;
  for (const Found& session : found) {
    if (is_pass(session.header)) runs[session.header.run_id].push_back(session.header);
  }
  for (const auto& [run, headers] : runs) {
    const auto compared = static_cast<int64_t>(passes_by_cost(headers).front()) + 1;
    const size_t before = found.size();
    std::erase_if(found, [&, &its_run = run](const Found& session) {
      return is_pass(session.header) && session.header.run_id == its_run &&
             session.header.pass != compared;
    });
    if (found.size() == before) continue;
    const std::vector<std::string>& engines = headers.front().passes;
    group.cut.push_back(fmt::format("{} ran in {} passes: pass {}, {}, is compared", run,
                                    engines.size(), compared,
                                    engines[static_cast<size_t>(compared - 1)]));
  }
}

std::vector<Found> find_all(std::span<const fs::path> paths, Group& group) {
  std::vector<Found> found;
  std::set<fs::path> seen;
  SessionCopies copies;
  for (const fs::path& path : paths) {
    const std::vector<fs::path> sessions = format::find_sessions(path);
    if (sessions.empty()) {
      group.problems.push_back(fmt::format("{}: there is no session in it", path.string()));
    }
    for (const fs::path& dir : sessions) {
      // One that was named twice is still one.
      std::error_code ignored;
      if (!seen.insert(fs::weakly_canonical(dir, ignored)).second) continue;
      const auto reader = format::SessionReader::open(dir);
      if (!reader) {
        group.problems.push_back(fmt::format("{}: {}", dir.string(), reader.status().message()));
        continue;
      }
      const format::SessionHeader& header = reader->header();
      if (copies.is_copy(header, dir)) continue;
      found.push_back({dir, header});
    }
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::tie(a.header.run_id, a.header.start_wall_ns, a.dir) <
           std::tie(b.header.run_id, b.header.start_wall_ns, b.dir);
  });
  leave_one_pass(found, group);
  group.copies = copies.notes();
  return found;
}

bool are_of_one_launch(const Found& a, int64_t a_end_wall_ns, const Found& b) {
  const std::string& run = a.header.run_id;
  if (run.empty() || run != b.header.run_id) return false;
  const fs::path folder = a.dir.parent_path();
  return (folder == b.dir.parent_path() && folder.filename() == run) ||
         b.header.start_wall_ns < a_end_wall_ns;
}

// How a session is cut, and what is said of it.
struct Cut {
  std::vector<Interval> parts;
  std::string how;
};

// Of those that have enough parts for a proof, the number that leaves the fewest iterations out;
// of several such the largest.
size_t parts_of_half(size_t iterations) {
  size_t best = std::min(kPartsOfHalf, iterations / 2);
  for (size_t parts = best; parts >= kMinRepeats; --parts) {
    if (iterations % (2 * parts) < iterations % (2 * best)) best = parts;
  }
  return best;
}

Cut cut_between(const Iterations& iterations) {
  const std::span list = std::span(iterations.list).subspan(iterations.warmups);
  const size_t count = 2 * parts_of_half(list.size());
  const size_t each = list.size() / count;
  // What does not fit is left out at the beginning, where programs warm up.
  const size_t left_out = list.size() % count;
  Cut cut;
  for (size_t first = left_out; first < list.size(); first += each) {
    const size_t next = first + each;
    const int64_t end = next < list.size() ? list[next].span.start : list.back().span.end;
    cut.parts.push_back({list[first].span.start, end});
  }
  cut.how = fmt::format("Cut between iterations ({}{}), {} to a part", to_string(iterations.source),
                        iterations.label.empty() ? "" : ": " + iterations.label, each);
  if (const size_t skipped = iterations.warmups + left_out; skipped > 0) {
    cut.how += fmt::format("; the first {} left out",
                           skipped == 1 ? "is" : fmt::format("{} are", skipped));
  }
  cut.how += ".";
  return cut;
}

base::Result<Cut> cut_into_equal_times(const SessionData& session, std::string_view why) {
  constexpr int64_t kParts = 2 * kPartsOfHalf;
  const Kernels& kernels = session.tables.kernels;
  if (kernels.rows() < static_cast<size_t>(kParts)) {
    return base::Status(
        base::Code::InvalidArgument,
        records_gpu_work(session)
            ? fmt::format("it cannot be cut into halves: {}, and fewer than {} kernels are too few "
                          "to be cut by time",
                          why, kParts)
            : fmt::format("it cannot be cut into halves: {}, and {}", why,
                          missing_gpu_work(session.summary).reason));
  }
  const int64_t first = kernels.start.front();
  const int64_t step = (kernels.start.back() - first) / kParts + 1;
  Cut cut;
  for (int64_t part = 0; part < kParts; ++part) {
    cut.parts.push_back({first + part * step, first + (part + 1) * step});
  }
  cut.how = fmt::format(
      "Cut into equal times, because {}: where the program does different things one after the "
      "other, its halves differ.",
      why);
  return cut;
}

base::Result<Cut> cut_of(const SessionData& session) {
  const auto iterations = find_iterations(session, {});
  if (!iterations) return cut_into_equal_times(session, "no iterations were found");
  if (iterations->list.size() < 2 + iterations->warmups) {
    return cut_into_equal_times(session, "fewer than two iterations are left after warming up");
  }
  return cut_between(*iterations);
}

}  // namespace

base::Result<Group> load_group(std::string label, std::span<const fs::path> paths,
                               const LoadOptions& options) {
  Group group;
  group.label = std::move(label);
  std::optional<RepeatBuilder> builder;
  const Found* last = nullptr;
  int64_t end_wall_ns = 0;
  const auto finish = [&] {
    if (builder) group.repeats.push_back(builder->finish());
    builder.reset();
  };
  const std::vector<Found> all = find_all(paths, group);
  for (const Found& found : all) {
    const auto session = load(found.dir, options);
    if (!session && session.status().code() == base::Code::Cancelled) return session.status();
    if (!session) {
      group.problems.push_back(
          fmt::format("{}: {}", found.dir.string(), session.status().message()));
      continue;
    }
    if (last == nullptr || !are_of_one_launch(*last, end_wall_ns, found)) {
      finish();
      end_wall_ns = 0;
    }
    if (!builder) builder.emplace();
    builder->add(*session, session->window);
    if (session->window) {
      group.cut.push_back(fmt::format("{} is too large as a whole: only {} to {} of it is compared",
                                      found.dir.string(),
                                      text::duration(static_cast<double>(session->window->start)),
                                      text::duration(static_cast<double>(session->window->end))));
    }
    last = &found;
    end_wall_ns = std::max(end_wall_ns, found.header.start_wall_ns + session->summary.duration_ns);
  }
  finish();
  std::sort(group.repeats.begin(), group.repeats.end(), [](const Repeat& a, const Repeat& b) {
    return std::tie(a.start_wall_ns, a.name) < std::tie(b.start_wall_ns, b.name);
  });
  return group;
}

base::Result<std::pair<Group, Group>> halves_of(const SessionData& session) {
  const base::Result<Cut> cut = cut_of(session);
  if (!cut) return cut.status();
  const std::vector<Interval>& parts = cut->parts;
  std::pair<Group, Group> halves;
  halves.first.label = "first half";
  halves.second.label = "second half";
  for (Group* half : {&halves.first, &halves.second}) {
    half->is_of_one_session = true;
    half->parts = cut->how;
  }
  for (size_t part = 0; part < parts.size(); ++part) {
    RepeatBuilder builder;
    builder.add(session, parts[part]);
    Repeat repeat = builder.finish();
    repeat.start_wall_ns = session.summary.header.start_wall_ns + parts[part].start;
    repeat.end_wall_ns = session.summary.header.start_wall_ns + parts[part].end;
    (part < parts.size() / 2 ? halves.first : halves.second).repeats.push_back(std::move(repeat));
  }
  return halves;
}

}  // namespace gpufl::analysis::compare
