// SPDX-License-Identifier: Apache-2.0
// Many agents in one program, for fleet_bench.py.
//
//   fleet_load URL AGENTS SECONDS WINDOW_SECONDS SCRATCH
//
// Each sends the readings of eight GPUs as `gpufl monitor` takes them, as live lines every five
// seconds, and every WINDOW_SECONDS the sealed window; all at times of their own. It comes back
// with what failed, as gpufl-agent does. The key is in GPUFL_API_KEY; windows are sealed in the
// folder SCRATCH. At the end each sends the hash of its last text and asks what the server has.
//
// On stdout, a line for each acknowledged request: "ack KIND START_S MS", the start on the
// monotonic clock; and "sum NAME NUMBER" for each count of all agents.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "agent/ingest.hpp"
#include "agent/pace.hpp"
#include "base/clock.hpp"
#include "base/sha256.hpp"
#include "format/batch_codec.hpp"
#include "format/seal.hpp"
#include "format/session_header.hpp"
#include "net/compression.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gpufl;
using Clock = std::chrono::steady_clock;
using Verdict = agent::SendAnswer::Verdict;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kLiveEvery{5};
constexpr std::chrono::seconds kEndTime{60};  // to send what is left
constexpr milliseconds kFirstPause{250};      // after a failure
constexpr milliseconds kLongestPause{4000};
constexpr size_t kMostLiveBytes = size_t{1} << 20;
constexpr int64_t kDevices = 8;
constexpr int64_t kSamples = 5;  // between two times that lines are sent
constexpr std::array<std::string_view, 16> kMetrics = {
    "gpu_util_pct",       "memory_util_pct", "memory_used_bytes",    "memory_free_bytes",
    "memory_total_bytes", "temperature_c",   "memory_temperature_c", "power_mw",
    "power_instant_mw",   "power_limit_mw",  "compute_clock_mhz",    "memory_clock_mhz",
    "graphics_clock_mhz", "video_clock_mhz", "performance_state",    "clock_limits_bits"};

struct Plan {
  net::Url url;
  std::string key;
  Clock::time_point begin;
  std::chrono::seconds length;
  std::chrono::seconds window;
  fs::path scratch;
};

struct Acknowledgement {
  const char* kind;
  int64_t start_ns;
  int64_t took_ns;
};

struct Sums {
  uint64_t rows = 0;        // made
  uint64_t lost = 0;        // of them, in windows that the server does not have as they are
  uint64_t taken_back = 0;  // bytes of live lines that were acknowledged and then gone
  uint64_t windows = 0;     // sealed
  uint64_t unknown = 0;     // windows that the server has and nobody sent
  uint64_t refused = 0;     // pieces that the server set aside, or will not take
  uint64_t failed = 0;      // requests without an acknowledgement
  uint64_t bytes = 0;       // sent and acknowledged, as they went
  uint64_t live_bytes = 0;  // of text

  void add(const Sums& other) {
    rows += other.rows;
    lost += other.lost;
    taken_back += other.taken_back;
    windows += other.windows;
    unknown += other.unknown;
    refused += other.refused;
    failed += other.failed;
    bytes += other.bytes;
    live_bytes += other.live_bytes;
  }
  void print() const {
    const std::map<std::string, uint64_t> all = {
        {"rows", rows},       {"lost", lost},       {"taken_back", taken_back},
        {"windows", windows}, {"unknown", unknown}, {"refused", refused},
        {"failed", failed},   {"bytes", bytes},     {"live_bytes", live_bytes}};
    for (const auto& [name, number] : all) {
      std::printf("sum %s %llu\n", name.c_str(), static_cast<unsigned long long>(number));
    }
  }
};

std::string sha256_of(std::string_view text) {
  base::Sha256 hash;
  hash.add(text);
  return hash.finish();
}

