// SPDX-License-Identifier: Apache-2.0
#include "workbench/kernel_report.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/code/kernel_name.hpp"
#include "analysis/figures/kernel_stalls.hpp"
#include "analysis/figures/missing.hpp"
#include "disassembly/disassemble_session.hpp"
#include "report/kernel_report.hpp"
#include "report/markdown_page.hpp"
#include "report/text_page.hpp"
#include "report/text_sections.hpp"
#include "symbols/demangle.hpp"
#include "text/display.hpp"
#include "text/glob.hpp"
#include "text/near_names.hpp"
#include "text/units.hpp"

namespace gpufl::workbench {
namespace {

using analysis::CountedFunction;
using analysis::KernelStalls;
using disassembly::DisassemblyFile;
using disassembly::KeptModule;
using disassembly::KernelCode;
using disassembly::ModuleNote;
using report::KernelReport;

// What ran or was sampled.
struct Candidate {
  std::string function;  // as the log has it
  std::string name;
  std::string label;  // as the report of the session calls it
  uint64_t launches = 0;
  double time_ns = 0;
  uint64_t samples = 0;
};

std::vector<Candidate> candidates_of(const analysis::SessionData& session,
                                     const std::vector<KernelStalls>& stalls,
                                     const std::vector<CountedFunction>& counts) {
  std::map<std::string, Candidate> found;
  const analysis::Tables& tables = session.tables;
  for (size_t row = 0; row < tables.kernels.rows(); ++row) {
    Candidate& candidate = found[tables.kernel_name(row)];
    ++candidate.launches;
    candidate.time_ns += static_cast<double>(std::max<int64_t>(tables.kernels.duration[row], 0));
    candidate.label =
        session.kernel_names().of(tables.config(tables.kernels.config[row]).name).short_name;
  }
  for (const KernelStalls& sampled : stalls) {
    // A function within a kernel's code belongs to that.
    if (!sampled.function.starts_with('$')) found[sampled.function].samples += sampled.samples;
  }
  for (const CountedFunction& counted : counts) {
    if (!counted.function.starts_with('$')) found.try_emplace(counted.function);
  }
  std::vector<Candidate> candidates;
  for (auto& [function, candidate] : found) {
    candidate.function = function;
    candidate.name = symbols::demangle(function);
    if (candidate.label.empty()) candidate.label = analysis::short_kernel_name(candidate.name);
    candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return std::pair(a.samples, a.time_ns) > std::pair(b.samples, b.time_ns);
  });
  return candidates;
}

template <typename Matches>
std::vector<const Candidate*> matching(const std::vector<Candidate>& candidates, Matches matches) {
  std::vector<const Candidate*> found;
  for (const Candidate& candidate : candidates) {
    if (matches(candidate.function) || matches(candidate.name) || matches(candidate.label)) {
      found.push_back(&candidate);
    }
  }
  return found;
}

// A line for each, which a shell takes as it is.
std::string listed(const std::vector<const Candidate*>& candidates) {
  constexpr size_t kMost = 10;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, candidates.size()); ++i) {
    const Candidate& one = *candidates[i];
    const auto alike = std::count_if(candidates.begin(), candidates.end(),
                                     [&](const auto* other) { return other->label == one.label; });
    text += "\n  --kernel " + text::shell_word(alike == 1 ? one.label : one.function);
  }
  if (candidates.size() > kMost) text += fmt::format("\n  ... {} more", candidates.size() - kMost);
  return text;
}

