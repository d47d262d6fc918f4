// SPDX-License-Identifier: Apache-2.0
#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "format/batch_encoder.hpp"
#include "format/integer_text.hpp"

namespace gpufl::format {
namespace {

constexpr size_t kRowsPerReference = 16;  // fewer, and references cost more than they save
constexpr uint32_t kSamplesPerGroup = 16;
constexpr size_t kSpreadSamples = 256;
constexpr Base kStartBases[] = {Base::Last, Base::LastEnd};

// The nearest whole number in one instruction; what does not fit becomes the smallest int64.
inline int64_t nearest(double value) { return _mm_cvtsd_si64(_mm_set_sd(value)); }

}  // namespace

// References go by the first palette of the kind, when this line has rows enough for each entry.
void BatchEncoder::choose_group() {
  const KindSpec& kind = batch_->kind_spec();
  group_.clear();
  group_column_ = kNoColumn;
  if (rows_ < 2 * kRowsPerReference) return;
  for (size_t i = 0; i < kind.columns.size(); ++i) {
    if (kind.columns[i].coding != Coding::Palette) continue;
    if (!batch_->has(i) || !group_.build(column(i))) return;
    if (group_.ids().size() > 1 && group_.ids().size() * kRowsPerReference <= rows_) {
      group_column_ = i;
    } else {
      group_.clear();
    }
    return;
  }
}

// A few rows of every group, evenly spread over the line.
void BatchEncoder::take_samples() {
  spread_rows_.clear();
  const size_t stride = rows_ / std::clamp<size_t>(rows_ / 8, 1, kSpreadSamples);
  for (size_t row = stride / 2; row < rows_; row += stride) {
    spread_rows_.push_back(static_cast<uint32_t>(row));
  }
  if (group_column_ == kNoColumn) return;

  const size_t groups = group_.ids().size();
  strides_.resize(groups);
  countdown_.resize(groups);
  group_begins_.assign(1, 0);
  for (size_t g = 0; g < groups; ++g) {
    strides_[g] = std::max(1U, group_.counts()[g] / kSamplesPerGroup);
    countdown_[g] = (strides_[g] + 1) / 2;
    const uint32_t taken = (group_.counts()[g] - countdown_[g]) / strides_[g] + 1;
    group_begins_.push_back(group_begins_.back() + taken);
  }
  group_rows_.resize(group_begins_.back());
  next_.assign(group_begins_.begin(), group_begins_.end() - 1);
  for (size_t row = 0; row < rows_; ++row) {
    const uint64_t g = group_.index()[row];
    if (--countdown_[g] != 0) continue;
    countdown_[g] = strides_[g];
    group_rows_[next_[g]++] = static_cast<uint32_t>(row);
  }
}

// The median of what is told at some rows: unlike a mean it does not mind the one gap in a thousand
// that is a thousand times longer. Leaves those values in sampled_.
template <typename Told>
int64_t BatchEncoder::median(std::span<const uint32_t> rows, Told told) {
  sampled_.clear();
  for (const uint32_t row : rows) sampled_.push_back(told(row));
  const auto middle = sampled_.begin() + static_cast<ptrdiff_t>(sampled_.size() / 2);
  std::nth_element(sampled_.begin(), middle, sampled_.end());
  return *middle;
}

// What rows spread over the line cost around their median.
template <typename Told>
uint64_t BatchEncoder::cost_bits(Told told) {
  const int64_t reference = median(spread_rows_, told);
  uint64_t bits = 0;
  for (const int64_t value : sampled_) {
    bits += static_cast<uint64_t>(std::bit_width(zigzag(wrapping_sub(value, reference))));
  }
  return bits;
}

// ,"by":"config","ref":[...],"z":[...]
template <typename Told>
void BatchEncoder::append_told(Told told) {
  residuals_.resize(rows_);
  if (group_column_ == kNoColumn) {
    const int64_t reference = median(spread_rows_, told);
    for (size_t row = 0; row < rows_; ++row) {
      residuals_[row] = zigzag(wrapping_sub(told(row), reference));
    }
    append_field(*out_, "ref");
    append_integer(*out_, reference);
  } else {
    references_.clear();
    for (size_t g = 0; g + 1 < group_begins_.size(); ++g) {
      const size_t count = group_begins_[g + 1] - group_begins_[g];
      references_.push_back(median({group_rows_.data() + group_begins_[g], count}, told));
    }
    const int64_t* const references = references_.data();
    const uint64_t* const index = group_.index().data();
    for (size_t row = 0; row < rows_; ++row) {
      residuals_[row] = zigzag(wrapping_sub(told(row), references[index[row]]));
    }
    append_field(*out_, "by");
    out_->push_back('"');
    out_->append(batch_->kind_spec().columns[group_column_].name).push_back('"');
    append_field(*out_, "ref");
    append_integer_list(*out_, references_);
  }
  append_field(*out_, "z");
  append_unsigned_list(*out_, residuals_);
}

void BatchEncoder::append_residual(size_t i, std::span<const Base> bases) {
  const KindSpec& kind = batch_->kind_spec();
  const int64_t* const values = column(i).data();
  const size_t d = duration_of(kind, i);
  const int64_t* const durations = d != kNoColumn && batch_->has(d) ? column(d).data() : nullptr;
  const size_t start = first_time(kind);
  const int64_t* const starts =
      start != kNoColumn && start != i && batch_->has(start) ? column(start).data() : nullptr;

  // Calls `use` with the function that tells a row from `base`; not when the line has no such base.
  const auto with_base = [&](Base base, auto use) {
    switch (base) {
      case Base::None: return use([=](size_t row) { return values[row]; });
      case Base::Last:
        return use([=](size_t row) {
          return row == 0 ? values[0] : wrapping_sub(values[row], values[row - 1]);
        });
      case Base::LastEnd:
        if (durations == nullptr) return;
        return use([=](size_t row) {
          return row == 0
                     ? values[0]
                     : wrapping_sub(wrapping_sub(values[row], values[row - 1]), durations[row - 1]);
        });
      case Base::Start:
        if (starts == nullptr || durations == nullptr) return;
        return use([=](size_t row) {
          return wrapping_sub(wrapping_add(values[row], durations[row]), starts[row]);
        });
    }
  };

  Base best = Base::None;
  if (bases.size() > 1) {
    uint64_t least = std::numeric_limits<uint64_t>::max();
    for (const Base base : bases) {
      with_base(base, [&](auto told) {
        const uint64_t bits = cost_bits(told);
        if (bits < least) best = base;
        least = std::min(least, bits);
      });
    }
  }
  begin_column(i);
  out_->append("{\"as\":\"residual\"");
  if (best != Base::None) {
    append_field(*out_, "base");
    out_->push_back('"');
    out_->append(kBaseNames[static_cast<size_t>(best)]).push_back('"');
  }
  with_base(best, [&](auto told) { append_told(told); });
  out_->push_back('}');
}

// Turns stamps into ticks, and lists the rows that are off the grid. False when too many are.
bool BatchEncoder::count_ticks(const TickGrid& grid, Values stamps,
                               base::PageVector<int64_t>& ticks, OffGrid& off_grid) {
  ticks.resize(rows_);
  off_rows_.resize(rows_ + 1);
  const double per_ns = 1 / grid.period_ns();
  size_t count = 0;
  for (size_t row = 0; row < rows_; ++row) {
    ticks[row] = nearest(static_cast<double>(wrapping_sub(stamps[row], grid.origin_ns)) * per_ns);
    // Always stored, kept when needed: a branch here would be a coin toss.
    off_rows_[count] = static_cast<uint32_t>(row);
    count += stamps[row] != grid.stamp(ticks[row]);
  }

  off_grid.up.clear();
  off_grid.down.clear();
  uint64_t budget = rows_ / 2;
  uint64_t last_up = 0;
  uint64_t last_down = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t row = off_rows_[i];
    const int64_t off = wrapping_sub(stamps[row], grid.stamp(ticks[row]));
    const bool is_up = off > 0;
    const uint64_t size =
        is_up ? static_cast<uint64_t>(off) : uint64_t{0} - static_cast<uint64_t>(off);
    if (size > budget) return false;
    budget -= size;
    base::PageVector<uint64_t>& gaps = is_up ? off_grid.up : off_grid.down;
    uint64_t& last = is_up ? last_up : last_down;
    gaps.push_back(row - last);
    gaps.insert(gaps.end(), size - 1, 0);
    last = row;
  }
  return true;
}

