// SPDX-License-Identifier: Apache-2.0
#include "report/html/picture.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "analysis/code/kernel_class.hpp"
#include "analysis/figures/kernel_groups.hpp"
#include "analysis/session/selection.hpp"
#include "report/html/warp_lanes.hpp"
#include "timeline/arguments.hpp"
#include "timeline/run_axis.hpp"
#include "timeline/session_texts.hpp"
#include "timeline/timeline.hpp"

namespace gpufl::report {
namespace {

using timeline::Slice;
using timeline::SliceKind;
using timeline::SliceRow;

// From which on it pays to merge: a picture of a thousand pixels does not show it when it is zoomed
// in by as much as four thousand.
int64_t first_limit_ns(int64_t span_ns) { return std::max<int64_t>(span_ns / 4'000'000, 1); }

PictureKind kind_of(SliceKind kind) {
  switch (kind) {
    case SliceKind::Scope: return PictureKind::Scopes;
    case SliceKind::Range:
    case SliceKind::Mark: return PictureKind::Markers;
    case SliceKind::ApiCall: return PictureKind::ApiCalls;
    case SliceKind::KernelCall: return PictureKind::KernelCalls;
    case SliceKind::CopyCall: return PictureKind::CopyCalls;
    case SliceKind::FillCall: return PictureKind::FillCalls;
    case SliceKind::GraphCall: return PictureKind::GraphCalls;
    case SliceKind::AllocationCall: return PictureKind::MemoryCalls;
    case SliceKind::Wait: return PictureKind::Waits;
    case SliceKind::Kernel: return PictureKind::Kernels;
    case SliceKind::Copy: return PictureKind::Copies;
    case SliceKind::Fill: return PictureKind::Fills;
    case SliceKind::Graph: return PictureKind::Graphs;
    case SliceKind::WarpSpan:
    case SliceKind::WarpInstant: return PictureKind::Warps;
    case SliceKind::Coverage: return PictureKind::Markers;
  }
  return PictureKind::Markers;
}

// Those of one stream or thread: by kind, and behind them markers by what set them.
using Tracks = std::vector<PictureTrack>;

class PictureBuilder {
 public:
  PictureBuilder(const analysis::RunData& run, size_t max_blocks,
                 const analysis::AnalysisOptions& options)
      : run_(run), options_(options), room_(kRoom * max_blocks) {
    for (size_t i = 0; i < run.sessions.size(); ++i) {
      span_ns_ =
          std::max(span_ns_, timeline::offset_of(run, i) + run.sessions[i].summary.duration_ns);
    }
  }

  Picture build() {
    for (size_t i = 0; i < run_.sessions.size(); ++i) add_session(i);
    return std::move(picture_);
  }

 private:
  void add_session(size_t index) {
    const analysis::SessionData& session = run_.sessions[index];
    const timeline::SessionTexts texts(session);
    offset_ns_ = timeline::offset_of(run_, index);
    // Time in which nothing happened is a part of it.
    picture_.start_ns = std::min(picture_.start_ns, offset_ns_);
    picture_.end_ns = std::max(picture_.end_ns, offset_ns_ + session.summary.duration_ns);
    names_ = &session.kernel_names();
    by_config_.clear();
    waits_.clear();
    for (const format::WarpLaunch& launch : session.tables.warp_launches) {
      waits_.insert(launch.waits.begin(), launch.waits.end());
    }
    const bool is_alone = run_.sessions.size() == 1;
    const std::string process = texts.process();
    const analysis::Selection selection(session.tables, options_);
    // Slices take as much memory as the session: those of streams are gone before threads have any.
    for (const timeline::StreamTrack& stream : timeline::stream_tracks(session.tables)) {
      const std::string device = texts.device(stream.lane.device);
      Tracks tracks =
          tracks_of(is_alone ? device : process + ", " + device, texts.stream(stream.lane));
      for (const auto* rows : {&stream.graphs, &stream.rows}) {
        for (const SliceRow& row : *rows) {
          if (selection.is_all()) {
            add_rows(row, texts, tracks);
          } else {
            add_rows(chosen_of(row, session.tables, selection), texts, tracks);
          }
        }
      }
      keep(std::move(tracks));
    }
    for (const WarpLanes& lanes : warp_lanes(texts, options_)) {
      for (const timeline::WarpTrack& lane : lanes.tracks) {
        const std::string device = texts.device(lane.device);
        Tracks tracks =
            tracks_of((is_alone ? device : process + ", " + device) + ", " + lanes.title,
                      lane.sm_name() + ", " + lane.name, lanes.kernel);
        for (const SliceRow& row : lane.rows) add_rows(row, texts, tracks);
        keep(std::move(tracks));
      }
    }
    for (const timeline::ThreadTrack& thread : timeline::thread_tracks(session.tables)) {
      Tracks tracks = tracks_of(process, thread.name());
      for (const SliceRow& row : thread.rows) add_rows(row, texts, tracks);
      keep(std::move(tracks));
    }
  }

