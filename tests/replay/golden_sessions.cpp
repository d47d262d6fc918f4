// SPDX-License-Identifier: Apache-2.0
#include "golden_sessions.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "format/log_writer.hpp"
#include "format/seal.hpp"
#include "format/session_files.hpp"

namespace gpufl::replay {
namespace {

namespace fs = std::filesystem;
using base::Json;
using format::Batch;
using format::Channel;
using format::ColumnSpec;
using format::ColumnType;
using format::Dict;
using format::Kind;
using format::LogWriter;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kWindow = 10 * kSecond;

// A step that fails would make every comparison meaningless.
void check(bool done, const char* what) {
  if (done) return;
  std::fprintf(stderr, "golden: %s failed\n", what);
  std::abort();
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
}

void replace_first(std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  check(at != std::string::npos, "replacing");
  text.replace(at, from.size(), to);
}

format::SessionHeader header() {
  format::SessionHeader header;
  header.session_id = "20261115T034512Z-1f2e3d4c5b6a7988";
  header.run_id = "run-7";
  header.app_name = "train";
  header.gpufl_version = "0.1.0";
  header.engine = "Trace";
  header.backend = "synthetic";
  header.backends = {{"synthetic", "Trace"}, {"nvidia", "Monitor"}};
  header.pass = 1;
  header.passes = {"Trace", "PcSampling"};
  header.start_wall_ns = 1'794'714'312'000'000'000;
  header.start_monotonic_ns = 86'400'000'000'000;
  header.clock_error_ns = 35;
  header.pid = 4711;
  header.process = "python3";
  header.command = "python3 train.py --name \"größer\"";
  header.host = "node1";
  header.boot_id = "5f0c2c0e-8a3e-4d57-9a43-0f3a3fd6f0aa";
  header.os = "6.1.0";
  header.rank = 1;
  header.world_size = 8;
  header.local_rank = 1;
  return header;
}

Json object(const char* text) { return Json::parse(text).value(); }

int64_t dictionary_id(LogWriter& writer, Dict dict, const std::string& word) {
  switch (dict) {
    case Dict::Config: {
      const int64_t name = writer.intern(Dict::Name, "void gemm<float>(" + word + ")");
      return writer.intern(Dict::Config, R"({"name":)" + std::to_string(name) +
                                             R"(,"grid":[64,2,1],"block":[128,1,1],"registers":96,)"
                                             R"("shared_static":1024,"shared_dynamic":0})");
    }
    case Dict::Stack: {
      const std::string function = std::to_string(writer.intern(Dict::Name, "train_step"));
      const std::string file = std::to_string(writer.intern(Dict::Text, "train.py"));
      const std::string module = std::to_string(writer.intern(Dict::Text, "libc.so.6"));
      const int64_t frames[] = {
          writer.intern(Dict::Frame,
                        R"({"function":)" + function + R"(,"file":)" + file + R"(,"line":42})"),
          writer.intern(Dict::Frame, R"({"module":)" + module + R"(,"offset":16384})")};
      return writer.intern(Dict::Stack, R"({"frames":[)" + std::to_string(frames[0]) + "," +
                                            std::to_string(frames[1]) + "]}");
    }
    default: return writer.intern(dict, word);
  }
}

// Three rows of any kind, every column filled after its type.
Batch rows_of(LogWriter& writer, Kind kind, int64_t base_ns) {
  Batch batch(kind);
  const auto& columns = batch.kind_spec().columns;
  for (size_t i = 0; i < columns.size(); ++i) {
    const ColumnSpec& column = columns[i];
    std::vector<int64_t>& values = batch.mutable_column(i);
    for (int64_t row = 0; row < 3; ++row) {
      switch (column.type) {
        case ColumnType::Time:
          values.push_back(base_ns + row * 2'000'032 + static_cast<int64_t>(i) * 96);
          break;
        case ColumnType::Duration: values.push_back(31'008 + row * 640); break;
        case ColumnType::Integer: values.push_back(row + static_cast<int64_t>(i)); break;
        case ColumnType::Id64: values.push_back(row - 1); break;
        case ColumnType::DictId:
          values.push_back(dictionary_id(writer, column.dict,
                                         std::string(column.name) + (row == 2 ? "_b" : "_a")));
          break;
      }
    }
  }
  batch.set_rows(3);
  return batch;
}

void write_rows(LogWriter& writer, int64_t base_ns) {
  Json launch = object(R"({"dur":4063332,"launch":3,"kernel":"gemm","device":2,"correlation":4,)"
                       R"("join":"correlation","launch_id":"18446744073709551615","blocks":9,)"
                       R"("groups":10,"max_records":64,"group_names":["tma","math"],)"
                       R"("waits":["event_b"],"flows":[["event_a","event_b"]],)"
                       R"("clock":"globaltimer","tick_ps":32000,"error_ns":800,)"
                       R"("event_cost_ps":25500,"records":6,"offered":7,"dropped":1,)"
                       R"("problems":["block 3, group 1: the last record was dropped"]})");
  launch.set("time", base_ns);
  writer.write(Kind::WarpLaunch, launch, Channel::Device);
  for (size_t i = 0; i < format::kKindCount; ++i) {
    const auto kind = static_cast<Kind>(i);
    if (format::spec(kind).is_batch()) writer.write(rows_of(writer, kind, base_ns));
  }
  Json clock = object(R"({"wall":"1794714312100000000","error":30})");
  clock.set("time", base_ns);
  writer.write(Kind::Clock, clock);
  Json event = object(R"({"name":"xid","device":0,"code":79,"text":"GPU has fallen off the bus"})");
  event.set("time", base_ns + 5);
  writer.write(Kind::Event, event);
}

void copy_live_files(const fs::path& dir, const fs::path& to, uint64_t window) {
  if (to.empty()) return;
  for (size_t i = 0; i < format::kChannelCount; ++i) {
    const auto channel = static_cast<Channel>(i);
    fs::copy_file(dir / format::live_file_name(channel),
                  to / format::raw_file_name(channel, window),
                  fs::copy_options::overwrite_existing);
  }
}

// What the ledger says of sealed windows must not depend on how fast they were sealed.
void wait_for_sealing(const fs::path& dir) {
  for (int i = 0; i < 10'000; ++i) {
    bool sealing = false;
    for (size_t channel = 0; channel < format::kChannelCount; ++channel) {
      sealing |= fs::exists(dir / format::raw_file_name(static_cast<Channel>(channel), 1));
    }
    if (!sealing) return;
    usleep(1000);
  }
  check(false, "sealing");
}

// Everything but the end.
std::unique_ptr<LogWriter> write_windows(const fs::path& dir, const fs::path& live_text) {
  fs::remove_all(dir);
  format::LogOptions options;
  options.session_dir = dir;
  options.window_age_ns = kWindow;
  options.disk_floor_bytes = 0;
  auto created = LogWriter::create(options, header());
  check(created.is_ok(), "creating the session");
  std::unique_ptr<LogWriter> writer = std::move(*created);
  writer->write(Kind::Capability,
                object(R"({"feature":"profiling_engine","asked":"PcSampling","got":"Trace",)"
                       R"("reason":"not_built","hint":"use a newer gpufl",)"
                       R"("backend":"synthetic"})"));
  writer->write(Kind::Device, object(R"({"device":0,"vendor":"synthetic","name":"Synthetic GPU",)"
                                     R"("uuid":"GPU-0","compute_units":132})"));
  writer->write(Kind::Module,
                object(R"({"time":9,"id":"18446744073709551615","device":0,"name":"a.cubin"})"),
                Channel::Code);
  write_rows(*writer, kSecond);
  check(writer->flush(2 * kSecond).is_ok(), "the first flush");
  copy_live_files(dir, live_text, 1);
  check(writer->flush(2 * kSecond + kWindow).is_ok(), "closing the first windows");
  wait_for_sealing(dir);
  writer->write(Kind::Source,
                object(R"({"time":10,"module":"18446744073709551615",)"
                       R"("path":"a.cu","language":"cuda","text":"// one\n"})"),
                Channel::Code);
  write_rows(*writer, 20 * kSecond);
  check(writer->flush(21 * kSecond).is_ok(), "the second flush");
  copy_live_files(dir, live_text, 2);
  return writer;
}

}  // namespace

void write_complete(const fs::path& dir, const fs::path& live_text) {
  if (!live_text.empty()) fs::create_directories(live_text);
  const auto writer = write_windows(dir, live_text);
  format::Ledger ledger;
  ledger.launches_seen = 6;
  ledger.kernel_records = 6;
  ledger.launches_missing = 0;
  ledger.vendor_dropped = 0;
  ledger.kernels_overlapping = ledger.most_overlap_ns = 0;
  ledger.by_device[0] = {6, 6, 0};
  ledger.uncounted = {"device_side_launches"};
  ledger.callback_ns = 1'200;
  ledger.samples_taken = 12;
  ledger.collector_cpu_ns = 1'500'000;
  check(writer->close(22 * kSecond, ledger).is_ok(), "closing the session");
}

void write_crashed(const fs::path& dir) {
  write_windows(dir, {}).reset();
  fs::remove(dir / "lock");
  const std::string device = read_text(dir / "device.log");
  write_text(dir / "device.log", device.substr(0, device.size() - 20));
}

void write_corrupt(const fs::path& dir) {
  write_complete(dir, {});
  std::string bytes = read_text(dir / "device.1.log.zst");
  for (size_t i = bytes.size() / 2; i < bytes.size() / 2 + 8; ++i) bytes[i] = 'x';
  write_text(dir / "device.1.log.zst", bytes);
}

void write_newer_minor(const fs::path& dir) {
  write_complete(dir, {});
  std::string text;
  format::read_window(dir / "system.2.log.zst", [&](std::string_view line) {
    text.append(line).append("\n");
    return true;
  });
  replace_first(text, R"("engine":"Trace")", R"("engine":"Trace","later_member":{"a":[1]})");
  replace_first(text, R"({"type":"process")", R"({"type":"process","later_column":[1,2,3])");
  text += R"({"type":"later_kind","n":2,"x":[1,2]})"
          "\n"
          R"({"type":"dict","dict":"later","ids":[1],"values":["x"]})"
          "\n";
  // As a window that was not sealed yet.
  write_text(dir / "system.2.log", text);
  fs::remove(dir / "system.2.log.zst");
  write_text(dir / "later_channel.log", text);
  std::string manifest = read_text(dir / "manifest.ndjson");
  const size_t line = manifest.find(R"({"type":"window","channel":"system","window":2)");
  check(line != std::string::npos, "finding the manifest line");
  manifest.replace(line, manifest.find('\n', line) - line, R"({"type":"later_entry"})");
  write_text(dir / "manifest.ndjson", manifest);
}

void write_newer_major(const fs::path& dir) {
  write_windows(dir, {}).reset();
  for (const auto& entry : fs::directory_iterator(dir)) {
    const std::string name = entry.path().filename().string();
    if (name != "system.log" && name != "manifest.ndjson") fs::remove(entry.path());
  }
  for (const char* name : {"system.log", "manifest.ndjson"}) {
    std::string text = read_text(dir / name);
    text.resize(text.find('\n') + 1);
    replace_first(text, R"("format":1)", R"("format":2)");
    write_text(dir / name, text);
  }
}

}  // namespace gpufl::replay