bool BatchEncoder::find_ticks(Values starts, Values durations) {
  const std::optional<TickGrid> grid = fit_tick_grid(starts, durations);
  if (!grid) return false;
  ends_.resize(rows_);
  for (size_t row = 0; row < rows_; ++row) ends_[row] = wrapping_add(starts[row], durations[row]);
  if (!count_ticks(*grid, starts, start_ticks_, start_off_grid_) ||
      !count_ticks(*grid, ends_, lengths_, end_off_grid_)) {
    return false;
  }
  for (size_t row = 0; row < rows_; ++row) {
    lengths_[row] = wrapping_sub(lengths_[row], start_ticks_[row]);
  }
  grid_ = *grid;
  return true;
}

void BatchEncoder::append_gpu_time(size_t start, size_t duration) {
  const bool has_durations = duration != kNoColumn && batch_->has(duration);
  if (!has_durations || !find_ticks(column(start), column(duration))) {
    return append_residual(start, kStartBases);
  }
  const int64_t* const starts = start_ticks_.data();
  const int64_t* const lengths = lengths_.data();
  const auto from_last = [=](size_t row) {
    return row == 0 ? starts[0] : wrapping_sub(starts[row], starts[row - 1]);
  };
  const auto from_last_end = [=](size_t row) {
    return row == 0 ? starts[0]
                    : wrapping_sub(wrapping_sub(starts[row], starts[row - 1]), lengths[row - 1]);
  };
  begin_column(start);
  out_->append("{\"as\":\"ticks\"");
  for (const auto& [name, value] :
       {std::pair{"tick", grid_.tick_ns}, std::pair{"drift", grid_.drift},
        std::pair{"phase", grid_.phase}, std::pair{"origin", grid_.origin_ns}}) {
    append_field(*out_, name);
    append_integer(*out_, value);
  }
  append_field(*out_, "base");
  // Durations that are all equal stay a scalar, and then nothing is told from an end.
  const bool tells_durations = !all_equal(column(duration));
  if (tells_durations && cost_bits(from_last_end) < cost_bits(from_last)) {
    out_->append("\"last_end\"");
    append_told(from_last_end);
  } else {
    out_->append("\"last\"");
    append_told(from_last);
  }
  append_off_grid(start_off_grid_);
  out_->push_back('}');
  if (!tells_durations) return;

  begin_column(duration);
  out_->append("{\"as\":\"ticks\"");
  append_told([=](size_t row) { return lengths[row]; });
  append_off_grid(end_off_grid_);
  out_->push_back('}');
  told_duration_ = duration;
}

void BatchEncoder::append_off_grid(const OffGrid& off_grid) {
  append_field(*out_, "up");
  append_unsigned_list(*out_, off_grid.up);
  append_field(*out_, "down");
  append_unsigned_list(*out_, off_grid.down);
}

}  // namespace gpufl::format
