// SPDX-License-Identifier: Apache-2.0
#include "export/pprof.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export/frame_texts.hpp"
#include "export/proto_buffer.hpp"
#include "export/stack_profile.hpp"
#include "export/stall_profile.hpp"
#include "timeline/run_axis.hpp"
#include "timeline/session_texts.hpp"

namespace gpufl::exporting {
namespace {

// Field numbers of pprof's published profile.proto.
namespace profile {
constexpr uint32_t kSampleType = 1, kSample = 2, kMapping = 3, kLocation = 4, kFunction = 5,
                   kString = 6, kTimeNanos = 9, kDurationNanos = 10, kDefaultSampleType = 14;
}
namespace sample {
constexpr uint32_t kLocation = 1, kValue = 2, kLabel = 3;
}
namespace location {
constexpr uint32_t kId = 1, kMapping = 2, kAddress = 3, kLine = 4;
}
namespace function {
constexpr uint32_t kId = 1, kName = 2, kSystemName = 3, kFile = 4;
}
namespace mapping {
constexpr uint32_t kId = 1, kFile = 5, kHasFunctions = 7;
}

class ProfileBuilder {
 public:
  // `has_stalls`: samples of the program counter are a fifth value, of stacks of their own.
  explicit ProfileBuilder(bool has_stalls) : has_stalls_(has_stalls) {
    text({});  // the first string is empty
    std::vector<std::pair<const char*, const char*>> types = {{"gpu_time", "nanoseconds"},
                                                              {"kernels", "count"},
                                                              {"wait_time", "nanoseconds"},
                                                              {"waits", "count"}};
    if (has_stalls) types.emplace_back("stall_samples", "count");
    for (const auto& [type, unit] : types) {
      ProtoBuffer value_type;
      value_type.varint(1, text(type));
      value_type.varint(2, text(unit));
      profile_.message(profile::kSampleType, value_type);
    }
    profile_.varint(profile::kDefaultSampleType, text("gpu_time"));
  }

  void add(const timeline::SessionTexts& texts, Progress& progress) {
    for (const StackSample& sample : stack_samples(texts)) {
      if (progress.is_stopped()) return;
      add_sample(texts, sample);
      progress.add(sample.count);
    }
    for (const StallStack& stack : stall_stacks(texts)) add_stalls(texts, stack);
    progress.add(stall_rows(texts.tables()));
  }

  void write(OutputFile& out, int64_t start_wall_ns, int64_t duration_ns) {
    profile_.varint(profile::kTimeNanos, static_cast<uint64_t>(start_wall_ns));
    profile_.varint(profile::kDurationNanos, static_cast<uint64_t>(duration_ns));
    out.write(profile_.view());
    // Strings last: everything before may have added some.
    ProtoBuffer strings;
    for (const std::string* text : strings_) strings.bytes(profile::kString, *text);
    out.write(strings.view());
  }

 private:
  uint64_t text(std::string_view value) {
    const auto [known, is_new] = string_ids_.try_emplace(std::string(value), strings_.size());
    if (is_new) strings_.push_back(&known->first);
    return known->second;
  }

  void add_sample(const timeline::SessionTexts& texts, const StackSample& from) {
    ProtoBuffer fields;
    const auto& stack = texts.session().code.frames(from.stack);
    for (const symbols::CodeFrame& frame : stack) {
      fields.varint(sample::kLocation, location_of(frame));
    }
    if (stack.empty()) fields.varint(sample::kLocation, location_of(unknown_));
    const bool is_wait = from.wait != 0;
    for (const uint64_t value :
         {static_cast<uint64_t>(from.gpu_ns), is_wait ? 0 : from.count,
          static_cast<uint64_t>(from.blocked_ns), is_wait ? from.count : 0}) {
      fields.varint(sample::kValue, value);
    }
    if (has_stalls_) fields.varint(sample::kValue, 0);
    if (is_wait) {
      add_label(fields, "call", texts.wait(from.wait - 1));
    } else {
      add_label(fields, "kernel", texts.kernel(from.config));
    }
    if (from.path != 0) add_label(fields, "scope", texts.path_text(from.path));
    add_rank(texts, fields);
    profile_.message(profile::kSample, fields);
  }

