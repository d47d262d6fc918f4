// SPDX-License-Identifier: Apache-2.0
#include "export/perfetto.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "export/perfetto_sequence.hpp"
#include "timeline/arguments.hpp"
#include "timeline/run_axis.hpp"
#include "timeline/session_tracks.hpp"

namespace gpufl::exporting {
namespace {

// Fields of TrackDescriptor and what it holds, by Perfetto's published definitions.
constexpr uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8,
                   kChildOrdering = 11, kOrderRank = 12;
constexpr uint64_t kExplicitOrder = 3;

class SessionTracks {
 public:
  SessionTracks(const analysis::SessionData& session, int64_t offset_ns, int64_t pid,
                uint64_t first_flow, PerfettoTrace& trace, Progress& progress)
      : texts_(session),
        offset_ns_(offset_ns),
        pid_(pid),
        first_flow_(first_flow),
        trace_(trace),
        progress_(progress) {}

  void write() {
    describe_process();
    timeline::write_tracks(texts_, *this);
  }

  // Of write_tracks().
  void write_thread(const timeline::ThreadTrack& thread) {
    const std::string beside = thread.name() + ", overlapping";
    for (size_t i = 0; i < thread.rows.size(); ++i) {
      const uint64_t track = i == 0 ? thread_track(thread) : new_track(process_, beside);
      PerfettoSequence sequence(trace_, track, texts_);
      write_row(sequence, thread.rows[i],
                [&](std::span<const timeline::Slice> group) { begin_on_thread(sequence, group); });
    }
  }

  void write_stream_row(int64_t device, const std::string& name, const timeline::SliceRow& row) {
    PerfettoSequence sequence(trace_, new_track(device_track(device), name), texts_);
    write_row(sequence, row, [&](std::span<const timeline::Slice> group) {
      begin_on_stream(sequence, group.front());
    });
  }

  // Kernels, their multiprocessors and the groups of each block as tracks inside of tracks.
  void write_coverage(const std::string& name, const timeline::SliceRow& row) {
    PerfettoSequence sequence(trace_, new_track(process_, name), texts_);
    write_row(sequence, row,
              [&](std::span<const timeline::Slice> group) { begin_on_thread(sequence, group); });
  }

  void write_warp(const timeline::WarpTrack& warp) {
    uint64_t& kernel = kernels_[{warp.device, warp.kernel}];
    if (kernel == 0) kernel = new_track(device_track(warp.device), warp.kernel);
    uint64_t& sm = sms_[{kernel, warp.sm}];
    if (sm == 0) sm = new_track(kernel, warp.sm_name());
    for (const timeline::SliceRow& row : warp.rows) {
      PerfettoSequence sequence(trace_, new_track(sm, warp.name), texts_);
      write_row(sequence, row,
                [&](std::span<const timeline::Slice> group) { begin_on_thread(sequence, group); });
    }
  }

  void write_counter(const timeline::CounterTrack& counter) {
    uint64_t parent = process_;
    if (counter.of == timeline::CounterTrack::Of::Device) parent = device_track(counter.device);
    if (counter.of == timeline::CounterTrack::Of::Host) {
      if (host_ == 0) host_ = new_track(process_, "host");
      parent = host_;
    }
    const uint64_t uuid = trace_.new_uuid();
    ProtoBuffer track = descriptor(uuid, parent, counter.name);
    track.message(kCounter, ProtoBuffer());
    trace_.describe_track(track);
    PerfettoSequence sequence(trace_, uuid, texts_);
    for (const uint32_t row : counter.rows) {
      if (counter.hardware != nullptr) {
        sequence.counter(on_axis(counter.time(row)), counter.real_value(row));
      } else {
        sequence.counter(on_axis(counter.time(row)), counter.samples->value[row]);
      }
    }
    progress_.add(counter.rows.size());
  }

 private:
  ProtoBuffer descriptor(uint64_t uuid, uint64_t parent, std::string_view name) {
    ProtoBuffer track;
    track.varint(kUuid, uuid);
    if (parent != 0) track.varint(kParent, parent);
    if (!name.empty()) track.bytes(kName, name);
    // Siblings stay in the order in which they are written.
    track.varint(kChildOrdering, kExplicitOrder);
    track.varint(kOrderRank, ++rank_);
    return track;
  }

  uint64_t new_track(uint64_t parent, std::string_view name) {
    const uint64_t uuid = trace_.new_uuid();
    trace_.describe_track(descriptor(uuid, parent, name));
    return uuid;
  }

