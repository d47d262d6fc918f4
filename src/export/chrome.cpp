// SPDX-License-Identifier: Apache-2.0
#include "export/chrome.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "export/json_text.hpp"
#include "timeline/arguments.hpp"
#include "timeline/run_axis.hpp"
#include "timeline/session_tracks.hpp"

namespace gpufl::exporting {
namespace {

using base::append_json_string;

// Members of an event's "args".
class JsonArguments {
 public:
  JsonArguments(const timeline::SessionTexts& texts, std::string& out) : texts_(texts), out_(out) {}

  void integer(timeline::Arg arg, int64_t value) {
    key(arg);
    append_number(out_, value);
  }
  // A string: readers hold numbers as doubles, which lose the last digits of 64 bits.
  void id(timeline::Arg arg, uint64_t value) {
    key(arg);
    out_ += '"';
    append_number(out_, value);
    out_ += '"';
  }
  void real(timeline::Arg arg, double value) {
    key(arg);
    append_real(out_, value);
  }
  void text(timeline::Arg arg, std::string_view value) {
    key(arg);
    append_json_string(out_, value);
  }
  void name(timeline::Arg arg, uint32_t name) { where_known(arg, texts_.name(name)); }
  void path(timeline::Arg arg, uint32_t path) { text(arg, texts_.path_text(path)); }
  void site(timeline::Arg arg, uint32_t stack) { where_known(arg, texts_.site(stack)); }

 private:
  void where_known(timeline::Arg arg, std::string_view value) {
    if (!value.empty()) text(arg, value);
  }
  void key(timeline::Arg arg) {
    if (out_.back() != '{') out_ += ',';
    out_ += '"';
    out_ += to_string(arg);
    out_ += "\":";
  }

  const timeline::SessionTexts& texts_;
  std::string& out_;
};

// Events one by one, with what stands between them.
class EventWriter {
 public:
  explicit EventWriter(OutputFile& out) : out_(out) {}

  // The text of the next event; write() puts it out.
  std::string& begin(char phase, int64_t pid, int64_t tid) {
    line_ = is_first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
    is_first_ = false;
    line_ += phase;
    line_ += "\",\"pid\":";
    append_number(line_, pid);
    line_ += ",\"tid\":";
    append_number(line_, tid);
    return line_;
  }
  void write() {
    line_ += '}';
    out_.write(line_);
  }
  void metadata(std::string_view what, int64_t pid, int64_t tid, std::string_view name,
                int64_t order) {
    const std::string owner = std::string(what);
    std::string& event = begin('M', pid, tid);
    event += ",\"name\":\"" + owner + "_name\",\"args\":{\"name\":";
    append_json_string(event, name);
    event += '}';
    write();
    begin('M', pid, tid) += ",\"name\":\"" + owner + "_sort_index\",\"args\":{\"sort_index\":";
    append_number(line_, order);
    line_ += '}';
    write();
  }

 private:
  OutputFile& out_;
  std::string line_;
  bool is_first_ = true;
};

void append_time(std::string& event, std::string_view key, int64_t ns) {
  event += ",\"";
  event += key;
  event += "\":";
  append_microseconds(event, ns);
}

void append_text(std::string& event, std::string_view key, std::string_view text) {
  event += ",\"";
  event += key;
  event += "\":";
  append_json_string(event, text);
}

class SessionEvents {
 public:
  SessionEvents(const analysis::SessionData& session, int64_t offset_ns, int64_t pid,
                int64_t& free_pid, uint64_t first_flow, EventWriter& events, Progress& progress)
      : texts_(session),
        offset_ns_(offset_ns),
        pid_(pid),
        free_pid_(free_pid),
        first_flow_(first_flow),
        events_(events),
        progress_(progress) {}

  void write() {
    events_.metadata("process", pid_, 0, texts_.process(), pid_);
    timeline::write_tracks(texts_, *this);
  }

  // Of write_tracks().
  void write_thread(const timeline::ThreadTrack& thread) {
    const std::string name = thread.name();
    int64_t tid = thread.thread;
    for (size_t i = 0; i < thread.rows.size(); ++i) {
      if (i != 0) tid = free_tid_++;
      events_.metadata("thread", pid_, tid, i == 0 ? name : name + ", overlapping", ++order_);
      write_row(thread.rows[i], pid_, tid);
    }
  }

