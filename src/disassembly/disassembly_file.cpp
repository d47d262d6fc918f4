// SPDX-License-Identifier: Apache-2.0
#include "disassembly/disassembly_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "base/json.hpp"
#include "format/frame_writer.hpp"
#include "format/limits.hpp"
#include "format/seal.hpp"

namespace gpufl::disassembly {
namespace {

namespace fs = std::filesystem;
using base::Json;

constexpr int64_t kVersion = 1;
// Lines of the file stay small, however long a kernel is.
constexpr size_t kInstructionsPerLine = 1000;
constexpr size_t kPtxLinesPerLine = 5000;

void set_text(Json& object, std::string_view name, const std::string& text) {
  if (!text.empty()) object.set(name, text);
}

constexpr std::pair<std::string_view, std::optional<int64_t> Resources::*> kResources[] = {
    {"registers", &Resources::registers},
    {"stack_bytes", &Resources::stack_bytes},
    {"shared_bytes", &Resources::shared_bytes},
    {"constant_bytes", &Resources::constant_bytes},
    {"local_bytes", &Resources::local_bytes}};

Json to_json(const ModuleNote& note) {
  Json line = Json::object();
  line.set("type", "module").set("id", std::to_string(note.id));
  set_text(line, "hash", note.hash);
  line.set("state", note.state);
  set_text(line, "detail", note.detail);
  set_text(line, "architecture", note.architecture);
  return line.set("functions", note.functions);
}

ModuleNote module_of(const Json& line) {
  ModuleNote note{0,
                  line["hash"].as_string(),
                  line["state"].as_string(),
                  line["detail"].as_string(),
                  line["architecture"].as_string(),
                  static_cast<uint64_t>(line["functions"].as_integer())};
  const std::string& id = line["id"].as_string();
  std::from_chars(id.data(), id.data() + id.size(), note.id);
  return note;
}

Json to_json(const KernelCode& code) {
  Json line = Json::object();
  line.set("type", "function").set("module", code.module).set("name", code.name);
  if (code.is_kernel) line.set("kernel", true);
  for (const auto& [name, member] : kResources) {
    if (const auto& value = code.resources.*member) line.set(name, *value);
  }
  Json routines = Json::array();
  for (const Routine& routine : code.routines) {
    Json item = Json::object();
    item.set("name", routine.name).set("offset", routine.offset).set("size", routine.size);
    routines.push(std::move(item));
  }
  Json files = Json::array();
  for (const std::string& file : code.files) files.push(file);
  return line.set("routines", std::move(routines)).set("files", std::move(files));
}

Json to_json(const CompiledOrigin& origin) {
  Json line = Json::object();
  line.set("type", "origin").set("file", origin.file);
  set_text(line, "operators", origin.operators);
  set_text(line, "nodes", origin.nodes);
  Json places = Json::array();
  for (const OriginPlace& place : origin.places) {
    Json item = Json::object();
    item.set("file", place.file).set("line", place.line);
    set_text(item, "code", place.code);
    places.push(std::move(item));
  }
  return line.set("places", std::move(places));
}

CompiledOrigin origin_of(const Json& line) {
  CompiledOrigin origin{
      line["file"].as_string(), line["operators"].as_string(), line["nodes"].as_string(), {}};
  for (const Json& item : line["places"].items()) {
    origin.places.push_back(
        {item["file"].as_string(), item["line"].as_integer(), item["code"].as_string()});
  }
  return origin;
}

uint32_t small(const Json& value) {
  return static_cast<uint32_t>(std::clamp<int64_t>(value.as_integer(), 0, UINT32_MAX));
}

KernelCode function_of(const Json& line) {
  KernelCode code;
  code.module = line["module"].as_string();
  code.name = line["name"].as_string();
  code.is_kernel = line["kernel"].as_bool();
  for (const auto& [name, member] : kResources) {
    if (line[name].is_integer()) code.resources.*member = line[name].as_integer();
  }
  for (const Json& item : line["routines"].items()) {
    code.routines.push_back({item["name"].as_string(), small(item["offset"]), small(item["size"])});
  }
  for (const Json& file : line["files"].items()) code.files.push_back(file.as_string());
  return code;
}

// Instructions from `begin` to `end`. Chains are numbered within the line, as [file, line] pairs
// one after the other.
Json code_line(const KernelCode& code, size_t begin, size_t end) {
  Json offsets = Json::array(), texts = Json::array(), chains = Json::array(),
       chain_of = Json::array(), ptx = Json::array(), targets = Json::array(), live = Json::array();
  std::map<uint32_t, int64_t> numbers;
  for (size_t i = begin; i < end; ++i) {
    const Instruction& instruction = code.instructions[i];
    offsets.push(instruction.offset);
    texts.push(instruction.text);
    ptx.push(instruction.ptx_line);
    targets.push(instruction.target);
    live.push(instruction.live_registers);
    if (instruction.chain >= code.chains.size()) {
      chain_of.push(-1);
      continue;
    }
    const auto [number, is_new] =
        numbers.emplace(instruction.chain, static_cast<int64_t>(numbers.size()));
    chain_of.push(number->second);
    if (!is_new) continue;
    Json pairs = Json::array();
    for (const SourcePlace& place : code.chains[instruction.chain]) {
      pairs.push(place.file);
      pairs.push(place.line);
    }
    chains.push(std::move(pairs));
  }
  Json line = Json::object();
  line.set("type", "code").set("offset", std::move(offsets)).set("text", std::move(texts));
  line.set("chains", std::move(chains)).set("chain", std::move(chain_of));
  line.set("ptx", std::move(ptx)).set("target", std::move(targets));
  return line.set("live", std::move(live));
}

class Reader {
 public:
  Reader(const DisassemblyFile::Wanted& wanted, DisassemblyFile& file)
      : wanted_(wanted), file_(file) {}

