// SPDX-License-Identifier: Apache-2.0
// Log text of any kind, indexed and asked: tiles, events, sums and search. Whatever the text is,
// each answers, and all of them agree on how much there is. The last bytes say what is asked.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "index/build_index.hpp"
#include "index/names.hpp"
#include "index/queries.hpp"
#include "index/tile.hpp"

namespace {

using namespace gpufl;
using namespace gpufl::index;

constexpr int kRequests = 2;
constexpr int kMostPages = 1'000;

void must(bool is_so) {
  if (!is_so) __builtin_trap();
}

// One file in memory for all inputs.
std::shared_ptr<const int> file_of(const uint8_t* data, size_t size) {
  static const auto file = std::make_shared<const int>(::memfd_create("window", MFD_CLOEXEC));
  must(*file >= 0 && ::ftruncate(*file, 0) == 0);
  must(::pwrite(*file, data, size, 0) == static_cast<ssize_t>(size));
  return file;
}

// As a server asks for it: some moment of the session, or any.
class Questions {
 public:
  Questions(uint64_t seed, const TimeSpan& span) : random_(seed), span_(span) {}

  uint64_t below(uint64_t bound) { return random_() % bound; }
  int64_t moment() {
    if (span_.empty() || below(8) == 0) {
      return static_cast<int64_t>(below(uint64_t{1} << 62)) - kMaxTime;
    }
    const auto length = static_cast<uint64_t>(span_.last - span_.first) + 3;
    return std::clamp(span_.first - 1 + static_cast<int64_t>(below(length)), -kMaxTime, kMaxTime);
  }

 private:
  std::mt19937_64 random_;
  const TimeSpan span_;
};

void ask_tile(Questions& questions, const Windows& windows, const TileRequest& request,
              int64_t until) {
  const auto tile = make_tile(windows, request, until);
  if (!tile) return must(tile.status().code() == base::Code::InvalidArgument);
  const auto sums = sum_range(windows, request.tracks, request.from, request.to, until, nullptr);
  must(sums.is_ok() && sums->size() == tile->tracks.size());
  for (size_t i = 0; i < sums->size(); ++i) {
    uint64_t listed = 0;
    bool is_exact = true;
    for (const TileRow& row : tile->tracks[i].rows) {
      is_exact = is_exact && row.is_exact;
      listed += row.events.size();
    }
    if (is_exact) must(listed == (*sums)[i].count + (*sums)[i].reaching);
  }
  EventsRequest events{request.tracks, request.from, request.to};
  events.most = 1 + questions.below(500);
  uint64_t listed = 0;
  for (int pages = 0; pages < kMostPages; ++pages) {
    const auto page = list_events(windows, events, until, nullptr);
    must(page.is_ok());
    listed += page->events.size();
    if (!page->next) {
      uint64_t wanted = 0;
      for (const TrackSum& sum : *sums) wanted += sum.count + sum.reaching;
      must(listed == wanted);
      break;
    }
    must(*page->next > events.starts_from);
    events.starts_from = *page->next;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint64_t seed = 0;
  if (size > sizeof seed) std::memcpy(&seed, data + size - sizeof seed, sizeof seed);
  const auto file = file_of(data, size);
  IndexBuilder builder;
  ReadProgress progress;
  ReadLimits limits;
  limits.text_bytes = uint64_t{8} << 20;
  limits.rows = 4'000;
  (void)read_lines("/proc/self/fd/" + std::to_string(*file), limits, nullptr, builder, progress);
  format::WindowFile window{};
  window.channel = format::Channel::Scope;
  window.number = 1;
  const Windows windows = {
      std::make_shared<const WindowSource>(make_source(std::move(window), builder, file))};
  const TimeSpan span = windows[0]->index().span;
  const int64_t until = span.empty() ? 0 : span.last;
  Names names;
  (void)names.update(windows);
  const auto tracks = list_tracks(windows, until);
  Questions questions(seed, span);
  for (int i = 0; i < kRequests; ++i) {
    TileRequest request;
    request.from = questions.moment();
    request.to = questions.moment();
    request.width = static_cast<uint32_t>(1 + questions.below(40));
    if (request.from > request.to) std::swap(request.from, request.to);
    request.max_events = questions.below(3) * 20'000;
    for (const TrackInfo& track : tracks) {
      if (request.tracks.size() < 16 && questions.below(3) != 0)
        request.tracks.push_back(track.key);
    }
    ask_tile(questions, windows, request, until);
    SearchRequest search_for{names.matching(i == 0 ? "" : "e"),
                             {TrackKind::Kernels, TrackKind::Scopes, TrackKind::Markers,
                              TrackKind::ApiCalls, TrackKind::Warps}};
    search_for.is_backward = questions.below(2) == 0;
    search_for.after = questions.moment();
    const auto found = index::search(windows, search_for, until, nullptr);
    must(found.is_ok());
    if (!found->found) continue;
    must(found->count != 0);
    const int64_t start = found->found->event.start;
    must(search_for.is_backward ? start < search_for.after : start >= search_for.after);
  }
  return 0;
}
