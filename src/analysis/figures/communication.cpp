// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/communication.hpp"

#include "analysis/figures/gaps.hpp"
#include "analysis/figures/kernel_groups.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/session/selection.hpp"
#include "analysis/session/work_rows.hpp"

namespace gpufl::analysis {

Figure<std::vector<Communication>> communication(const SessionData& session,
                                                 const AnalysisOptions& options) {
  if (!records_gpu_work(session)) return missing_gpu_work(session.summary);
  const Tables& tables = session.tables;
  std::vector<bool> communicates;  // by configuration
  bool is_any = false;
  for (const LaunchConfig& config : tables.configs) {
    communicates.push_back(session.kernel_names().of(config.name).kernel_class ==
                           KernelClass::Communication);
    is_any = is_any || communicates.back();
  }
  std::vector<Communication> out;
  if (!is_any) return out;

  struct Covered {
    CoveredTime communication, compute, both;
    uint64_t kernels = 0;
  };
  const Selection selection(tables, options);
  const DeviceIndex index(tables);
  std::vector<Covered> devices(index.devices.size());
  const Kernels& kernels = tables.kernels;
  for (uint32_t row = 0; row < kernels.rows(); ++row) {
    if (!selection.concerns(kernels, row)) continue;
    Covered& device = devices[index.of(kernels, row)];
    const Interval span = selection.span(kernels, row);
    const WorkRow work{WorkKind::Kernel, row};
    device.both.add(span, work);
    if (communicates[kernels.config[row]]) {
      device.communication.add(span, work);
      device.kernels += selection.has_window(kernels.start[row]) ? 1 : 0;
    } else {
      device.compute.add(span, work);
    }
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    const Covered& device = devices[i];
    if (device.kernels == 0) continue;
    const int64_t communication_ns = device.communication.total_ns();
    const int64_t compute_ns = device.compute.total_ns();
    // What is in both is counted twice in their sum.
    out.push_back({index.devices[i], device.kernels, communication_ns, compute_ns,
                   communication_ns + compute_ns - device.both.total_ns()});
  }
  return out;
}

}  // namespace gpufl::analysis
