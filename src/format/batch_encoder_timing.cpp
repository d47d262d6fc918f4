// SPDX-License-Identifier: Apache-2.0
#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "format/batch_encoder.hpp"
#include "format/integer_text.hpp"

namespace gpufl::format {
namespace {

constexpr size_t kRowsPerReference = 16;  // fewer, and references cost more than they save
constexpr uint32_t kSamplesPerGroup = 24;
constexpr uint32_t kSamplesOfAll = 256;  // when there are no groups
constexpr Base kStartBases[] = {Base::Last, Base::LastEnd};

// The nearest whole number in one instruction; what does not fit becomes the smallest int64.
inline int64_t nearest(double value) { return _mm_cvtsd_si64(_mm_set_sd(value)); }

// A list of rows, each told from the one before: `row` once for every nanosecond.
struct OffGrid {
  std::vector<uint64_t>& gaps;
  uint64_t last = 0;
  void add(uint64_t row, uint64_t times) {
    gaps.push_back(row - last);
    gaps.insert(gaps.end(), times - 1, 0);
    last = row;
  }
};

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

void BatchEncoder::take_samples() {
  const size_t groups = group_column_ == kNoColumn ? 1 : group_.ids().size();
  samples_.begins.assign(1, 0);
  if (group_column_ == kNoColumn) {
    samples_.rows.clear();
    const size_t stride = std::max<size_t>(1, rows_ / kSamplesOfAll);
    for (size_t row = stride / 2; row < rows_; row += stride) {
      samples_.rows.push_back(static_cast<uint32_t>(row));
    }
    samples_.begins.push_back(static_cast<uint32_t>(samples_.rows.size()));
    return;
  }
  strides_.resize(groups);
  countdown_.resize(groups);
  for (size_t g = 0; g < groups; ++g) {
    const uint32_t stride = std::max(1U, group_.counts()[g] / kSamplesPerGroup);
    strides_[g] = stride;
    countdown_[g] = (stride + 1) / 2;
    const uint32_t taken = (group_.counts()[g] - countdown_[g]) / stride + 1;
    samples_.begins.push_back(samples_.begins.back() + taken);
  }
  samples_.rows.resize(samples_.begins.back());
  next_.assign(samples_.begins.begin(), samples_.begins.end() - 1);
  for (size_t row = 0; row < rows_; ++row) {
    const uint64_t g = group_.index()[row];
    if (--countdown_[g] != 0) continue;
    countdown_[g] = strides_[g];
    samples_.rows[next_[g]++] = static_cast<uint32_t>(row);
  }
}

// Medians: unlike means they do not mind the one gap in a thousand that is a thousand times longer.
template <typename Told>
void BatchEncoder::fit_references(Told told, References& out) {
  out.values.clear();
  out.cost_bits = 0;
  for (size_t g = 0; g + 1 < samples_.begins.size(); ++g) {
    sampled_.clear();
    for (uint32_t i = samples_.begins[g]; i < samples_.begins[g + 1]; ++i) {
      sampled_.push_back(told(samples_.rows[i]));
    }
    const auto middle = sampled_.begin() + static_cast<ptrdiff_t>(sampled_.size() / 2);
    std::nth_element(sampled_.begin(), middle, sampled_.end());
    const int64_t reference = *middle;
    for (const int64_t value : sampled_) {
      out.cost_bits += static_cast<uint64_t>(std::bit_width(zigzag(wrapping_sub(value, reference))));
    }
    out.values.push_back(reference);
  }
}

// ,"by":"config","ref":[...],"z":[...]
template <typename Told>
void BatchEncoder::append_told(const References& references, Told told) {
  residuals_.resize(rows_);
  if (group_column_ == kNoColumn) {
    const int64_t reference = references.values[0];
    for (size_t row = 0; row < rows_; ++row) {
      residuals_[row] = zigzag(wrapping_sub(told(row), reference));
    }
    append_field(*out_, "ref");
    append_integer(*out_, reference);
  } else {
    const uint64_t* const index = group_.index().data();
    for (size_t row = 0; row < rows_; ++row) {
      residuals_[row] = zigzag(wrapping_sub(told(row), references.values[index[row]]));
    }
    append_field(*out_, "by");
    out_->push_back('"');
    out_->append(batch_->kind_spec().columns[group_column_].name).push_back('"');
    append_field(*out_, "ref");
    append_integer_list(*out_, references.values);
  }
  append_field(*out_, "z");
  append_unsigned_list(*out_, residuals_);
}

void BatchEncoder::append_residual(size_t i, std::span<const Base> bases) {
  const KindSpec& kind = batch_->kind_spec();
  const int64_t* const values = column(i).data();
  const size_t d = duration_of(kind, i);
  const int64_t* const durations =
      d != kNoColumn && batch_->has(d) ? column(d).data() : nullptr;
  const size_t start = first_time(kind);
  const int64_t* const starts =
      start != kNoColumn && start != i && batch_->has(start) ? column(start).data() : nullptr;

  // Calls `use` with the function that tells a row from `base`. False: this line has no such base.
  const auto with_base = [&](Base base, auto use) {
    switch (base) {
      case Base::None: use([=](size_t row) { return values[row]; }); return true;
      case Base::Last:
        use([=](size_t row) { return row == 0 ? values[0] : wrapping_sub(values[row], values[row - 1]); });
        return true;
      case Base::LastEnd:
        if (durations == nullptr) return false;
        use([=](size_t row) {
          return row == 0 ? values[0]
                          : wrapping_sub(wrapping_sub(values[row], values[row - 1]),
                                         durations[row - 1]);
        });
        return true;
      case Base::Start:
        if (starts == nullptr || durations == nullptr) return false;
        use([=](size_t row) {
          return wrapping_sub(wrapping_add(values[row], durations[row]), starts[row]);
        });
        return true;
    }
    return false;
  };

  Base best = Base::None;
  bool found = false;
  for (const Base base : bases) {
    const bool fits = with_base(base, [&](auto told) { fit_references(told, other_references_); });
    if (!fits || (found && other_references_.cost_bits >= references_.cost_bits)) continue;
    std::swap(references_, other_references_);
    best = base;
    found = true;
  }
  begin_column(i);
  out_->append("{\"as\":\"residual\"");
  if (!found) with_base(Base::None, [&](auto told) { fit_references(told, references_); });
  if (best != Base::None) {
    append_field(*out_, "base");
    out_->push_back('"');
    out_->append(kBaseNames[static_cast<size_t>(best)]).push_back('"');
  }
  with_base(best, [&](auto told) { append_told(references_, told); });
  out_->push_back('}');
}

// Fills ticks_. False when the stamps are not on a grid, or too many are off it to gain by it.
bool BatchEncoder::count_ticks(Values starts, Values durations) {
  const std::optional<TickGrid> grid = fit_tick_grid(starts, durations);
  if (!grid) return false;
  ticks_.grid = *grid;
  ticks_.start.resize(rows_);
  ticks_.length.resize(rows_);
  for (auto* list : {&ticks_.start_up, &ticks_.start_down, &ticks_.end_up, &ticks_.end_down}) {
    list->clear();
  }
  OffGrid start_up{ticks_.start_up}, start_down{ticks_.start_down};
  OffGrid end_up{ticks_.end_up}, end_down{ticks_.end_down};
  const double per_ns = 1 / grid->period_ns();
  uint64_t budget = rows_;

  const auto count = [&](int64_t stamp, size_t row, OffGrid& up, OffGrid& down, int64_t& ticks) {
    ticks = nearest(static_cast<double>(wrapping_sub(stamp, grid->origin_ns)) * per_ns);
    const int64_t off = wrapping_sub(stamp, grid->stamp(ticks));
    if (off == 0) return true;
    const uint64_t size = off > 0 ? static_cast<uint64_t>(off) : uint64_t{0} - static_cast<uint64_t>(off);
    if (size > budget) return false;
    budget -= size;
    (off > 0 ? up : down).add(row, size);
    return true;
  };
  for (size_t row = 0; row < rows_; ++row) {
    int64_t end_ticks;
    if (!count(starts[row], row, start_up, start_down, ticks_.start[row]) ||
        !count(wrapping_add(starts[row], durations[row]), row, end_up, end_down, end_ticks)) {
      return false;
    }
    ticks_.length[row] = wrapping_sub(end_ticks, ticks_.start[row]);
  }
  return true;
}

void BatchEncoder::append_gpu_time(size_t start, size_t duration) {
  const bool has_durations = duration != kNoColumn && batch_->has(duration);
  if (!has_durations || !count_ticks(column(start), column(duration))) {
    return append_residual(start, kStartBases);
  }
  const int64_t* const begins = ticks_.start.data();
  const int64_t* const lengths = ticks_.length.data();
  const auto from_last = [=](size_t row) {
    return row == 0 ? begins[0] : wrapping_sub(begins[row], begins[row - 1]);
  };
  const auto from_last_end = [=](size_t row) {
    return row == 0 ? begins[0]
                    : wrapping_sub(wrapping_sub(begins[row], begins[row - 1]), lengths[row - 1]);
  };
  // Durations that are all equal stay a scalar, and then nothing is told from an end.
  const bool tells_durations = !all_equal(column(duration));
  fit_references(from_last, references_);
  bool is_from_end = false;
  if (tells_durations) {
    fit_references(from_last_end, other_references_);
    is_from_end = other_references_.cost_bits < references_.cost_bits;
  }

  begin_column(start);
  out_->append("{\"as\":\"ticks\"");
  for (const auto& [name, value] :
       {std::pair{"tick", ticks_.grid.tick_ns}, std::pair{"drift", ticks_.grid.drift},
        std::pair{"phase", ticks_.grid.phase}, std::pair{"origin", ticks_.grid.origin_ns}}) {
    append_field(*out_, name);
    append_integer(*out_, value);
  }
  append_field(*out_, "base");
  if (is_from_end) {
    out_->append("\"last_end\"");
    append_told(other_references_, from_last_end);
  } else {
    out_->append("\"last\"");
    append_told(references_, from_last);
  }
  append_off_grid(ticks_.start_up, ticks_.start_down);
  out_->push_back('}');

  if (!tells_durations) return;
  const auto length = [=](size_t row) { return lengths[row]; };
  fit_references(length, references_);
  begin_column(duration);
  out_->append("{\"as\":\"ticks\"");
  append_told(references_, length);
  append_off_grid(ticks_.end_up, ticks_.end_down);
  out_->push_back('}');
  told_duration_ = duration;
}

void BatchEncoder::append_off_grid(const std::vector<uint64_t>& up,
                                   const std::vector<uint64_t>& down) {
  append_field(*out_, "up");
  append_unsigned_list(*out_, up);
  append_field(*out_, "down");
  append_unsigned_list(*out_, down);
}

}  // namespace gpufl::format
