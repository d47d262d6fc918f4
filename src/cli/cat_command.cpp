// SPDX-License-Identifier: Apache-2.0
#include "cli/cat_command.hpp"

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/sessions_command.hpp"
#include "cli/stack_texts.hpp"
#include "cli/suggestion.hpp"
#include "format/flat_row.hpp"
#include "format/session_reader.hpp"
#include "text/display.hpp"

namespace gpufl::cli {
namespace {

using base::Json;
using format::Kind;

constexpr size_t kBufferBytes = size_t{256} << 10;

class KindCounter final : public format::Visitor {
 public:
  void on_batch(const format::Batch& batch, const format::Dictionaries&) override {
    rows_[batch.kind_spec().name] += batch.rows();
  }
  void on_object(Kind kind, const Json&) override { rows_[format::spec(kind).name] += 1; }

  const std::map<std::string_view, uint64_t>& rows() const { return rows_; }

 private:
  std::map<std::string_view, uint64_t> rows_;
};

class RowPrinter final : public format::Visitor {
 public:
  explicit RowPrinter(format::FlatTexts& texts) : rows_(&texts) {}
  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    if (closed_) return;
    rows_.append(batch, dictionaries, buffer_);
    if (buffer_.size() >= kBufferBytes) flush();
  }
  void on_object(Kind kind, const Json& line) override {
    // Every file begins with the session line; it is one session.
    if (closed_ || (kind == Kind::Session && session_seen_)) return;
    session_seen_ |= kind == Kind::Session;
    rows_.append(kind, line, buffer_);
  }
  void on_problem(const format::Problem& problem) override { problems_ += !is_growth(problem); }
  void flush() {
    // Whoever reads may have seen enough (head, a pager): then there is nothing left to do.
    closed_ |= !print(buffer_);
    closed_ |= std::fflush(stdout) != 0;
    buffer_.clear();
  }
  uint64_t problems() const { return problems_; }

 private:
  format::FlatRows rows_;
  std::string buffer_;
  bool closed_ = false;
  bool session_seen_ = false;
  uint64_t problems_ = 0;
};

// The one session that is meant, or why there is none.
std::optional<format::SessionReader> open_one(const std::string& path, int& exit_code) {
  const auto sessions = format::find_sessions(path);
  if (sessions.empty()) {
    complain("gpufl cat", why_no_session(path));
    exit_code = kExitCannotTell;
    return {};
  }
  if (sessions.size() > 1) {
    complain("gpufl cat",
             fmt::format("{} holds {} sessions, name one of them:", path, sessions.size()));
    for (const auto& session : sessions) {
      print_error(fmt::format("  {}\n", text::make_harmless(session.string())));
    }
    exit_code = kExitUsage;
    return {};
  }
  auto session = format::SessionReader::open(sessions.front());
  if (!session) {
    complain("gpufl cat", session.status().message());
    exit_code = kExitCannotTell;
    return {};
  }
  return std::move(session.value());
}

int list_kinds(const format::SessionReader& session) {
  KindCounter counter;
  session.read(counter);
  for (const auto& [kind, rows] : counter.rows()) print(fmt::format("{:<15} {:>12}\n", kind, rows));
  return kExitGood;
}

int print_rows(const format::SessionReader& session, Kind kind, StackTextOptions options) {
  StackTexts texts(session, kind, options);
  RowPrinter printer(texts);
  session.read(printer, {kind});
  printer.flush();
  if (printer.problems() > 0) {
    complain("gpufl cat", fmt::format("problems while reading: {}, see gpufl verify {}",
                                      printer.problems(), session.dir().string()));
  }
  return kExitGood;
}

std::string all_kinds() {
  std::string names;
  for (size_t i = 0; i < format::kKindCount; ++i) {
    if (i > 0) names += ' ';
    names += format::spec(static_cast<Kind>(i)).name;
  }
  return names;
}

int cat(const std::string& path, const std::string& kind_name, StackTextOptions options) {
  const format::KindSpec* kind = format::find_kind(kind_name);
  if (kind == nullptr && !kind_name.empty()) {
    std::vector<std::string_view> kinds;
    for (size_t i = 0; i < format::kKindCount; ++i) {
      kinds.push_back(format::spec(static_cast<Kind>(i)).name);
    }
    const std::string_view meant = nearest(kind_name, kinds);
    complain("gpufl cat", fmt::format("there is no kind \"{}\"; {}the kinds are: {}", kind_name,
                                      meant.empty() ? "" : fmt::format("did you mean {}? ", meant),
                                      all_kinds()));
    return kExitUsage;
  }
  int exit_code = kExitGood;
  const auto session = open_one(path, exit_code);
  if (!session) return exit_code;
  return kind != nullptr ? print_rows(*session, kind->kind, options) : list_kinds(*session);
}

}  // namespace

void add_cat_command(Command program) {
  struct Options {
    std::string session, kind;
    StackTextOptions texts;
  };
  auto options = std::make_shared<Options>();
  Command command =
      program.add_command("cat", "Print the events of one kind, one flat JSON object a line");
  command
      .add_option("session", options->session,
                  "A session, or a folder with one session in it (with several, cat names them)")
      .required();
  command.add_option("kind", options->kind, "kernel, scope, device_metric, ...; none: list kinds");
  command.add_flag("--stacks", options->texts.whole_stacks,
                   "Print every frame of a stack, innermost first, not only the program's line");
  command.add_flag("--mangled", options->texts.mangled_names,
                   "Print names of kernels as the compiler wrote them");
  command.set_footer(
      "Times are nanoseconds since the start of the session. Dictionaries are resolved, "
      "launch configurations spread out, 64-bit ids are strings; \"at\" is the line of the program "
      "that a stack leads to.\nKinds: " +
      all_kinds());
  command.set_action([options] { return cat(options->session, options->kind, options->texts); });
}

}  // namespace gpufl::cli
