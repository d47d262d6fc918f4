// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "export/export.hpp"
#include "format/session_reader.hpp"
#include "net/byte_range.hpp"
#include "net/fields.hpp"
#include "server/export_source.hpp"
#include "server/replies.hpp"
#include "server/services.hpp"
#include "server/tar_stream.hpp"
#include "workbench/log_contents.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using base::Json;
using base::Status;
using WindowState = format::WindowFile::State;

constexpr int kExportsAtOnce = 2;

// What an export is called and what it is.
struct ExportType {
  std::string_view format, suffix, content_type;
};
constexpr ExportType kExportTypes[] = {
    {"perfetto", ".perfetto-trace", "application/octet-stream"},
    {"chrome", ".trace.json", "application/json"},
    {"speedscope", ".speedscope.json", "application/json"},
    {"pprof", ".pprof.gz", "application/gzip"},
    {"csv", ".csv.tar", "application/x-tar"},
    {"json", ".json", "application/json"},
};

Json window_json(const format::WindowFile& window) {
  Json json = Json::object();
  const bool has_file =
      window.state != WindowState::Missing && window.state != WindowState::Deleted;
  json.set("name", has_file ? Json(window.path.filename().string()) : Json());
  json.set("channel", to_string(window.channel)).set("number", window.number);
  json.set("state", workbench::to_string(window.state));
  if (window.in_manifest) {
    json.set("lines", window.lines).set("rows", window.rows);
    json.set("raw_bytes", window.raw_bytes).set("first_ns", window.first_ns);
    json.set("last_ns", window.last_ns).set("hash", window.hash);
  }
  std::error_code error;
  const auto bytes = has_file ? fs::file_size(window.path, error) : uint64_t{0};
  return json.set("bytes", has_file && !error ? Json(uint64_t{bytes}) : Json());
}

net::HttpReply list_windows(const Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) return no_such("session", call.path("session"));
  const auto reader = format::SessionReader::open(session->dir);
  if (!reader) return problem_of(reader.status());
  Json windows = Json::array();
  for (const format::WindowFile& window : reader->windows()) windows.push(window_json(window));
  Json json = Json::object();
  json.set("is_live", reader->is_live()).set("windows", std::move(windows));
  return json_reply(call.request(), json);
}

// The file as it is now; of one that grows, what it has by now.
net::HttpReply send_window(const format::WindowFile& window, const net::HttpRequest& request) {
  const int fd = ::open(window.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat info{};
  if (fd < 0 || ::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    if (fd >= 0) ::close(fd);
    return net::problem(404, "Not found", "the window has been deleted or sealed meanwhile");
  }
  const bool is_sealed = window.state == WindowState::Sealed;
  const auto size = static_cast<uint64_t>(info.st_size);
  // One that grows has none: what was sent stays as it is, and more comes behind it.
  const std::string etag = is_sealed && !window.hash.empty() ? '"' + window.hash + '"' : "";
  const net::ByteRange range = net::asked_range(request, size, etag);
  net::HttpReply reply = file_reply(fd, range.first, range.bytes,
                                    is_sealed ? "application/zstd" : "application/x-ndjson");
  reply.headers.emplace_back("Content-Disposition",
                             fmt::format("attachment; filename=\"{}\"",
                                         safe_file_name(window.path.filename().string(), "")));
  if (!etag.empty()) reply = with_etag(request, std::move(reply), etag);
  return with_range(std::move(reply), range, size);
}

net::HttpReply show_window(const Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) return no_such("session", call.path("session"));
  const auto reader = format::SessionReader::open(session->dir);
  if (!reader) return problem_of(reader.status());
  // What is asked for is looked up among the names that there are, and never becomes a path.
  for (const format::WindowFile& window : reader->windows()) {
    const bool has_file =
        window.state != WindowState::Missing && window.state != WindowState::Deleted;
    if (has_file && window.path.filename().string() == call.path("window")) {
      return send_window(window, call.request());
    }
  }
  return no_such("window", call.path("window"));
}

