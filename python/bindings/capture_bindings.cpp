// SPDX-License-Identifier: Apache-2.0
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <gpufl/gpufl.hpp>
#include <string>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/option_values.hpp"
#include "client/client.hpp"
#include "workbench/cleanup.hpp"

namespace nb = nanobind;

// The functions of include/gpufl, and of Client where Python can tell more than C++. Everything
// that can wait for a disk, a lock or a driver lets other threads of Python run.
namespace gpufl::python {
namespace {

using client::Client;
using workbench::Cleanup;
using Unlocked = nb::call_guard<nb::gil_scoped_release>;

bool start(const InitOptions& options, const nb::dict& given) {
  const AskedOptions asked = asked_options(options, given);
  const nb::gil_scoped_release unlocked;
  return Client::instance().init(asked.values, {}, asked.named);
}

InitOptions options_in_force(const InitOptions& options, const nb::dict& given) {
  const AskedOptions asked = asked_options(options, given);
  client::ResolvedOptions resolved = client::options_in_force(asked.values, asked.named);
  if (resolved.is_disabled) resolved.options.enabled = false;
  return resolved.options;
}

void check(const base::Status& status) {
  if (!status.is_ok()) throw std::runtime_error(status.message());
}

void bind_session(nb::module_& module) {
  nb::class_<SessionStatus>(module, "SessionStatus", "Whether a session runs, and why not.")
      .def_ro("recording", &SessionStatus::recording)
      .def_ro("reason", &SessionStatus::reason)
      .def("__repr__", [](const SessionStatus& status) {
        return status.recording ? "<SessionStatus: recording>"
                                : "<SessionStatus: not recording: " + status.reason + ">";
      });
  module.def("status", &gpufl::status, Unlocked(),
             "Whether a session runs; where none does, why the last init() gave none.");
  module.def("init", &start, nb::arg("options"), nb::arg("given"));
  module.def("options_in_force", &options_in_force, nb::arg("options"), nb::arg("given"),
             "What init() of the same would go by, with environment and config file.");
  module.def("shutdown", &gpufl::shutdown, Unlocked());
  module.def("system_start", &gpufl::systemStart, nb::arg("name") = "system", Unlocked(),
             "Sample system metrics from here to system_stop(), whatever scopes are open.");
  module.def("system_stop", &gpufl::systemStop, nb::arg("name") = "system", Unlocked(),
             "Undo one system_start() of that name.");
  module.def("pause", [] { check(Client::instance().pause()); }, Unlocked());
  module.def("resume", [] { check(Client::instance().resume()); }, Unlocked());
  module.def(
      "open_deep_window",
      [](int max_duration_ms, int max_launches, int cooldown_ms, std::string name) {
        return gpufl::deepWindow({max_duration_ms, max_launches, cooldown_ms, std::move(name)});
      },
      nb::arg("max_duration_ms"), nb::arg("max_launches"), nb::arg("cooldown_ms"), nb::arg("name"),
      Unlocked());
  module.def("close_deep_window", &gpufl::deepWindowClose, Unlocked());
  module.def("deep_window_active", &gpufl::deepWindowActive, Unlocked(),
             "Whether a deep window is open, or opening.");
  module.def("is_recording", [] { return Client::instance().is_recording(); }, Unlocked());
  module.def("session_folder", [] { return Client::instance().folder(); }, Unlocked());
  module.def("report", [] { return Client::instance().report(); }, Unlocked());
}

void bind_counters(nb::module_& module) {
  nb::class_<Counter>(module, "Counter", "A named count of the program's own work.")
      .def("add", &Counter::add, nb::arg("n") = 1)
      .def_prop_ro("value", &Counter::value);
  module.def("counter", &gpufl::counter, nb::arg("name"),
             "The counter of that name, the same for every caller.");
  module.def("tick", &gpufl::tick, nb::arg("name"), nb::arg("n") = 1, "counter(name).add(n)");
}

void bind_upload(nb::module_& module) {
  nb::class_<UploadOptions>(module, "UploadOptions")
      .def(nb::init<>())
      .def_rw("log_path", &UploadOptions::log_path)
      .def_rw("backend_url", &UploadOptions::backend_url)
      .def_rw("api_key", &UploadOptions::api_key)
      .def_rw("api_path", &UploadOptions::api_path)
      .def_rw("total_timeout_ms", &UploadOptions::total_timeout_ms)
      .def_rw("connect_timeout_ms", &UploadOptions::connect_timeout_ms)
      .def_rw("read_timeout_ms", &UploadOptions::read_timeout_ms)
      .def_rw("max_retries", &UploadOptions::max_retries)
      .def_rw("retry_delay_ms", &UploadOptions::retry_delay_ms)
      .def_rw("cursor_filename", &UploadOptions::cursor_filename)
      .def_rw("session_id_filter", &UploadOptions::session_id_filter)
      .def_rw("all_sessions", &UploadOptions::all_sessions)
      .def_rw("force", &UploadOptions::force)
      .def_rw("report_progress", &UploadOptions::report_progress)
      .def_rw("progress_log_interval_ms", &UploadOptions::progress_log_interval_ms)
      .def_rw("progress_log_interval_bytes", &UploadOptions::progress_log_interval_bytes);
  nb::class_<UploadResult>(module, "UploadResult", "What upload_logs() did.")
      .def(nb::init<>())
      .def_rw("success", &UploadResult::success)
      .def_rw("files_processed", &UploadResult::files_processed)
      .def_rw("files_skipped_by_cursor", &UploadResult::files_skipped_by_cursor)
      .def_rw("events_uploaded", &UploadResult::events_uploaded)
      .def_rw("bytes_uploaded", &UploadResult::bytes_uploaded)
      .def_rw("elapsed_ms", &UploadResult::elapsed_ms)
      .def_rw("warnings", &UploadResult::warnings)
      .def_rw("spool_ids", &UploadResult::spool_ids)
      .def("__repr__", [](const UploadResult& result) {
        return "<UploadResult: " + std::string(result.success ? "success" : "failure") + ", " +
               std::to_string(result.files_processed) + " files, " +
               std::to_string(result.events_uploaded) + " events, " +
               std::to_string(result.warnings.size()) + " warnings>";
      });
  module.def("upload_logs", &gpufl::uploadLogs, nb::arg("options"), Unlocked());
}

void bind_cleanup(nb::module_& module) {
  nb::class_<Cleanup>(module, "Cleanup", "What clean_logs() did, or would do.")
      .def_ro("deleted", &Cleanup::deleted)
      .def_ro("emptied", &Cleanup::emptied)
      .def_ro("kept", &Cleanup::kept)
      .def_ro("bytes", &Cleanup::bytes)
      .def("__repr__", [](const Cleanup& cleanup) {
        return "<Cleanup: deleted " + std::to_string(cleanup.deleted.size()) + ", emptied " +
               std::to_string(cleanup.emptied.size()) + ", kept " +
               std::to_string(cleanup.kept.size()) + ", " + std::to_string(cleanup.bytes) +
               " bytes>";
      });
  const auto clean = [](const std::filesystem::path& folder, bool dry_run) {
    return workbench::delete_sessions(folder, dry_run);
  };
  module.def("clean_logs", clean, nb::arg("log_path"), nb::arg("dry_run") = false, Unlocked(),
             "Delete the sessions below a folder, but none that is being written and no file that "
             "is not a session's own.");
}

using Words = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// `record(words, count, info)` with what Python has of it.
template <typename Record>
const char* with_words(const Words& words, const WarpscopeInfo& info, Record record) {
  if (words.itemsize() != sizeof(uint64_t)) throw nb::type_error("words must have 64 bits each");
  const nb::gil_scoped_release unlocked;
  return to_string(record(static_cast<const uint64_t*>(words.data()), words.size(), info));
}

void bind_warpscope(nb::module_& module) {
  using Names = std::map<uint32_t, std::string>;
  module.attr("MAX_WARPSCOPE_WORDS") = kMaxWarpscopeWords;
  module.def(
      "record_warpscope",
      [](const Words& words, Names events, Names groups, std::string kernel, int64_t device) {
        return with_words(words,
                          {std::move(events), std::move(groups), std::move(kernel), device, 0},
                          recordWarpscope);
      },
      nb::arg("words"), nb::arg("event_names"), nb::arg("group_names"), nb::arg("kernel_name"),
      nb::arg("device"));
  nb::class_<WarpscopeCapture>(module, "WarpscopeCapture")
      .def(nb::init<>(), Unlocked())
      .def(
          "record",
          [](const WarpscopeCapture& capture, const Words& words, Names events, Names groups,
             std::string kernel, int64_t device) {
            return with_words(
                words, {std::move(events), std::move(groups), std::move(kernel), device, 0},
                [&](const auto&... arguments) { return capture.record(arguments...); });
          },
          nb::arg("words"), nb::arg("event_names"), nb::arg("group_names"), nb::arg("kernel_name"),
          nb::arg("device"));
}

}  // namespace

void bind_capture(nb::module_& module) {
  bind_session(module);
  bind_counters(module);
  bind_cleanup(module);
  bind_upload(module);
  bind_warpscope(module);
}

}  // namespace gpufl::python
