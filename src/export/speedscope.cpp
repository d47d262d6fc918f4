// SPDX-License-Identifier: Apache-2.0
#include "export/speedscope.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/math/saturating.hpp"
#include "base/json.hpp"
#include "export/frame_texts.hpp"
#include "export/json_text.hpp"
#include "export/stack_profile.hpp"
#include "export/stall_profile.hpp"
#include "timeline/run_axis.hpp"
#include "timeline/session_texts.hpp"
#include "timeline/timeline.hpp"

namespace gpufl::exporting {
namespace {

using base::append_json_string;

// What profiles share: each place has one number.
class Frames {
 public:
  uint32_t add(std::string name, std::string file = {}, int64_t line = 0) {
    const auto [known, is_new] =
        ids_.try_emplace({std::move(name), std::move(file), line}, ids_.size());
    if (is_new) append(known->first);
    return known->second;
  }
  uint32_t add(const symbols::CodeFrame& frame) {
    return add(frame_name(frame), timeline::valid_utf8(frame.file), frame.line);
  }
  const std::string& text() const { return text_; }

 private:
  using Key = std::tuple<std::string, std::string, int64_t>;

  void append(const Key& frame) {
    const auto& [name, file, line] = frame;
    text_ += text_.empty() ? "\n{\"name\":" : ",\n{\"name\":";
    append_json_string(text_, name);
    if (!file.empty()) {
      text_ += ",\"file\":";
      append_json_string(text_, file);
    }
    if (line > 0) {
      text_ += ",\"line\":";
      append_number(text_, line);
    }
    text_ += '}';
  }

  std::map<Key, uint32_t> ids_;
  std::string text_;
};

void append_list(std::string& out, const std::vector<std::string>& items) {
  out += '[';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i != 0) out += ',';
    out += items[i];
  }
  out += ']';
}

class SessionProfiles {
 public:
  SessionProfiles(const analysis::SessionData& session, int64_t offset_ns, bool is_one_of_several,
                  Frames& frames, std::vector<std::string>& profiles, Progress& progress)
      : texts_(session),
        offset_ns_(offset_ns),
        prefix_(is_one_of_several ? texts_.process() + ": " : ""),
        frames_(frames),
        profiles_(profiles),
        progress_(progress) {}

  void add() {
    const std::vector<StackSample> samples = stack_samples(texts_);
    const auto is_kernel = [](const StackSample& sample) { return sample.config != 0; };
    const auto is_wait = [](const StackSample& sample) { return sample.wait != 0; };
    const auto gpu_ns = [](const StackSample& sample) { return sample.gpu_ns; };
    const auto blocked_ns = [](const StackSample& sample) { return sample.blocked_ns; };
    const auto by_scope = [this](const StackSample& sample) { return scope_frames(sample); };
    const auto by_stack = [this](const StackSample& sample) { return stack_frames(sample); };
    add_sampled("GPU time by scope", samples, is_kernel, by_scope, gpu_ns);
    add_sampled("GPU time by CPU stack", samples, is_kernel, by_stack, gpu_ns);
    add_sampled("blocked time by CPU stack", samples, is_wait, by_stack, blocked_ns);
    for (const StackSample& sample : samples) progress_.add(sample.count);
    add_stalls();
    add_threads();
  }

 private:
  using FrameIds = std::vector<uint32_t>;  // outermost first

  struct Weights {
    std::vector<std::string> stacks, values;
    int64_t total = 0;

    void add(const FrameIds& frames, int64_t weight) {
      std::vector<std::string> ids;
      for (const uint32_t frame : frames) ids.push_back(std::to_string(frame));
      append_list(stacks.emplace_back(), ids);
      values.push_back(std::to_string(weight));
      total = analysis::saturating_add(total, weight);
    }
  };

  std::string head(std::string_view type, std::string_view name, int64_t start, int64_t end,
                   std::string_view unit = "nanoseconds") const {
    std::string text = "\n{\"type\":\"" + std::string(type) + "\",\"name\":";
    append_json_string(text, prefix_ + std::string(name));
    text += ",\"unit\":\"" + std::string(unit) + "\",\"startValue\":";
    append_number(text, start);
    text += ",\"endValue\":";
    append_number(text, end);
    return text;
  }

  template <typename Wanted, typename FramesOf, typename WeightOf>
  void add_sampled(std::string_view name, const std::vector<StackSample>& samples, Wanted wanted,
                   FramesOf frames_of, WeightOf weight_of) {
    Weights weights;
    for (const StackSample& sample : samples) {
      if (wanted(sample)) weights.add(frames_of(sample), weight_of(sample));
    }
    add_weights(name, weights, "nanoseconds");
  }