  void write_stream_row(int64_t on_device, const std::string& name, const timeline::SliceRow& row) {
    Device& owner = device(on_device);
    const int64_t tid = ++owner.last_tid;
    events_.metadata("thread", owner.pid, tid, name, tid);
    write_row(row, owner.pid, tid);
  }

  void write_coverage(const std::string& name, const timeline::SliceRow& row) {
    const int64_t tid = free_tid_++;
    events_.metadata("thread", pid_, tid, name, ++order_);
    write_row(row, pid_, tid);
  }

  // A kernel is a process, below its device; each group of each block a thread.
  void write_warp(const timeline::WarpTrack& warp) {
    Device& kernel = kernels_[{warp.device, warp.kernel}];
    if (kernel.pid == 0) {
      kernel.pid = free_pid_++;
      events_.metadata("process", kernel.pid, 0,
                       texts_.device(warp.device) + ", " + warp.kernel + ", of " + texts_.process(),
                       kernel.pid);
    }
    for (const timeline::SliceRow& row : warp.rows) {
      const int64_t tid = ++kernel.last_tid;
      events_.metadata("thread", kernel.pid, tid, warp.sm_name() + ", " + warp.name, tid);
      write_row(row, kernel.pid, tid);
    }
  }

  void write_counter(const timeline::CounterTrack& counter) {
    int64_t pid = pid_;
    std::string name = counter.name;
    if (counter.of == timeline::CounterTrack::Of::Device) pid = device(counter.device).pid;
    if (counter.of == timeline::CounterTrack::Of::Host) name = "host: " + name;
    for (const uint32_t row : counter.rows) {
      std::string& event = events_.begin('C', pid, 0);
      append_time(event, "ts", counter.time(row) + offset_ns_);
      append_text(event, "name", name);
      event += ",\"args\":{\"value\":";
      if (counter.hardware != nullptr) {
        append_real(event, counter.real_value(row));
      } else {
        append_number(event, counter.samples->value[row]);
      }
      event += '}';
      events_.write();
    }
    progress_.add(counter.rows.size());
  }

 private:
  struct Device {
    int64_t pid = 0, last_tid = 0;
  };

  Device& device(int64_t number) {
    Device& its = devices_[number];
    if (its.pid == 0) {
      its.pid = free_pid_++;
      events_.metadata("process", its.pid, 0, texts_.device(number) + " of " + texts_.process(),
                       its.pid);
    }
    return its;
  }

  void write_row(const timeline::SliceRow& row, int64_t pid, int64_t tid) {
    timeline::walk(
        row,
        [&](std::span<const timeline::Slice> group) {
          if (progress_.is_stopped()) return;
          write_slice(group, pid, tid);
          for (const timeline::Slice& slice : group) write_flow(slice, pid, tid);
          progress_.add(group.size());
        },
        [](const timeline::Slice&) {});
  }

  void write_slice(std::span<const timeline::Slice> group, int64_t pid, int64_t tid) {
    const timeline::Slice& first = group.front();
    const bool is_mark = timeline::is_instant(first.kind);
    std::string& event = events_.begin(is_mark ? 'i' : 'X', pid, tid);
    append_time(event, "ts", first.start + offset_ns_);
    if (is_mark) {
      event += ",\"s\":\"t\"";
    } else {
      append_time(event, "dur", first.end - first.start);
    }
    append_text(event, "cat", timeline::category_of(first.kind));
    if (first.kind == timeline::SliceKind::Kernel) {
      event += kernel_members(texts_.tables().kernels.config[first.row]);
    } else {
      append_text(event, "name", timeline::slice_name(texts_, group));
      event += ",\"args\":{";
    }
    append_place(event, first);
    JsonArguments arguments(texts_, event);
    for (const timeline::Slice& slice : group) timeline::row_arguments(texts_, slice, arguments);
    event += '}';
    events_.write();
  }