  void describe_process() {
    process_ = trace_.new_uuid();
    ProtoBuffer process;
    process.varint(1, static_cast<uint64_t>(pid_));
    const std::string& command = texts_.session().summary.header.command;
    if (!command.empty()) process.bytes(2, timeline::valid_utf8(command));
    process.bytes(6, texts_.process());
    ProtoBuffer track = descriptor(process_, 0, {});
    track.message(kProcess, process);
    trace_.describe_track(track);
  }

  uint64_t thread_track(const timeline::ThreadTrack& thread) {
    if (thread.thread <= 0) return new_track(process_, thread.name());
    const uint64_t uuid = trace_.new_uuid();
    ProtoBuffer fields;
    fields.varint(1, static_cast<uint64_t>(pid_));
    fields.varint(2, static_cast<uint64_t>(thread.thread));
    ProtoBuffer track = descriptor(uuid, process_, {});
    track.message(kThread, fields);
    trace_.describe_track(track);
    return uuid;
  }

  uint64_t device_track(int64_t device) {
    uint64_t& uuid = devices_[device];
    if (uuid == 0) uuid = new_track(process_, texts_.device(device));
    return uuid;
  }

  template <typename Begin>
  void write_row(PerfettoSequence& sequence, const timeline::SliceRow& row, Begin begin) {
    timeline::walk(
        row,
        [&](std::span<const timeline::Slice> group) {
          if (progress_.is_stopped()) return;
          begin(group);
          sequence.write(on_axis(group.front().start));
          progress_.add(group.size());
        },
        [&](const timeline::Slice& slice) { sequence.end_slice(on_axis(slice.end)); });
  }

  void describe(PerfettoSequence& sequence, const timeline::Slice& slice) {
    if (const uint64_t flow = timeline::flow_of(texts_.tables(), slice.kind, slice.row);
        flow != 0) {
      sequence.flow(first_flow_ + flow);
    }
    timeline::row_arguments(texts_, slice, sequence);
  }

  void begin_on_thread(PerfettoSequence& sequence, std::span<const timeline::Slice> group) {
    const timeline::Slice& first = group.front();
    if (timeline::is_instant(first.kind)) {
      sequence.begin_instant(timeline::slice_name(texts_, group),
                             timeline::category_of(first.kind));
    } else {
      sequence.begin(timeline::slice_name(texts_, group), timeline::category_of(first.kind));
    }
    for (const timeline::Slice& slice : group) describe(sequence, slice);
  }

  void begin_on_stream(PerfettoSequence& sequence, const timeline::Slice& slice) {
    const analysis::Tables& tables = texts_.tables();
    if (slice.kind == timeline::SliceKind::Kernel) {
      sequence.begin_kernel(tables.kernels.config[slice.row]);
    } else {
      sequence.begin(timeline::slice_name(texts_, {&slice, 1}), timeline::category_of(slice.kind));
    }
    describe(sequence, slice);
  }

  int64_t on_axis(int64_t time) const { return time + offset_ns_; }

  timeline::SessionTexts texts_;
  int64_t offset_ns_, pid_;
  uint64_t first_flow_;
  PerfettoTrace& trace_;
  Progress& progress_;
  uint64_t process_ = 0, host_ = 0;
  std::map<int64_t, uint64_t> devices_;                          // their tracks
  std::map<std::pair<int64_t, std::string>, uint64_t> kernels_;  // profiled inside
  std::map<std::pair<uint64_t, int64_t>, uint64_t> sms_;         // by the kernel's track
  uint64_t rank_ = 0;
};

}  // namespace

void write_perfetto(const analysis::RunData& run, OutputFile& out, Progress& progress) {
  const int64_t first_ns = timeline::first_time(run);
  const timeline::AxisClocks clocks = timeline::axis_clocks(run);
  PerfettoTrace trace(out, first_ns, std::max<int64_t>(clocks.monotonic_ns + first_ns, 0),
                      std::max<int64_t>(clocks.wall_ns + first_ns, 0));
  const std::vector<int64_t> pids = timeline::distinct_pids(run);
  uint64_t first_flow = 0;
  for (size_t i = 0; i < run.sessions.size(); ++i) {
    SessionTracks(run.sessions[i], timeline::offset_of(run, i), pids[i], first_flow, trace,
                  progress)
        .write();
    first_flow += timeline::flow_count(run.sessions[i].tables);
  }
}

}  // namespace gpufl::exporting