// Of an answer to HEAD, which has none: nobody asks for a piece.
class NoBytes : public net::BodySource {
 public:
  bool next(std::string&) override { return false; }
};

base::Result<fs::path> make_scratch(const CacheFolder& cache) {
  std::string name = (cache.subfolder("exports") / "new-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return Status::from_errno(errno, name);
  return fs::path(name);
}

net::HttpReply export_session(Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) return no_such("session", call.path("session"));
  const std::string format = call.text("format", "perfetto");
  const auto* const type =
      std::find_if(std::begin(kExportTypes), std::end(kExportTypes),
                   [&](const ExportType& one) { return one.format == format; });
  if (type == std::end(kExportTypes)) return net::problem(400, "Wrong parameter", "no such format");
  net::HttpReply reply;
  reply.content_type = type->content_type;
  reply.headers.emplace_back(
      "Content-Disposition",
      fmt::format("attachment; filename=\"{}\"", safe_file_name(session->id, type->suffix)));
  if (call.request().method == "HEAD") {
    reply.source = std::make_unique<NoBytes>();
    return reply;
  }
  auto share = ExportSlot::take(services.own_exports, services.share.exports);
  auto slot = ExportSlot::take(services.exports, kExportsAtOnce);
  if (!share || !slot) {
    net::HttpReply busy = net::problem(503, "Busy", "other exports are under way");
    busy.headers.emplace_back("Retry-After", "5");
    return busy;
  }
  call.request().keeps_own_time();  // that of analyses
  AnalysisRequest request;
  request.kind = "export";
  request.arguments = Json::object().set("path", session->dir.string()).set("format", format);
  fs::path scratch;
  if (format == "csv") {
    auto made = make_scratch(services.cache);
    if (!made) return problem_of(made.status());
    scratch = std::move(*made);
    request.arguments.set("scratch", scratch.string());
  }
  auto source =
      ExportSource::start({services.analysis.command(request), scratch,
                           services.analysis.limits().time, std::move(*slot), std::move(share)},
                          call.request().is_cancelled);
  if (!source) return problem_of(source.status());
  reply.source = std::move(*source);
  return reply;
}

std::vector<Answer> export_answers() {
  std::vector<Answer> answers;
  for (const ExportType& type : kExportTypes) {
    answers.push_back({.content_type = std::string(type.content_type), .description = "The file."});
  }
  return answers;
}

}  // namespace

void add_file_routes(Routes& routes, Services& services) {
  routes.add({.pattern = "/api/v1/sessions/{session}/windows",
              .id = "list_windows",
              .summary = "The files of a session's log",
              .answers = {{.description = "Windows by channel and number.",
                           .schema = schema_ref("WindowList")}},
              .guests = Guests::OfFiles,
              .handler = [&](const Call& call) { return list_windows(services, call); }});
  routes.add({.pattern = "/api/v1/sessions/{session}/windows/{window}",
              .id = "show_window",
              .summary = "A file of the log, byte by byte",
              .answers = {{.content_type = "application/zstd", .description = "Its bytes."},
                          {.content_type = "application/x-ndjson",
                           .description = "Those of a window that is not sealed."},
                          {.status = 206,
                           .content_type = "application/zstd",
                           .description = "Those that a Range field asked for; one range only."},
                          {.status = 206,
                           .content_type = "application/x-ndjson",
                           .description = "Likewise."}},
              .guests = Guests::OfFiles,
              .handler = [&](const Call& call) { return show_window(services, call); }});
  routes.add({.pattern = "/api/v1/sessions/{session}/export",
              .id = "export_session",
              .summary = "The session in another tool's format, streamed",
              .parameters = {choice("format", exporting::target_words(), "perfetto",
                                    "As gpufl export --to; csv is an archive for tar.")},
              .answers = export_answers(),
              .guests = Guests::OfFiles,
              .handler = [&](const Call& call) { return export_session(services, call); }});
}

}  // namespace gpufl::server