// The name itself before names that it matches, these before names that it is part of.
base::Result<const Candidate*> choose(const std::vector<Candidate>& candidates,
                                      const std::string& asked) {
  auto found = matching(candidates, [&](const std::string& name) { return name == asked; });
  if (found.empty()) {
    found = matching(candidates,
                     [&](const std::string& name) { return text::matches_glob(asked, name); });
  }
  if (found.empty()) {
    found = matching(candidates, [&](const std::string& name) {
      return text::matches_glob("*" + asked + "*", name);
    });
  }
  if (found.size() == 1) return found.front();
  if (!found.empty()) {
    return base::Status(
        base::Code::InvalidArgument,
        fmt::format("'{}' matches {} kernels; name one:{}", asked, found.size(), listed(found)));
  }
  if (candidates.empty()) {
    return base::Status(base::Code::NotFound,
                        fmt::format("it has no kernels, so none matches '{}'", asked));
  }
  std::vector<std::string> names;
  for (const Candidate& candidate : candidates) names.push_back(candidate.label);
  return base::Status(base::Code::NotFound,
                      fmt::format("none of its kernels matches '{}'; it has {}", asked,
                                  text::nearest_listed(asked, std::move(names))));
}

class Builder {
 public:
  Builder(const analysis::SessionData& session, const Candidate& kernel,
          const std::vector<KernelStalls>& stalls, const std::vector<CountedFunction>& counts,
          const KernelRequest& request, const analysis::AnalysisOptions& options)
      : session_(session),
        kernel_(kernel),
        stalls_(stalls),
        counts_(counts),
        request_(request),
        report_{session.summary,
                kernel.name,
                kernel.function,
                kernel.launches,
                kernel.time_ns,
                analysis::coverage(session, options),
                analysis::kernel_callers(session, options, kernel.function)} {}

  const KernelReport& build() {
    report_.passes = session_.passes.get();
    for (const KernelStalls& sampled : stalls_) {
      if (sampled.function != kernel_.function) continue;
      report_.samples.add(sampled.stalls);
      sampled_modules_.insert(sampled.module);
    }
    for (const CountedFunction& counted : counts_) {
      if (counted.function != kernel_.function) continue;
      report_.counts.add(counted.total);
      sampled_modules_.insert(counted.module);
    }
    const bool tells_samples =
        report_.counts.empty() || analysis::wants_samples(session_.sampled().summary);
    if (report_.samples.samples == 0 && tells_samples) say_no_samples();
    find_code();
    add_images();
    say_what_is_missing();
    report_.sources = file_.sources;
    report_.origins = file_.origins;
    return report_;
  }

 private:
  static bool is_of(const KernelCode& code, const std::string& function) {
    return code.name == function || code.find_routine(function) != nullptr;
  }

  // The images that a session kept, and what of them is the kernel.
  struct FoundCode {
    std::vector<KeptModule> modules;
    DisassemblyFile file;
    std::string no_tool;

    bool has_instructions() const {
      return std::any_of(file.kernels.begin(), file.kernels.end(),
                         [](const KernelCode& code) { return !code.instructions.empty(); });
    }
  };

  // Of several passes, the first that has the code; else the first that has any image.
  void find_code() {
    FoundCode best;
    std::set<std::filesystem::path> seen;
    for (const analysis::SessionData* const pass :
         {&session_.sampled(), &session_.counted(), &session_}) {
      if (!seen.insert(pass->summary.dir).second) continue;
      FoundCode found = code_in(pass->summary.dir);
      const bool is_better = found.has_instructions() || best.modules.empty();
      if (is_better) best = std::move(found);
      if (best.has_instructions()) break;
    }
    modules_ = std::move(best.modules);
    file_ = std::move(best.file);
    no_tool_ = std::move(best.no_tool);
  }

  FoundCode code_in(const std::filesystem::path& dir) const {
    FoundCode found;
    const auto reader = format::SessionReader::open(dir);
    if (!reader) return found;
    found.modules = disassembly::read_modules(*reader);
    auto kept = DisassemblyFile::read(
        dir, reader->header().session_id,
        [&](std::string_view, const std::string& name, const auto& routines) {
          return name == kernel_.function ||
                 std::any_of(routines.begin(), routines.end(),
                             [&](const auto& routine) { return routine.name == kernel_.function; });
        });
    if (kept) found.file = std::move(*kept);
    if (found.has_instructions()) return found;
    disassembly::DisassembleOptions options;
    const auto tool = find_nvdisasm(disassembly::nvdisasm_search(request_.nvdisasm));
    if (tool) options.tool.emplace(*tool);
    if (!tool) found.no_tool = tool.status().message();
    options.sources.enabled = request_.with_source;
    std::vector<KeptModule> wanted;
    for (const KeptModule& module : found.modules) {
      if (sampled_modules_.empty() || sampled_modules_.contains(module.id)) {
        wanted.push_back(module);
      }
    }
    const std::set<std::string, std::less<>> functions{kernel_.function};
    found.file = disassembly::disassemble(*reader, wanted, &functions, options);
    return found;
  }