  // Where work ran, and which call asked for it: viewers see that from tracks and arrows, readers
  // of the file from here.
  void append_place(std::string& event, const timeline::Slice& slice) {
    const analysis::Tables& tables = texts_.tables();
    const auto append = [&](std::string_view key, int64_t value) {
      event += event.back() == '{' ? "\"" : ",\"";
      event += key;
      event += "\":";
      append_number(event, value);
    };
    const analysis::Work* const work = timeline::work_of(tables, slice.kind);
    if (work == nullptr) return;
    if (timeline::is_call(slice.kind)) {
      if (!work->correlation.empty() && work->correlation[slice.row] != 0) {
        append("correlation", work->correlation[slice.row]);
      }
      return;
    }
    const analysis::Lane& lane = tables.lanes[work->lane[slice.row]];
    for (const auto& [key, value] :
         {std::pair("device", lane.device), std::pair("context", lane.context),
          std::pair("stream", lane.stream)}) {
      if (value >= 0) append(key, value);
    }
  }

  // Name and the beginning of the arguments, the same for all kernels of a configuration.
  const std::string& kernel_members(uint32_t config) {
    if (config >= kernel_members_.size()) kernel_members_.resize(config + 1);
    std::string& members = kernel_members_[config];
    if (members.empty()) {
      append_text(members, "name", texts_.kernel(config));
      members += ",\"args\":{";
      JsonArguments arguments(texts_, members);
      timeline::config_arguments(texts_.tables().config(config), arguments);
    }
    return members;
  }

  void write_flow(const timeline::Slice& slice, int64_t pid, int64_t tid) {
    const uint64_t flow = timeline::flow_of(texts_.tables(), slice.kind, slice.row);
    if (flow == 0) return;
    const char phase = timeline::is_call(slice.kind) ? 's' : 'f';
    std::string& event = events_.begin(phase, pid, tid);
    append_time(event, "ts", slice.start + offset_ns_);
    event += ",\"cat\":\"flow\",\"name\":\"launch\",\"id\":";
    append_number(event, first_flow_ + flow);
    if (phase == 'f') event += ",\"bp\":\"e\"";
    events_.write();
  }

  timeline::SessionTexts texts_;
  int64_t offset_ns_, pid_;
  int64_t& free_pid_;
  int64_t free_tid_ = int64_t{1} << 30;  // above what Linux gives to threads
  int64_t order_ = 0;
  uint64_t first_flow_;
  EventWriter& events_;
  Progress& progress_;
  std::map<int64_t, Device> devices_;
  std::map<std::pair<int64_t, std::string>, Device> kernels_;  // profiled inside
  std::vector<std::string> kernel_members_;                    // by configuration
};

// What no event has room for; 64-bit numbers as strings.
std::string document_members(const analysis::RunData& run) {
  base::Json sessions = base::Json::array();
  for (size_t i = 0; i < run.sessions.size(); ++i) {
    const format::SessionHeader& header = run.sessions[i].summary.header;
    sessions.push(base::Json::object()
                      .set("session_id", header.session_id)
                      .set("start_wall_ns", std::to_string(header.start_wall_ns))
                      .set("offset_ns", std::to_string(timeline::offset_of(run, i))));
  }
  base::Json other = base::Json::object();
  other.set("run_id", run.id).set("sessions", sessions);
  return "\"displayTimeUnit\":\"ns\",\"otherData\":" + other.dump();
}

}  // namespace

void write_chrome(const analysis::RunData& run, OutputFile& out, Progress& progress) {
  out.write("{" + document_members(run) + ",\"traceEvents\":[");
  EventWriter events(out);
  const std::vector<int64_t> pids = timeline::distinct_pids(run);
  int64_t free_pid = pids.empty() ? 1 : *std::max_element(pids.begin(), pids.end()) + 1;
  uint64_t first_flow = 0;
  for (size_t i = 0; i < run.sessions.size(); ++i) {
    SessionEvents(run.sessions[i], timeline::offset_of(run, i), pids[i], free_pid, first_flow,
                  events, progress)
        .write();
    first_flow += timeline::flow_count(run.sessions[i].tables);
  }
  out.write("\n]}\n");
}

}  // namespace gpufl::exporting