  // Of what warps were at, by scope, kernel, instruction and stall reason.
  void add_stalls() {
    Weights weights;
    for (const StallStack& stack : stall_stacks(texts_)) {
      FrameIds frames;
      for (const std::string& frame : stack.frames) frames.push_back(frames_.add(frame));
      weights.add(frames, static_cast<int64_t>(stack.samples));
    }
    progress_.add(stall_rows(texts_.tables()));
    add_weights("samples by stall", weights, "none");
  }

  void add_weights(std::string_view name, const Weights& weights, std::string_view unit) {
    if (weights.stacks.empty()) return;
    std::string profile = head("sampled", name, 0, weights.total, unit);
    profile += ",\"samples\":";
    append_list(profile, weights.stacks);
    profile += ",\"weights\":";
    append_list(profile, weights.values);
    profiles_.push_back(profile + "}");
  }

  FrameIds scope_frames(const StackSample& sample) {
    FrameIds frames;
    for (uint32_t path = sample.path; path != 0; path = texts_.path_parent(path)) {
      frames.push_back(frame_of_path(path));
    }
    std::reverse(frames.begin(), frames.end());
    if (frames.empty()) frames.push_back(frames_.add("(in no scope)"));
    frames.push_back(frames_.add(texts_.kernel(sample.config)));
    return frames;
  }

  FrameIds stack_frames(const StackSample& sample) {
    FrameIds frames;
    const auto& stack = texts_.session().code.frames(sample.stack);
    for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
      frames.push_back(frames_.add(*frame));
    }
    if (frames.empty()) frames.push_back(frames_.add(kNoStack));
    frames.push_back(frames_.add(sample.config != 0 ? texts_.kernel(sample.config)
                                                    : texts_.wait(sample.wait - 1)));
    return frames;
  }

  // Scopes alone: what else a thread did is for a timeline.
  void add_threads() {
    const timeline::Timeline timeline = scope_timeline();
    for (const timeline::ThreadTrack& thread : timeline.threads) {
      for (size_t i = 0; i < thread.rows.size(); ++i) {
        add_thread(
            "scopes of thread " + std::to_string(thread.thread) + (i == 0 ? "" : ", overlapping"),
            thread.rows[i]);
      }
    }
  }

  timeline::Timeline scope_timeline() const {
    analysis::Tables scopes;
    scopes.scopes = texts_.tables().scopes;
    return timeline::Timeline(scopes);
  }

  void add_thread(const std::string& name, const timeline::SliceRow& row) {
    int64_t end = 0;
    std::string events;
    const auto event = [&](char type, int64_t time, const timeline::Slice& slice) {
      const uint32_t path = texts_.scope_path(slice.row);
      events += events.empty() ? "{\"type\":\"" : ",{\"type\":\"";
      events += type;
      events += "\",\"frame\":";
      append_number(events, frame_of_path(path));
      events += ",\"at\":";
      append_number(events, time + offset_ns_);
      events += '}';
    };
    timeline::walk(
        row,
        [&](std::span<const timeline::Slice> group) {
          if (progress_.is_stopped()) return;
          event('O', group.front().start, group.front());
          progress_.add(1);
        },
        [&](const timeline::Slice& slice) {
          event('C', slice.end, slice);
          end = std::max(end, slice.end);
        });
    profiles_.push_back(head("evented", name, row.front().start + offset_ns_, end + offset_ns_) +
                        ",\"events\":[" + events + "]}");
  }

  uint32_t frame_of_path(uint32_t path) {
    const auto [known, is_new] = path_frames_.try_emplace(path);
    if (is_new) known->second = frames_.add(texts_.path_scope(path));
    return known->second;
  }

  timeline::SessionTexts texts_;
  int64_t offset_ns_;
  std::string prefix_;
  Frames& frames_;
  std::vector<std::string>& profiles_;
  Progress& progress_;
  std::unordered_map<uint32_t, uint32_t> path_frames_;
};

}  // namespace

void write_speedscope(const analysis::RunData& run, OutputFile& out, Progress& progress) {
  Frames frames;
  std::vector<std::string> profiles;
  for (size_t i = 0; i < run.sessions.size(); ++i) {
    SessionProfiles(run.sessions[i], timeline::offset_of(run, i), run.sessions.size() > 1, frames,
                    profiles, progress)
        .add();
  }
  std::string name;
  append_json_string(name, run.sessions.empty() ? run.id : run.sessions[0].summary.header.app_name);
  out.write("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":" + name +
            ",\"exporter\":\"gpufl\",\"activeProfileIndex\":0,\"shared\":{\"frames\":[");
  out.write(frames.text());
  out.write("]},\"profiles\":[");
  for (size_t i = 0; i < profiles.size(); ++i) {
    if (i != 0) out.write(",");
    out.write(profiles[i]);
  }
  out.write("\n]}\n");
}

}  // namespace gpufl::exporting