  // Places in modules_ of the images of a checksum that have the kernel; the last one counts.
  std::vector<size_t> images_of(uint64_t id) const {
    std::vector<size_t> images;
    for (size_t i = 0; i < modules_.size(); ++i) {
      const std::string& hash = modules_[i].hash;
      const bool has_kernel =
          std::any_of(file_.kernels.begin(), file_.kernels.end(), [&](const KernelCode& code) {
            return code.module == hash && is_of(code, kernel_.function);
          });
      if (modules_[i].id == id && !hash.empty() && has_kernel) images.push_back(i);
    }
    return images;
  }

  void add_images() {
    std::map<std::string, std::set<uint64_t>, std::less<>>
        ids_of;  // by hash: whose samples it gets
    std::set<std::string, std::less<>> ambiguous;
    std::set<uint64_t> ids;
    for (const KeptModule& module : modules_) ids.insert(module.id);
    for (const uint64_t id : ids) {
      const std::vector<size_t> images = images_of(id);
      if (images.empty()) continue;
      const std::string& hash = modules_[images.back()].hash;
      ids_of[hash].insert(id);
      if (images.size() > 1) ambiguous.insert(hash);
    }
    for (const KernelCode& code : file_.kernels) {
      const auto module =
          std::find_if(file_.modules.begin(), file_.modules.end(),
                       [&](const ModuleNote& note) { return note.hash == code.module; });
      if (module == file_.modules.end() || !is_of(code, kernel_.function)) continue;
      std::vector<const KernelStalls*> stalls;
      uint64_t of_kernel = 0;
      for (const KernelStalls& sampled : stalls_) {
        if (!ids_of[code.module].contains(sampled.module) || !is_of(code, sampled.function)) {
          continue;
        }
        stalls.push_back(&sampled);
        if (sampled.function == kernel_.function) of_kernel += sampled.samples;
      }
      std::vector<const CountedFunction*> counts;
      for (const CountedFunction& counted : counts_) {
        if (ids_of[code.module].contains(counted.module) && is_of(code, counted.function)) {
          counts.push_back(&counted);
        }
      }
      if (!code.instructions.empty()) located_ += of_kernel;
      const auto ptx = file_.ptx.find(code.module);
      report_.images.push_back({&*module, &code, analysis::join_samples(code, stalls),
                                analysis::join_counts(code, counts),
                                ambiguous.contains(code.module),
                                ptx != file_.ptx.end() ? &ptx->second : nullptr});
    }
    std::stable_sort(
        report_.images.begin(), report_.images.end(),
        [](const auto& a, const auto& b) { return a.sampled.samples > b.sampled.samples; });
    report_.samples_without_code = report_.samples.samples - located_;
  }

  void miss(std::string what, std::string reason, std::string remedy) {
    report_.missing.emplace_back(std::move(what),
                                 analysis::Unknown{std::move(reason), std::move(remedy)});
  }

  void say_no_samples() {
    if (stalls_.empty()) {
      report_.missing.emplace_back("samples",
                                   analysis::missing_samples(session_.sampled().summary));
    } else {
      miss("samples", "no sampling window hit this kernel",
           "record for longer, or mark the scope around it as deep");
    }
  }