  static Tracks tracks_of(const std::string& group, const std::string& name,
                          const std::string& kernel = {}) {
    Tracks tracks;
    for (size_t i = 0; i < kPictureKinds; ++i) {
      tracks.push_back({group, name, static_cast<PictureKind>(i), kernel});
    }
    return tracks;
  }

  // The track of a slice, which is there from then on.
  static size_t place_of(const Slice& slice, const timeline::SessionTexts& texts, Tracks& tracks) {
    const PictureKind kind = kind_of(slice.kind);
    const auto place = static_cast<size_t>(kind);
    if (slice.kind != SliceKind::Range && slice.kind != SliceKind::Mark) return place;
    const auto& domains = texts.tables().markers.domain;
    const uint32_t domain = slice.row < domains.size() ? domains[slice.row] : 0;
    if (domain == 0) return place;
    const std::string& words = texts.name(domain);
    for (size_t i = kPictureKinds; i < tracks.size(); ++i) {
      if (tracks[i].domain == words) return i;
    }
    PictureTrack track = {tracks[place].group, tracks[place].name, kind, tracks[place].kernel};
    track.domain = words;
    tracks.push_back(std::move(track));
    return tracks.size() - 1;
  }

  void keep(Tracks tracks) {
    for (PictureTrack& track : tracks) {
      if (!track.rows.empty()) picture_.tracks.push_back(std::move(track));
    }
  }

  // What a stream ran of what is asked for.
  static SliceRow chosen_of(SliceRow row, const analysis::Tables& tables,
                            const analysis::Selection& selection) {
    std::erase_if(row, [&](const Slice& slice) {
      return !selection.includes(*timeline::work_of(tables, slice.kind), slice.row);
    });
    return row;
  }

  // Slices that lie inside others of their track go to rows of their own below them.
  void add_rows(const SliceRow& row, const timeline::SessionTexts& texts, Tracks& tracks) {
    std::vector<size_t> at;  // the row of a track that is next
    for (const PictureTrack& track : tracks) at.push_back(track.rows.size());
    timeline::walk(
        row,
        [&](std::span<const Slice> group) {
          const Slice& slice = group.front();
          const size_t place = place_of(slice, texts, tracks);
          at.resize(tracks.size());
          PictureTrack& track = tracks[place];
          if (at[place] >= track.rows.size()) track.rows.emplace_back();
          const int64_t start = slice.start + offset_ns_;
          // A mark has no length; as a block it needs one.
          const int64_t end = std::max(slice.end + offset_ns_, start + 1);
          BlockRow& blocks = track.rows[at[place]];
          if (blocks.empty() || blocks.back().end_ns <= start) {
            blocks.push_back({start, end, text_of(slice, texts), 1, end - start});
            if (!track.is_inside() && ++blocks_ > room_) make_room(tracks);
          } else {
            // Only those without a length begin together in a row.
            Block& last = blocks.back();
            last.end_ns = std::max(last.end_ns, end);
            last.busy_ns += slice.end - slice.start;
            ++last.count;
          }
          ++picture_.slices;
          picture_.start_ns = std::min(picture_.start_ns, start);
          picture_.end_ns = std::max(picture_.end_ns, end);
          if (!timeline::is_instant(slice.kind)) ++at[place];
        },
        [&](const Slice& slice) { --at[place_of(slice, texts, tracks)]; });
  }

  // Merges what is there, so that the picture stays small while it is made: a few times as large as
  // it will be at last. What comes later is merged with the rest.
  void make_room(Tracks& current) {
    const auto merge = [&](PictureTrack& track, int64_t limit_ns) {
      for (BlockRow& row : track.rows) {
        row = merge_blocks(row, limit_ns);
        blocks_ += row.size();
      }
    };
    for (int64_t limit_ns = std::max(first_limit_ns(span_ns_), picture_.merged_below_ns);
         blocks_ > room_ / 2 && limit_ns < span_ns_; limit_ns *= 2) {
      blocks_ = 0;
      for (PictureTrack& track : picture_.tracks) {
        if (!track.is_inside()) merge(track, limit_ns);
      }
      for (PictureTrack& track : current) merge(track, limit_ns);
      picture_.merged_below_ns = limit_ns;
    }
  }

  uint32_t text_of(const Slice& slice, const timeline::SessionTexts& texts) {
    const analysis::Tables& tables = texts.tables();
    switch (slice.kind) {
      case SliceKind::Kernel: {
        const uint32_t config = tables.kernels.config[slice.row];
        const auto [found, is_new] = by_config_.try_emplace(config, 0);
        if (is_new) {
          const auto& name = names_->of(tables.config(config).name);
          found->second = text(name.short_name, name.full_name, to_string(name.kernel_class));
        }
        return found->second;
      }
      case SliceKind::Scope: return text(texts.scope(slice.row));
      case SliceKind::Range:
      case SliceKind::Mark: return text(texts.name(tables.markers.name[slice.row]));
      case SliceKind::Copy: return text(texts.copy(slice.row));
      case SliceKind::Fill: return text("memset");
      case SliceKind::Graph: return text("graph launch");
      case SliceKind::Wait: return text(texts.wait(slice.row));
      case SliceKind::ApiCall: return text(texts.name(tables.api_calls.name[slice.row]));
      case SliceKind::KernelCall: return text("launch");
      case SliceKind::CopyCall: return text("copy call");
      case SliceKind::FillCall: return text("memset call");
      case SliceKind::GraphCall: return text("graph launch call");
      case SliceKind::AllocationCall: return text("allocation call");
      case SliceKind::WarpSpan:
      case SliceKind::WarpInstant: return warp_text(timeline::slice_name(texts, {&slice, 1}));
      case SliceKind::Coverage: return text(timeline::slice_name(texts, {&slice, 1}));
    }
    return text("?");
  }