class Agent {
 public:
  Agent(uint64_t number, const Plan& plan)
      : number_(number), plan_(plan), random_(number), backoff_(number, kFirstPause) {
    header_.session_id = format::make_session_id(base::wall_ns(), random_());
    header_.app_name = "fleet_load";
    header_.gpufl_version = "0";
    header_.engine = "Monitor";
    header_.backend = "synthetic";
    header_.start_wall_ns = base::wall_ns();
    header_.start_monotonic_ns = base::monotonic_ns();
    header_.host = "machine" + std::to_string(number);
    for (int64_t& value : values_) value = static_cast<int64_t>(random_() % 100'000);
    begin_window(1);
  }

  void run() {
    if (!connect()) {
      ++sums_.refused;
      return;
    }
    const auto phase = [&](Clock::duration whole) {
      return Clock::duration(
          static_cast<int64_t>(random_() % static_cast<uint64_t>(whole.count())));
    };
    auto next_lines = plan_.begin + phase(kLiveEvery);
    auto next_window = plan_.begin + phase(plan_.window);
    auto retry = next_lines;
    const auto end = plan_.begin + plan_.length;
    while (next_lines < end) {
      std::this_thread::sleep_until(has_more() ? std::min(next_lines, std::max(retry, Clock::now()))
                                               : next_lines);
      if (Clock::now() >= next_lines) {
        add_lines();
        next_lines += kLiveEvery;
        if (Clock::now() >= next_window && rotate()) next_window += plan_.window;
      }
      if (has_more() && Clock::now() >= retry) {
        const auto pause = send_what_there_is();
        retry = Clock::now() + pause;
      }
    }
    std::this_thread::sleep_until(end);
    finish();
  }

  const Sums& sums() const { return sums_; }
  const std::vector<Acknowledgement>& acknowledgements() const { return acknowledgements_; }

 private:
  struct Sealed {
    uint64_t number = 0;
    std::string bytes, sha256;
  };
  struct Window {
    std::string sha256;
    uint64_t rows = 0;
  };

  bool connect() {
    net::HttpClientOptions options;
    options.variables = [](const std::string&) { return std::string(); };
    auto client = net::HttpClient::make(plan_.url, std::move(options));
    if (!client) return false;
    ingest_ = std::make_unique<agent::Ingest>(
        agent::IngestAddress{plan_.url, "/api/v1", plan_.key, header_.host}, std::move(*client));
    return true;
  }

  void begin_window(uint64_t number) {
    window_ = number;
    base::Json first = header_.to_json();
    first.set("channel", "system").set("window", number);
    base::Json ids = base::Json::array(), names = base::Json::array();
    for (size_t i = 0; i < kMetrics.size(); ++i) {
      ids.push(static_cast<int64_t>(i + 1));
      names.push(kMetrics[i]);
    }
    base::Json dict = base::Json::object();
    dict.set("type", "dict").set("dict", "metric").set("ids", std::move(ids));
    dict.set("values", std::move(names));
    text_ = first.dump() + "\n" + dict.dump() + "\n";
    for (int64_t device = 0; device < kDevices; ++device) {
      base::Json line = base::Json::object();
      line.set("type", "device").set("device", device).set("vendor", "synthetic");
      line.set("name", "Synthetic GPU").set("uuid", "GPU-" + std::to_string(device));
      text_ += line.dump() + "\n";
    }
    acknowledged_ = 0;
    window_rows_ = 0;
  }

  void add_lines() {
    format::Batch rows(format::Kind::DeviceMetric);
    const int64_t now_ns = base::monotonic_ns() - header_.start_monotonic_ns;
    for (int64_t sample = 0; sample < kSamples; ++sample) {
      const int64_t time_ns = now_ns + sample * 1'000'000'000;
      for (int64_t device = 0; device < kDevices; ++device) {
        for (size_t metric = 0; metric < kMetrics.size(); ++metric) {
          int64_t& value = values_[static_cast<size_t>(device) * kMetrics.size() + metric];
          value += static_cast<int64_t>(random_() % 7) - 3;
          rows.push_row({time_ns, device, 0, static_cast<int64_t>(metric + 1), value});
        }
      }
    }
    codec_.encode(rows, text_);
    window_rows_ += rows.rows();
    sums_.rows += rows.rows();
  }

  bool rotate() {
    const fs::path raw = plan_.scratch / (std::to_string(number_) + ".log");
    const fs::path sealed = plan_.scratch / (std::to_string(number_) + ".log.zst");
    std::ofstream(raw, std::ios::binary) << text_;
    if (!format::seal_window(raw, sealed)) return false;
    std::ifstream in(sealed, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    fs::remove(raw);
    fs::remove(sealed);
    sealed_.push_back({window_, bytes, sha256_of(bytes)});
    windows_[window_] = {sealed_.back().sha256, window_rows_};
    ++sums_.windows;
    begin_window(window_ + 1);
    return true;
  }

  bool has_more() const { return !sealed_.empty() || acknowledged_ < text_.size(); }

  // How long to wait before more is sent.
  milliseconds send_what_there_is() {
    while (has_more()) {
      const agent::SendAnswer answer = sealed_.empty() ? send_lines(false) : send_window();
      if (answer.verdict == Verdict::Busy || answer.verdict == Verdict::Denied) {
        ++sums_.failed;
        return std::min(backoff_.next(answer.wait), kLongestPause);
      }
      backoff_.succeed();
    }
    return milliseconds(0);
  }

  agent::SendAnswer send(const char* kind, const agent::Piece& piece, uint64_t bytes) {
    const int64_t start_ns = base::monotonic_ns();
    agent::SendAnswer answer = ingest_->send(header_.session_id, piece);
    const bool is_taken = answer.verdict == Verdict::Stored || answer.verdict == Verdict::Known ||
                          answer.verdict == Verdict::Superseded;
    if (is_taken) {
      acknowledgements_.push_back({kind, start_ns, base::monotonic_ns() - start_ns});
      sums_.bytes += bytes;
    }
    if (answer.verdict == Verdict::Refused || answer.verdict == Verdict::Gone) ++sums_.refused;
    return answer;
  }

  agent::SendAnswer send_window() {
    const Sealed& first = sealed_.front();
    const agent::Piece piece{
        agent::PieceKind::Window,
        {{"channel", "system"}, {"number", std::to_string(first.number)}, {"sha256", first.sha256}},
        net::RequestBody::of(first.bytes),
        false};
    const agent::SendAnswer answer = send("window", piece, first.bytes.size());
    const bool is_over = answer.verdict != Verdict::Busy && answer.verdict != Verdict::Denied;
    if (is_over) sealed_.pop_front();
    return answer;
  }

  agent::SendAnswer send_lines(bool is_final) {
    std::string_view lines = std::string_view(text_).substr(acknowledged_);
    if (lines.size() > kMostLiveBytes) {
      lines = lines.substr(0, lines.rfind('\n', kMostLiveBytes) + 1);
    }
    std::string packed;
    agent::Piece piece{agent::PieceKind::Live,
                       {{"channel", "system"},
                        {"number", std::to_string(window_)},
                        {"offset", std::to_string(acknowledged_)}},
                       {},
                       true};
    if (is_final && acknowledged_ + lines.size() == text_.size()) {
      piece.parameters.emplace_back("final", "1");
      piece.parameters.emplace_back("sha256", sha256_of(text_));
    }
    if (!net::make_compressor(net::Encoding::Zstd)->add(lines, true, packed)) std::abort();
    piece.body = net::RequestBody::of(packed);
    const agent::SendAnswer answer = send(is_final ? "end" : "lines", piece, packed.size());
    switch (answer.verdict) {
      case Verdict::Stored:
      case Verdict::Known:
      case Verdict::Elsewhere:
        if (answer.end < acknowledged_) sums_.taken_back += acknowledged_ - answer.end;
        sums_.live_bytes += answer.end > acknowledged_ ? answer.end - acknowledged_ : 0;
        acknowledged_ = std::min<uint64_t>(answer.end, text_.size());
        break;
      case Verdict::Refused:
      case Verdict::Superseded:
      case Verdict::Gone: acknowledged_ = text_.size(); break;
      case Verdict::Busy:
      case Verdict::Denied:
      case Verdict::Cancelled: break;
    }
    return answer;
  }

  // The hash of the last text is what the server compares its own with.
  void finish() {
    const auto until = Clock::now() + kEndTime;
    windows_[window_] = {sha256_of(text_), window_rows_};
    bool is_final = false;
    while (!is_final && Clock::now() < until) {
      milliseconds pause = send_what_there_is();
      if (!has_more()) {
        const Verdict verdict = send_lines(true).verdict;
        is_final = verdict != Verdict::Busy && verdict != Verdict::Elsewhere;
        pause = kFirstPause;
      }
      if (!is_final) std::this_thread::sleep_for(pause);
    }
    agent::KnownSession known;
    while (ingest_->ask(header_.session_id, known).verdict != Verdict::Stored &&
           Clock::now() < until) {
      std::this_thread::sleep_for(kFirstPause);
    }
    for (const auto& [number, window] : windows_) {
      const auto found = known.windows.find({"system", number});
      const bool is_there = found != known.windows.end() && found->second.sha256 == window.sha256;
      if (!is_there) sums_.lost += window.rows;
    }
    for (const auto& [key, window] : known.windows) {
      const bool is_ours = key.first == "system" && windows_.contains(key.second);
      if (!is_ours) ++sums_.unknown;
    }
  }

  const uint64_t number_;
  const Plan& plan_;
  std::mt19937_64 random_;
  agent::Backoff backoff_;
  format::SessionHeader header_;
  format::BatchCodec codec_;
  std::unique_ptr<agent::Ingest> ingest_;
  std::array<int64_t, static_cast<size_t>(kDevices) * kMetrics.size()> values_{};
  uint64_t window_ = 0, window_rows_ = 0;
  std::string text_;           // of the window that is being written
  uint64_t acknowledged_ = 0;  // of it
  std::deque<Sealed> sealed_;  // not acknowledged yet
  std::map<uint64_t, Window> windows_;
  Sums sums_;
  std::vector<Acknowledgement> acknowledgements_;
};

bool read_number(std::string_view text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* key = std::getenv("GPUFL_API_KEY");
  int64_t agents = 0, seconds = 0, window = 0;
  if (argc != 6 || key == nullptr || !read_number(argv[2], agents) ||
      !read_number(argv[3], seconds) || !read_number(argv[4], window)) {
    std::fputs("usage: GPUFL_API_KEY=... fleet_load URL AGENTS SECONDS WINDOW_SECONDS SCRATCH\n",
               stderr);
    return 64;
  }
  const auto url = net::parse_url(argv[1]);
  if (!url) {
    std::fprintf(stderr, "%s\n", url.status().text().c_str());
    return 64;
  }
  const Plan plan{
      *url,   key, Clock::now(), std::chrono::seconds(seconds), std::chrono::seconds(window),
      argv[5]};
  std::vector<std::unique_ptr<Agent>> all;
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < agents; ++i) {
    all.push_back(std::make_unique<Agent>(static_cast<uint64_t>(i), plan));
  }
  for (const auto& one : all) threads.emplace_back([&one] { one->run(); });
  for (std::thread& thread : threads) thread.join();
  Sums sums;
  for (const auto& one : all) {
    sums.add(one->sums());
    for (const Acknowledgement& each : one->acknowledgements()) {
      std::printf("ack %s %.6f %.3f\n", each.kind, static_cast<double>(each.start_ns) * 1e-9,
                  static_cast<double>(each.took_ns) * 1e-6);
    }
  }
  sums.print();
  return 0;
}
