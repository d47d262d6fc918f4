// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/measured_noise.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace gpufl::bench {
namespace {

constexpr double kDisturbed = 0.02;  // so much slower than the usual run

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sum_of_squares(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return sum;
}

double deviation(const std::vector<double>& values) {
  return std::sqrt(sum_of_squares(values) / static_cast<double>(values.size() - 1));
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One row for each run; logarithms, of one thing in each column.
using Rows = std::vector<std::vector<double>>;

// Takes what is common to a column out of it: what is left is how a run differs.
void center_columns(Rows& rows) {
  for (size_t column = 0; column < rows.front().size(); ++column) {
    double sum = 0;
    for (const auto& row : rows) sum += row[column];
    for (auto& row : rows) row[column] -= sum / static_cast<double>(rows.size());
  }
}

// Takes what is common to a row out of it, and returns it: what all kernels of a run share.
std::vector<double> center_rows(Rows& rows) {
  std::vector<double> common;
  for (auto& row : rows) {
    common.push_back(mean(row));
    for (double& value : row) value -= common.back();
  }
  return common;
}

}  // namespace

base::Result<Noise> measured_noise(std::string_view json) {
  const auto document = base::Json::parse(json);
  if (!document) return document.status();
  const base::Status bad(base::Code::Corrupt, "no runs with medians of the same kernels");
  Rows medians;
  std::vector<double> pauses, drifts;
  for (const base::Json& run : (*document)["runs"].items()) {
    auto& row = medians.emplace_back();
    std::vector<double> quarters(4);
    for (const auto& [kernel, median_ns] : run["median_ns"].members()) {
      row.push_back(std::log(median_ns.as_number()));
      const auto& of_kernel = run["quarter_median_ns"][kernel].items();
      if (of_kernel.size() != quarters.size()) return bad;
      for (size_t i = 0; i < quarters.size(); ++i) {
        quarters[i] += std::log(of_kernel[i].as_number());
      }
    }
    if (row.size() < 2 || row.size() != medians.front().size()) return bad;
    for (double& quarter : quarters) quarter /= static_cast<double>(row.size());
    const double middle = mean(quarters);
    for (const double quarter : quarters) drifts.push_back(quarter - middle);
    pauses.push_back(std::log(run["span_ns"].as_number() - run["busy_ns"].as_number()));
  }
  if (medians.size() < 2) return bad;
  const auto runs = static_cast<double>(medians.size());
  const auto kernels = static_cast<double>(medians.front().size());
  center_columns(medians);
  const std::vector<double> common = center_rows(medians);
  double squares = 0;
  for (const auto& row : medians) squares += sum_of_squares(row);
  Noise noise;
  noise.run = deviation(common);
  noise.kernel = std::sqrt(squares / ((runs - 1) * (kernels - 1)));
  // Four quarters around their mean have three degrees of freedom.
  noise.drift =
      std::sqrt(std::inner_product(drifts.begin(), drifts.end(), drifts.begin(), 0.0) / (runs * 3));
  noise.host = deviation(pauses);
  const double usual = median(common);
  const auto disturbed = std::count_if(common.begin(), common.end(),
                                       [&](double factor) { return factor - usual > kDisturbed; });
  noise.disturbed_runs = std::max(noise.disturbed_runs, static_cast<double>(disturbed) / runs);
  for (const double spread : {noise.run, noise.kernel, noise.drift, noise.host}) {
    if (!std::isfinite(spread)) return bad;
  }
  return noise;
}

base::Result<Noise> load_measured_noise(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return measured_noise(std::string(std::istreambuf_iterator<char>(stream), {}));
}

}  // namespace gpufl::bench