  void take(std::string_view text) {
    if (!has_function_ && text.starts_with(R"({"type":"code")")) return;
    const auto line = Json::parse(text);
    if (!line) return;
    const std::string& type = (*line)["type"].as_string();
    if (type == "module") {
      file_.modules.push_back(module_of(*line));
    } else if (type == "function") {
      begin_function(*line);
    } else if (type == "code" && has_function_) {
      add_code(*line, file_.kernels.back());
    } else if (type == "ptx") {
      auto& lines = file_.ptx[(*line)["module"].as_string()];
      for (const Json& item : (*line)["lines"].items()) lines.push_back(item.as_string());
    } else if (type == "source") {
      file_.sources.push_back(symbols::source_text_of(*line));
    } else if (type == "origin") {
      file_.origins.push_back(origin_of(*line));
    }
  }

 private:
  void begin_function(const Json& line) {
    KernelCode code = function_of(line);
    has_function_ = wanted_ == nullptr || wanted_(code.module, code.name, code.routines);
    chains_.clear();
    if (has_function_) file_.kernels.push_back(std::move(code));
  }

  // The same chain has another number in each line.
  uint32_t chain(const Json& pairs, KernelCode& code) {
    InlineChain chain;
    const auto& items = pairs.items();
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      const SourcePlace place{small(items[i]), small(items[i + 1])};
      if (place.file < code.files.size()) chain.push_back(place);
    }
    if (chain.empty()) return kNoChain;
    const auto [number, is_new] = chains_.emplace(chain, static_cast<uint32_t>(code.chains.size()));
    if (is_new) code.chains.push_back(std::move(chain));
    return number->second;
  }

