// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "bindings/loaded_session.hpp"
#include "bindings/session_frames.hpp"
#include "text/cut_names.hpp"
#include "workbench/compare.hpp"
#include "workbench/find_sessions.hpp"
#include "workbench/report.hpp"

// What gpufl.analyzer, gpufl.report and gpufl.viz are made of. Everything that reads files or
// computes does so with the interpreter's lock released.
namespace gpufl::python {
namespace {

namespace nb = nanobind;
namespace fs = std::filesystem;
using nb::literals::operator""_a;

[[noreturn]] void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

[[noreturn]] void raise(const base::Status& status) {
  switch (status.code()) {
    case base::Code::Cancelled: throw nb::python_error();  // what go_on() met
    case base::Code::NotFound: raise(PyExc_FileNotFoundError, status.message());
    case base::Code::PermissionDenied: raise(PyExc_PermissionError, status.message());
    case base::Code::IoError: raise(PyExc_OSError, status.message());
    case base::Code::InvalidArgument:
    case base::Code::Corrupt:
    case base::Code::TooNew: raise(PyExc_ValueError, status.message());
    default: raise(PyExc_RuntimeError, status.message());
  }
}

// Lets Python's signals reach it while a session is read: an interrupt stops the reading.
bool go_on(workbench::Stage /*stage*/, uint64_t /*done*/, uint64_t /*total*/) {
  const nb::gil_scoped_acquire locked;
  return PyErr_CheckSignals() == 0;
}

template <typename Memory>
nb::capsule owned(Memory memory) {
  return nb::capsule(new Memory(std::move(memory)),
                     [](void* kept) noexcept { delete static_cast<Memory*>(kept); });
}

// Read-only for Python: what a column shows may be the session's own memory, or the frame's.
template <typename T>
nb::object to_numpy(const FrameArray& array, size_t rows, nb::handle shared_owner) {
  nb::object owner = nb::borrow(shared_owner);
  if (array.memory != nullptr) owner = owned(array.memory);
  static constexpr T kNone{};
  const void* data = array.data != nullptr ? array.data : &kNone;
  return nb::cast(
      nb::ndarray<nb::numpy, const T, nb::ndim<1>>(static_cast<const T*>(data), {rows}, owner));
}

nb::object values_of(const FrameColumn& column, size_t rows, nb::handle owner) {
  switch (column.dtype) {
    case Dtype::Int64: return to_numpy<int64_t>(column.values, rows, owner);
    case Dtype::UInt64: return to_numpy<uint64_t>(column.values, rows, owner);
    case Dtype::Float64: return to_numpy<double>(column.values, rows, owner);
    case Dtype::Code8: return to_numpy<int8_t>(column.values, rows, owner);
    case Dtype::Code16: return to_numpy<int16_t>(column.values, rows, owner);
    case Dtype::Code32: return to_numpy<int32_t>(column.values, rows, owner);
  }
  return nb::none();
}

bool is_code(Dtype dtype) {
  return dtype == Dtype::Code8 || dtype == Dtype::Code16 || dtype == Dtype::Code32;
}

nb::list frame_columns(nb::handle self, std::string_view table) {
  const auto& session = nb::cast<const LoadedSession&>(self);
  Frame frame;
  {
    const nb::gil_scoped_release unlocked;
    frame = session.frame(table);
  }
  if (frame.columns.empty()) raise(PyExc_KeyError, "no table '" + std::string(table) + "'");
  nb::list columns;
  const nb::tuple owner = nb::make_tuple(self, owned(std::move(frame.kept)));
  for (const FrameColumn& column : frame.columns) {
    const bool has_missing = column.missing.data != nullptr;
    columns.append(
        nb::make_tuple(column.name, values_of(column, frame.rows, owner),
                       has_missing ? to_numpy<bool>(column.missing, frame.rows, owner) : nb::none(),
                       is_code(column.dtype) ? nb::cast(column.categories) : nb::none()));
  }
  return columns;
}

nb::dict header_of(const format::SessionHeader& header, const fs::path& folder) {
  nb::dict facts;
  facts["path"] = folder;
  facts["session_id"] = timeline::valid_utf8(header.session_id);
  facts["run_id"] = timeline::valid_utf8(header.run_id);
  facts["app_name"] = timeline::valid_utf8(header.app_name);
  facts["engine"] = timeline::valid_utf8(header.engine);
  facts["start_wall_ns"] = header.start_wall_ns;
  facts["rank"] = header.rank ? nb::cast(*header.rank) : nb::none();
  facts["pass"] = header.pass ? nb::cast(*header.pass) : nb::none();
  nb::list passes;
  for (const std::string& engine : header.passes) passes.append(timeline::valid_utf8(engine));
  facts["passes"] = passes;
  return facts;
}

// Oldest first, whatever run's folder they lie in. Folders that cannot be read are left out.
nb::list find_sessions(const fs::path& path) {
  std::vector<workbench::FoundSession> found;
  {
    const nb::gil_scoped_release unlocked;
    found = workbench::find_sessions(path);
  }
  nb::list sessions;
  for (const workbench::FoundSession& session : found) {
    if (session.is_readable()) sessions.append(header_of(session.header, session.dir));
  }
  return sessions;
}

bool recorded_nothing(const fs::path& folder) {
  const nb::gil_scoped_release unlocked;
  return workbench::recorded_nothing(
      workbench::describe(folder, format::SessionReader::open(folder)));
}

std::string why_no_session(const fs::path& path) { return workbench::no_session(path).message(); }

std::unique_ptr<LoadedSession> load_session(const fs::path& folder, size_t stack_depth) {
  auto session = [&] {
    const nb::gil_scoped_release unlocked;
    return workbench::HeldSession::load(folder, {workbench::system_libdw(), go_on});
  }();
  if (!session) raise(session.status());
  return std::make_unique<LoadedSession>(std::move(*session), stack_depth);
}

report::TextOptions text_options(size_t top, size_t width, std::string_view sort) {
  report::TextOptions options;
  options.top = top;
  options.width = width;
  const auto order = report::kernel_sort_of(sort);
  if (!order) raise(PyExc_ValueError, "cannot sort kernels by '" + std::string(sort) + "'");
  options.sort = *order;
  return options;
}

// Names from a log may be any bytes; Python's text may not.
template <typename Make>
std::string unlocked_text(Make make) {
  const nb::gil_scoped_release unlocked;
  return timeline::valid_utf8(make());
}

std::string write_report(const LoadedSession& session, std::string_view format, size_t top,
                         size_t width, std::string_view sort, bool is_full) {
  report::TextOptions options = text_options(top, width, sort);
  options.is_full = is_full;
  const auto named = workbench::format_named(format, workbench::kReportFormats);
  if (!named) raise(named.status());
  return unlocked_text([&] { return session->report(*named, options); });
}

std::string write_section(const LoadedSession& session, std::string_view name, size_t top,
                          size_t width, std::string_view sort) {
  const report::TextOptions options = text_options(top, width, sort);
  const auto text = [&] {
    const nb::gil_scoped_release unlocked;
    return session->section(name, options);
  }();
  if (!text) raise(PyExc_KeyError, text.status().message());
  return timeline::valid_utf8(*text);
}

std::string write_kernel(const LoadedSession& session, const std::string& name, bool with_source,
                         std::string_view format, size_t top, size_t width) {
  const auto named = workbench::format_named(format, workbench::kReportFormats);
  if (!named) raise(named.status());
  const report::TextOptions options = text_options(top, width, "total");
  const auto text = [&] {
    const nb::gil_scoped_release unlocked;
    return session->kernel({name, with_source, {}}, *named, options);
  }();
  if (!text && text.status().code() == base::Code::NotFound) {
    raise(PyExc_KeyError, text.status().message());
  }
  if (!text) raise(text.status());
  return timeline::valid_utf8(*text);
}

std::string ledger_text(const LoadedSession& session) {
  const std::optional<format::Ledger>& ledger = session->session().summary.ledger;
  return ledger ? timeline::valid_utf8(ledger->to_json().dump()) : "null";
}

// Group, name, rows of (start_ns, end_ns, label, count) of each track.
nb::list timeline(const LoadedSession& session, size_t max_blocks) {
  report::Picture picture;
  {
    const nb::gil_scoped_release unlocked;
    picture = session->picture(max_blocks);
  }
  nb::list tracks;
  for (const report::PictureTrack& track : picture.tracks) {
    nb::list rows;
    for (const report::BlockRow& blocks : track.rows) {
      nb::list row;
      for (const report::Block& block : blocks) {
        row.append(nb::make_tuple(block.start_ns, block.end_ns,
                                  timeline::valid_utf8(picture.texts[block.text].label),
                                  block.count));
      }
      rows.append(row);
    }
    tracks.append(
        nb::make_tuple(timeline::valid_utf8(track.group), timeline::valid_utf8(track.name), rows));
  }
  return tracks;
}

std::vector<std::string> cut_names(const std::vector<std::string>& names, size_t width) {
  return text::cut_names(names, width);
}

std::string diff(std::vector<fs::path> a, std::vector<fs::path> b, const std::string& format,
                 size_t top, size_t width) {
  const auto named = workbench::format_named(format, workbench::kDiffFormats);
  if (!named) raise(named.status());
  workbench::DiffRequest request;
  request.a = std::move(a);
  request.b = std::move(b);
  request.open.progress = go_on;
  report::TextOptions text;
  text.top = top;
  text.width = width;
  const auto comparison = [&] {
    const nb::gil_scoped_release unlocked;
    return workbench::diff(request);
  }();
  if (!comparison) raise(comparison.status());
  return unlocked_text([&] { return workbench::write_diff(*comparison, *named, text); });
}

}  // namespace

void bind_analysis(nb::module_& module) {
  nb::class_<LoadedSession>(module, "LoadedSession",
                            "A session in memory; gpufl.analyzer.GpuFlightSession is made of it.")
      .def("columns", &frame_columns, "table"_a,
           nb::sig("def columns(self, table: str) -> list[tuple[str, typing.Any, typing.Any, "
                   "list[str] | None]]"),
           "Name, values, what is missing (or None) and categories (or None) of each column.")
      .def("report", &write_report, "format"_a, "top"_a, "width"_a, "sort"_a, "full"_a)
      .def("section", &write_section, "name"_a, "top"_a, "width"_a, "sort"_a)
      .def("kernel", &write_kernel, "name"_a, "source"_a, "format"_a, "top"_a, "width"_a)
      .def("timeline", &timeline, "max_blocks"_a,
           nb::sig("def timeline(self, max_blocks: int) -> list[tuple[str, str, "
                   "list[list[tuple[int, int, str, int]]]]]"))
      .def_prop_ro("header",
                   [](const LoadedSession& session) {
                     const analysis::SessionSummary& summary = session->session().summary;
                     return header_of(summary.header, summary.dir);
                   })
      .def_prop_ro("ledger", &ledger_text, "Its numbers as JSON; null where it has none.");
  module.def("load_session", &load_session, "folder"_a, "stack_depth"_a);
  module.def("find_sessions", &find_sessions, "path"_a);
  module.def("recorded_nothing", &recorded_nothing, "folder"_a);
  module.def("why_no_session", &why_no_session, "path"_a);
  module.def("cut_names", &cut_names, "names"_a, "width"_a,
             "Each in at most `width` columns, so that those which differ still do.");
  module.def("diff_sessions", &diff, "a"_a, "b"_a, "format"_a, "top"_a, "width"_a);
  nb::list names;
  for (const std::string_view name : frame_names()) names.append(name);
  module.attr("table_names") = nb::tuple(names);
}

}  // namespace gpufl::python