  void say_what_is_missing() {
    const bool has_code =
        std::any_of(report_.images.begin(), report_.images.end(),
                    [](const auto& image) { return !image.code->instructions.empty(); });
    if (!has_code || report_.samples_without_code > 0) say_why_no_code();
    if (!has_code) return;
    const bool has_lines =
        std::any_of(report_.images.begin(), report_.images.end(),
                    [](const auto& image) { return !image.code->chains.empty(); });
    if (!has_lines) {
      miss("lines", "the kernel was compiled without them",
           "compile it with -lineinfo, which does not change the code");
    } else if (request_.with_source && file_.sources.empty()) {
      miss("source text", "it was not stored, and the files do not exist",
           "gpufl disassemble --source-root DIR, where DIR contains them");
    }
  }

  void say_why_no_code() {
    std::string share;
    if (report_.samples.samples > 0) {
      share = fmt::format(" ({} of the samples)",
                          text::percent(static_cast<double>(report_.samples_without_code) /
                                        static_cast<double>(report_.samples.samples)));
    }
    if (modules_.empty()) {
      miss("code", "the session contains no code images" + share,
           "record with the engine PcSampling or SassMetrics");
      return;
    }
    bool is_said = false;
    for (const ModuleNote& note : file_.modules) {
      const bool is_concerned = sampled_modules_.empty() || sampled_modules_.contains(note.id);
      if (!is_concerned || note.state == "disassembled") continue;
      const auto [reason, remedy] = words_of(note);
      if (reason.empty()) continue;
      if (sampled_modules_.empty() && note.hash.empty()) continue;  // anybody's
      miss("code", reason + share, remedy);
      is_said = true;
      break;
    }
    if (!is_said) miss("code", "no code image of the session contains this kernel" + share, "");
  }

  std::pair<std::string, std::string> words_of(const ModuleNote& note) const {
    if (note.state == "no_tool") return {no_tool_, ""};
    if (note.state == "not_found") {
      return {"the image of its module could not be found while the program ran", ""};
    }
    if (note.state == "over_cap") {
      return {"the limit for code images left no room for its module", ""};
    }
    if (note.state == "no_file") {
      return {"the image of its module is not in the session's folder", "copy modules/ as well"};
    }
    return {note.detail.empty() ? note.state : note.detail, ""};
  }

  const analysis::SessionData& session_;
  const Candidate& kernel_;
  const std::vector<KernelStalls>& stalls_;
  const std::vector<CountedFunction>& counts_;
  const KernelRequest& request_;
  std::set<uint64_t> sampled_modules_;
  std::vector<KeptModule> modules_;
  DisassemblyFile file_;
  std::string no_tool_;
  uint64_t located_ = 0;
  KernelReport report_;
};

// As they are for what a pass of the session recorded, whose times are its own.
analysis::AnalysisOptions options_for(const analysis::SessionData& pass,
                                      const analysis::SessionData& session,
                                      analysis::AnalysisOptions options) {
  if (&pass != &session) options.window = pass.window;
  return options;
}

}  // namespace

base::Result<std::string> report_kernel(const analysis::SessionData& session,
                                        const KernelRequest& request,
                                        const analysis::AnalysisOptions& options, Format format,
                                        const report::TextOptions& text) {
  const analysis::SessionData &sampled = session.sampled(), &counted = session.counted();
  const std::vector<KernelStalls> stalls =
      analysis::kernel_stalls(sampled.tables, options_for(sampled, session, options));
  const std::vector<CountedFunction> counts =
      analysis::counted_functions(counted.tables, options_for(counted, session, options));
  const std::vector<Candidate> candidates = candidates_of(session, stalls, counts);
  const auto kernel = choose(candidates, request.kernel);
  if (!kernel) return kernel.status();
  Builder builder(session, **kernel, stalls, counts, request, options);
  const KernelReport& made = builder.build();
  if (format == Format::Json) return report::json_kernel_report(made, request.with_source);
  if (format == Format::Markdown) {
    report::MarkdownPage page;
    report::write_kernel(page, made, text, request.with_source);
    return page.text();
  }
  report::TextPage page(report::width_of(text), text.has_color);
  report::write_kernel(page, made, text, request.with_source);
  return page.text();
}

}  // namespace gpufl::workbench