  void add_code(const Json& line, KernelCode& code) {
    std::vector<uint32_t> numbers;
    for (const Json& pairs : line["chains"].items()) numbers.push_back(chain(pairs, code));
    const auto at = [&](std::string_view name, size_t i, int64_t fallback) {
      const auto& items = line[name].items();
      return i < items.size() ? items[i].as_integer(fallback) : fallback;
    };
    const auto& texts = line["text"].items();
    for (size_t i = 0; i < texts.size(); ++i) {
      Instruction instruction;
      const int64_t offset = at("offset", i, -1);
      if (offset < 0 || offset > UINT32_MAX) continue;
      instruction.offset = static_cast<uint32_t>(offset);
      instruction.text = texts[i].as_string();
      const auto number = static_cast<uint64_t>(at("chain", i, -1));
      if (number < numbers.size()) instruction.chain = numbers[number];
      instruction.ptx_line =
          static_cast<uint32_t>(std::clamp<int64_t>(at("ptx", i, 0), 0, UINT32_MAX));
      instruction.target = at("target", i, -1);
      instruction.live_registers = static_cast<int32_t>(
          std::clamp<int64_t>(at("live", i, -1), -1, std::numeric_limits<int32_t>::max()));
      code.instructions.push_back(std::move(instruction));
    }
  }

  const DisassemblyFile::Wanted& wanted_;
  DisassemblyFile& file_;
  bool has_function_ = false;
  std::map<InlineChain, uint32_t> chains_;
};

}  // namespace

base::Result<DisassemblyFile> DisassemblyFile::read(const fs::path& session_dir,
                                                    const std::string& session_id,
                                                    const Wanted& wanted) {
  const fs::path path = session_dir / kDisassemblyFileName;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return base::Status(base::Code::NotFound, path.string() + " does not exist");
  }
  DisassemblyFile file;
  Reader reader(wanted, file);
  bool is_its_own = false;
  base::Status refused(base::Code::Corrupt, path.string() + " does not belong to this session");
  const auto outcome = format::read_window(path, [&](std::string_view text) {
    if (text.size() > format::kMaxObjectLineBytes) return true;
    if (is_its_own) {
      reader.take(text);
      return true;
    }
    const auto line = Json::parse(text);
    if (!line || (*line)["session_id"].as_string() != session_id) return false;
    is_its_own = (*line)["disassembly"].as_integer() == kVersion;
    if (!is_its_own) {
      refused = {base::Code::TooNew, path.string() + " has another version; create it again"};
    }
    file.tool = (*line)["tool"].as_string();
    return is_its_own;
  });
  if (!is_its_own) return outcome.status.is_ok() ? refused : outcome.status;
  if (!outcome.status) return outcome.status;
  return file;
}

base::Status DisassemblyFile::write(const fs::path& session_dir,
                                    const format::SessionHeader& header) const {
  const fs::path path = session_dir / kDisassemblyFileName;
  const fs::path new_path = path.string() + "." + std::to_string(::getpid()) + ".tmp";
  format::FrameWriter out;
  if (base::Status opened = out.open(new_path); !opened) return opened;
  auto add = [&out, text = std::string()](const Json& line) mutable {
    text.clear();
    line.dump_to(text);
    text += '\n';
    out.add(text);
  };
  Json session = header.to_json();
  session.set("disassembly", kVersion);
  set_text(session, "tool", tool);
  add(session);
  for (const ModuleNote& module : modules) add(to_json(module));
  for (const KernelCode& code : kernels) {
    add(to_json(code));
    for (size_t i = 0; i < code.instructions.size(); i += kInstructionsPerLine) {
      add(code_line(code, i, std::min(i + kInstructionsPerLine, code.instructions.size())));
    }
  }
  for (const auto& [module, lines] : ptx) {
    for (size_t i = 0; i < lines.size(); i += kPtxLinesPerLine) {
      Json texts = Json::array();
      const size_t end = std::min(i + kPtxLinesPerLine, lines.size());
      for (size_t at = i; at < end; ++at) texts.push(lines[at]);
      Json line = Json::object();
      add(line.set("type", "ptx").set("module", module).set("lines", std::move(texts)));
    }
  }
  for (const symbols::SourceText& source : sources) add(symbols::to_json(source));
  for (const CompiledOrigin& origin : origins) add(to_json(origin));
  base::Status status = out.finish();
  std::error_code error;
  if (status) {
    fs::rename(new_path, path, error);
    if (error) status = base::Status::from_errno(error.value(), path.string());
  }
  if (!status) fs::remove(new_path, error);
  return status;
}

}  // namespace gpufl::disassembly