  uint32_t warp_text(const std::string& event) {
    if (waits_.contains(event)) return text(event, {}, "wait");
    const analysis::KernelClass work = analysis::classify_kernel(event);
    return text(event, {}, work == analysis::KernelClass::Other ? "work" : to_string(work));
  }

  uint32_t text(const std::string& label, const std::string& whole = {},
                std::string_view work = {}) {
    const std::string& name = whole.empty() ? label : whole;
    const auto [found, is_new] = ids_[work].try_emplace(name, picture_.texts.size());
    if (is_new) picture_.texts.push_back({label, whole == label ? std::string() : whole, work});
    return found->second;
  }

  static constexpr size_t kRoom = 5;  // times as many blocks as the picture may have at last

  const analysis::RunData& run_;
  const analysis::AnalysisOptions& options_;
  const size_t room_;
  size_t blocks_ = 0;    // outside of kernels
  int64_t span_ns_ = 0;  // of the run, before anything of it was drawn
  Picture picture_;
  int64_t offset_ns_ = 0;
  const analysis::KernelNames* names_ = nullptr;      // of one session
  std::unordered_map<uint32_t, uint32_t> by_config_;  // texts of kernels, of one session
  std::unordered_set<std::string> waits_;             // events of warps, of one session
  // Of texts, by what sort of work they are.
  std::unordered_map<std::string_view, std::unordered_map<std::string, uint32_t>> ids_;
};

size_t count_blocks(const Picture& picture, bool is_inside) {
  size_t count = 0;
  for (const PictureTrack& track : picture.tracks) {
    if (track.is_inside() != is_inside) continue;
    for (const BlockRow& row : track.rows) count += row.size();
  }
  return count;
}

// The limit below which neighbours had to be merged; 0: all have room.
int64_t merge_to_fit(Picture& picture, bool is_inside, size_t max_blocks) {
  size_t blocks = count_blocks(picture, is_inside);
  const int64_t span_ns = picture.end_ns - picture.start_ns;
  int64_t merged_below_ns = is_inside ? 0 : picture.merged_below_ns;
  // Of what is inside of kernels even neighbours of some nanoseconds may do.
  const int64_t first_ns = is_inside ? 64 : std::max(first_limit_ns(span_ns), merged_below_ns);
  // Doubled until they fit: each round reads what the one before left.
  for (int64_t limit_ns = first_ns; blocks > max_blocks && limit_ns < span_ns; limit_ns *= 2) {
    for (PictureTrack& track : picture.tracks) {
      if (track.is_inside() != is_inside) continue;
      for (BlockRow& row : track.rows) row = merge_blocks(row, limit_ns);
    }
    merged_below_ns = limit_ns;
    blocks = count_blocks(picture, is_inside);
  }
  return merged_below_ns;
}

constexpr std::array<std::string_view, kPictureKinds> kKindNames = {
    "graphs",       "kernels",      "copies",      "fills",      "scopes",
    "markers",      "kernel_calls", "graph_calls", "copy_calls", "fill_calls",
    "memory_calls", "api_calls",    "waits",       "warps"};

}  // namespace

std::string_view to_string(PictureKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

BlockRow merge_blocks(const BlockRow& row, int64_t limit_ns) {
  BlockRow merged;
  int64_t longest_ns = 0;  // of those in the last block, which gives it its text
  for (const Block& block : row) {
    if (!merged.empty() && block.end_ns - merged.back().start_ns <= limit_ns) {
      Block& last = merged.back();
      last.end_ns = block.end_ns;
      last.count += block.count;
      last.busy_ns += block.busy_ns;
      if (block.busy_ns > longest_ns) {
        longest_ns = block.busy_ns;
        last.text = block.text;
      }
    } else {
      merged.push_back(block);
      longest_ns = block.busy_ns;
    }
  }
  return merged;
}

Picture make_picture(const analysis::RunData& run, size_t max_blocks,
                     const analysis::AnalysisOptions& options) {
  Picture picture = PictureBuilder(run, max_blocks, options).build();
  picture.merged_below_ns = merge_to_fit(picture, false, max_blocks);
  picture.inside_merged_below_ns = merge_to_fit(picture, true, max_blocks / 4);
  return picture;
}

}  // namespace gpufl::report
