// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbolize_session.hpp"

#include <map>
#include <utility>

#include "symbols/code_stack.hpp"

namespace gpufl::symbols {
namespace {

struct FrameReader final : format::Visitor {
  SessionFrames frames;
  void on_object(format::Kind kind, const base::Json& line) override {
    if (kind == format::Kind::Dict) frames.add(line);
  }
};

class Task {
 public:
  Task(const SessionFrames& frames, const format::SessionHeader& header,
       const SymbolizeOptions& options, SymbolFile known)
      : frames_(frames), options_(options), known_(std::move(known)) {
    search_.debug_dirs = options.debug_dirs;
    search_.recorded_wall_ns = header.start_wall_ns;
  }

  SymbolizeOutcome run(const format::SessionHeader& header) {
    // One binary after the other, each opened once and closed again.
    std::map<Binary, std::vector<int64_t>> by_binary;
    for (const auto& [id, frame] : frames_.frames()) {
      if (frame.is_native()) by_binary[{frames_.text(frame.module), frame.build_id}].push_back(id);
    }
    for (const auto& [binary, ids] : by_binary) resolve(binary, ids);
    collect_sources(header);
    return std::move(outcome_);
  }

 private:
  bool is_late() {
    if (!options_.deadline || std::chrono::steady_clock::now() < *options_.deadline) return false;
    outcome_.symbols.incomplete = "time_limit";
    return true;
  }

  void resolve(const Binary& binary, const std::vector<int64_t>& ids) {
    outcome_.frames += ids.size();
    BinaryNote note{binary.path, binary.build_id, "not_tried", "", "", ids.size(), 0};
    std::optional<Symbolizer> symbolizer;
    if (options_.libdw != nullptr && !is_late()) {
      symbolizer.emplace(Symbolizer::open(*options_.libdw, binary, search_));
      note.state = to_string(symbolizer->state());
      note.file = symbolizer->file().string();
      note.debug_file = symbolizer->debug_file().string();
    }
    for (const int64_t id : ids) {
      std::vector<CodeLocation> found;
      if (symbolizer && !is_late()) found = symbolizer->resolve(frames_.frames().at(id).offset);
      if (found.empty()) {
        const auto before = known_.frames.find(id);
        if (before == known_.frames.end()) continue;
        found = std::move(before->second);
      }
      ++note.resolved;
      outcome_.with_lines += found.front().line > 0 ? 1 : 0;
      outcome_.symbols.frames.emplace(id, std::move(found));
    }
    outcome_.resolved += note.resolved;
    outcome_.symbols.binaries.push_back(std::move(note));
  }

  void collect_sources(const format::SessionHeader& header) {
    SourceOptions options = options_.sources;
    options.recorded_wall_ns = header.start_wall_ns;
    options.enabled = options.enabled && header.source_text;
    SourceLines lines(std::move(options));
    for (const auto& [id, frame_ids] : frames_.stacks()) {
      const auto stack = resolve_stack(frame_ids, frames_, outcome_.symbols);
      const CodeFrame* frame = user_frame(stack);
      if (frame != nullptr) lines.want(frame->file, frame->line);
    }
    if (!is_late()) outcome_.sources = lines.collect();
    outcome_.symbols.sources = std::exchange(outcome_.sources.sources, {});
    keep_sources();
  }

  // Sources of files that are gone by now.
  void keep_sources() {
    std::set<std::string> present;
    for (const SourceText& source : outcome_.symbols.sources) present.insert(source.path);
    for (SourceText& source : known_.sources) {
      if (!present.contains(source.path)) outcome_.symbols.sources.push_back(std::move(source));
    }
  }

  const SessionFrames& frames_;
  const SymbolizeOptions& options_;
  SymbolFile known_;
  BinarySearch search_;
  SymbolizeOutcome outcome_;
};

}  // namespace

SymbolizeOutcome symbolize(const SessionFrames& frames, const format::SessionHeader& header,
                           const SymbolizeOptions& options, SymbolFile known) {
  return Task(frames, header, options, std::move(known)).run(header);
}

SessionFrames read_frames(const format::SessionReader& session) {
  FrameReader reader;
  session.read(reader, {format::Kind::Dict});
  return std::move(reader.frames);
}

SymbolFile find_symbols(const format::SessionReader& session, const SessionFrames& frames,
                        const SymbolizeOptions* options) {
  auto kept = SymbolFile::read(session.dir(), session.header().session_id);
  const bool is_whole = kept && kept->incomplete.empty();
  SymbolFile known = kept ? std::move(*kept) : SymbolFile{};
  if (is_whole || options == nullptr) return known;
  return symbolize(frames, session.header(), *options, std::move(known)).symbols;
}

base::Result<SymbolizeOutcome> symbolize_session(const std::filesystem::path& session_dir,
                                                 const SymbolizeOptions& options) {
  const auto reader = format::SessionReader::open(session_dir);
  if (!reader) return reader.status();
  auto known = SymbolFile::read(session_dir, reader->header().session_id);
  SymbolizeOutcome outcome = symbolize(read_frames(*reader), reader->header(), options,
                                       known ? std::move(*known) : SymbolFile{});
  if (outcome.frames == 0 && outcome.symbols.sources.empty()) return outcome;
  const base::Status written = outcome.symbols.write(session_dir, reader->header());
  if (!written) return written;
  return outcome;
}

}  // namespace gpufl::symbols
