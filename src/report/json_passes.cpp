// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/passes.hpp"
#include "report/json_figures.hpp"

namespace gpufl::report {
namespace {

using base::Json;

// Passes are numbered from 1, as in the log.
Json pass_number_json(const analysis::Figure<size_t>& place) {
  return json_figure(place, [](size_t known) { return Json(uint64_t{known + 1}); });
}

Json pass_json(const analysis::SessionPass& pass) {
  const bool is_there = !pass.got.empty();
  Json json = Json::object();
  json.set("asked", pass.asked).set("got", is_there ? Json(pass.got) : Json());
  json.set("reason", pass.why.reason).set("hint", pass.why.remedy);
  json.set("session", is_there ? Json(pass.session_id) : Json());
  json.set("log", is_there ? Json(pass.dir.string()) : Json());
  json.set("duration_ns", is_there ? Json(pass.duration_ns) : Json());
  json.set("duration_is_lower_bound", is_there && !pass.has_end);
  json.set("kernels", json_optional(pass.kernels));
  json.set("kernel_ns", pass.kernels ? Json(pass.kernel_ns) : Json());
  return json.set("launches", json_optional(pass.launches));
}

Json launch_mismatch_json(const analysis::LaunchMismatch& mismatch) {
  Json json = Json::object();
  json.set("kernel", mismatch.kernel).set("full_name", mismatch.full_name);
  json.set("scope", mismatch.scope.empty() ? Json() : Json(mismatch.scope));
  return json.set("launches", json_array(mismatch.launches, [](const auto& launches) {
                    return json_optional(launches);
                  }));
}

Json order_mismatch_json(const analysis::OrderMismatch& mismatch) {
  Json json = Json::object();
  json.set("pass", uint64_t{mismatch.pass + 1}).set("launch", mismatch.launch);
  return json.set("expected", mismatch.expected).set("found", mismatch.found);
}

}  // namespace

Json passes_json(const analysis::MergedPasses& passes) {
  Json json = Json::object();
  json.set("list", json_array(passes.list, pass_json));
  json.set("times", uint64_t{passes.times + 1});
  json.set("stalls", pass_number_json(passes.stalls))
      .set("counts", pass_number_json(passes.counts))
      .set("ranges", pass_number_json(passes.ranges));
  Json mismatches = Json::object();
  mismatches.set("launches", json_array(passes.launches, launch_mismatch_json));
  mismatches.set("order", json_array(passes.order, order_mismatch_json));
  mismatches.set("not_compared",
                 json_array(passes.uncompared, [](const std::string& why) { return Json(why); }));
  return json.set("mismatches", std::move(mismatches));
}

}  // namespace gpufl::report