  void add_stalls(const timeline::SessionTexts& texts, const StallStack& from) {
    ProtoBuffer fields;
    for (auto name = from.frames.rbegin(); name != from.frames.rend(); ++name) {
      symbols::CodeFrame frame;
      frame.function = *name;
      fields.varint(sample::kLocation, location_of(frame));
    }
    for (const uint64_t value :
         {uint64_t{0}, uint64_t{0}, uint64_t{0}, uint64_t{0}, from.samples}) {
      fields.varint(sample::kValue, value);
    }
    add_rank(texts, fields);
    profile_.message(profile::kSample, fields);
  }

  void add_rank(const timeline::SessionTexts& texts, ProtoBuffer& fields) {
    if (const auto& rank = texts.session().summary.header.rank) {
      add_label(fields, "rank", std::to_string(*rank));
    }
  }

  void add_label(ProtoBuffer& to, std::string_view key, std::string_view value) {
    ProtoBuffer label;
    label.varint(1, text(key));
    label.varint(2, text(value));
    to.message(sample::kLabel, label);
  }

  uint64_t location_of(const symbols::CodeFrame& frame) {
    const uint64_t function = function_of(frame_name(frame), timeline::valid_utf8(frame.file));
    const uint64_t mapping =
        frame.module.empty() ? 0 : mapping_of(timeline::valid_utf8(frame.module));
    const auto [known, is_new] =
        locations_.try_emplace({function, static_cast<uint64_t>(frame.line), mapping, frame.offset},
                               locations_.size() + 1);
    if (is_new) {
      ProtoBuffer line;
      line.varint(1, function);
      if (frame.line > 0) line.varint(2, static_cast<uint64_t>(frame.line));
      ProtoBuffer fields;
      fields.varint(location::kId, known->second);
      if (mapping != 0) fields.varint(location::kMapping, mapping);
      if (frame.offset != 0) fields.varint(location::kAddress, frame.offset);
      fields.message(location::kLine, line);
      profile_.message(profile::kLocation, fields);
    }
    return known->second;
  }

  uint64_t function_of(const std::string& name, const std::string& file) {
    const auto [known, is_new] = functions_.try_emplace({name, file}, functions_.size() + 1);
    if (is_new) {
      ProtoBuffer fields;
      fields.varint(function::kId, known->second);
      fields.varint(function::kName, text(name));
      fields.varint(function::kSystemName, text(name));
      if (!file.empty()) fields.varint(function::kFile, text(file));
      profile_.message(profile::kFunction, fields);
    }
    return known->second;
  }

  uint64_t mapping_of(const std::string& module) {
    const auto [known, is_new] = mappings_.try_emplace(module, mappings_.size() + 1);
    if (is_new) {
      ProtoBuffer fields;
      fields.varint(mapping::kId, known->second);
      fields.varint(mapping::kFile, text(module));
      // So that pprof does not look for symbols itself, on a machine that may not have the file.
      fields.varint(mapping::kHasFunctions, 1);
      profile_.message(profile::kMapping, fields);
    }
    return known->second;
  }

  static symbols::CodeFrame unknown_frame() {
    symbols::CodeFrame frame;
    frame.function = kNoStack;
    return frame;
  }

  bool has_stalls_;
  ProtoBuffer profile_;
  std::unordered_map<std::string, uint64_t> string_ids_;
  std::vector<const std::string*> strings_;  // keys of string_ids_, by id
  std::map<std::array<uint64_t, 4>, uint64_t> locations_;
  std::map<std::pair<std::string, std::string>, uint64_t> functions_;
  std::map<std::string, uint64_t> mappings_;
  const symbols::CodeFrame unknown_ = unknown_frame();
};

}  // namespace

void write_pprof(const analysis::RunData& run, OutputFile& out, Progress& progress) {
  const bool has_stalls = std::any_of(
      run.sessions.begin(), run.sessions.end(),
      [](const analysis::SessionData& session) { return stall_rows(session.tables) > 0; });
  ProfileBuilder builder(has_stalls);
  int64_t duration_ns = 0;
  for (size_t i = 0; i < run.sessions.size(); ++i) {
    builder.add(timeline::SessionTexts(run.sessions[i]), progress);
    duration_ns =
        std::max(duration_ns, run.sessions[i].summary.duration_ns + timeline::offset_of(run, i));
  }
  builder.write(out, timeline::axis_clocks(run).wall_ns, duration_ns);
}

}  // namespace gpufl::exporting
