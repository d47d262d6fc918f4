// SPDX-License-Identifier: Apache-2.0
#include "disassembly/disassemble_session.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "base/elf64.hpp"
#include "disassembly/cubin.hpp"
#include "disassembly/line_table.hpp"
#include "disassembly/listing.hpp"
#include "format/columns.hpp"
#include "format/module_files.hpp"
#include "symbols/code_stack.hpp"

namespace gpufl::disassembly {
namespace {

using base::Json;
using Functions = std::set<std::string, std::less<>>;

// More are not named one by one: the whole image is listed, and what is not wanted left out.
constexpr size_t kMaxNamedSymbols = 2000;

struct ModuleReader final : format::Visitor {
  std::vector<KeptModule> modules;
  std::set<std::pair<uint64_t, std::string>> known;
  void on_object(format::Kind kind, const Json& line) override {
    if (kind != format::Kind::Module) return;
    KeptModule module;
    const std::string& id = line["id"].as_string();
    std::from_chars(id.data(), id.data() + id.size(), module.id);
    module.hash = line["hash"].as_string();
    module.missing = line["missing"].as_string();
    module.path = line["path"].as_string();
    // It becomes a part of a path.
    const bool has_image = !format::module_hash_of(format::module_file_name(module.hash)).empty();
    if (!has_image) module.hash.clear();
    if (!has_image && module.missing.empty()) return;  // of the host
    if (known.emplace(module.id, module.hash).second) modules.push_back(std::move(module));
  }
};

struct FunctionReader final : format::Visitor {
  Functions functions;
  std::map<int64_t, std::string> names;
  std::set<int64_t> kernels;
  void on_object(format::Kind kind, const Json& line) override {
    if (kind != format::Kind::Dict) return;
    const std::string& dict = line["dict"].as_string();
    const auto& ids = line["ids"].items();
    const auto& values = line["values"].items();
    for (size_t i = 0; i < std::min(ids.size(), values.size()); ++i) {
      if (dict == "name") names.try_emplace(ids[i].as_integer(), values[i].as_string());
      if (dict == "config") kernels.insert(values[i]["name"].as_integer());
    }
  }
  void on_batch(const format::Batch& batch, const format::Dictionaries& /*dictionaries*/) override {
    const bool is_stall = batch.kind() == format::Kind::PcSample;
    const size_t column = is_stall ? static_cast<size_t>(format::pc_sample_column::kFunction)
                                   : static_cast<size_t>(format::sass_metric_column::kFunction);
    for (size_t row = 0; row < batch.rows(); ++row) kernels.insert(batch.at(column, row));
  }
};

class Task {
 public:
  Task(const format::SessionReader& session, const Functions* functions,
       const DisassembleOptions& options)
      : session_(session), functions_(functions), options_(options) {}

  DisassemblyFile run(const std::vector<KeptModule>& modules) {
    if (options_.tool) file_.tool = "nvdisasm " + options_.tool->version();
    std::map<std::string, size_t> done;  // places in file_.modules by hash
    for (const KeptModule& module : modules) {
      const auto before = done.find(module.hash);
      if (!module.hash.empty() && before != done.end()) {
        ModuleNote same = file_.modules[before->second];
        same.id = module.id;
        file_.modules.push_back(std::move(same));
        continue;
      }
      done.emplace(module.hash, file_.modules.size());
      file_.modules.push_back(take(module));
    }
    collect_sources();
    return std::move(file_);
  }

 private:
  ModuleNote take(const KeptModule& module) {
    ModuleNote note;
    note.id = module.id;
    if (module.hash.empty()) {
      note.state = module.missing;
      return note;
    }
    note.hash = module.hash;
    const auto image = format::read_module(session_.dir(), module.hash);
    if (!image) {
      const bool is_gone = image.status().code() == base::Code::NotFound;
      note.state = is_gone ? "no_file" : "damaged";
      note.detail = image.status().message();
      return note;
    }
    const auto cubin = read_cubin(*image);
    if (!cubin) {
      note.state = "damaged";
      note.detail = cubin.status().message();
      return note;
    }
    note.functions = cubin->sections.size();
    list(*image, *cubin, note);
    return note;
  }

  bool is_wanted(const CubinSection& section) const {
    if (functions_ == nullptr || functions_->contains(section.name)) return true;
    return std::any_of(section.routines.begin(), section.routines.end(),
                       [&](const Routine& routine) { return functions_->contains(routine.name); });
  }

  void list(const std::string& image, const Cubin& cubin, ModuleNote& note) {
    std::vector<const CubinSection*> wanted;
    std::vector<uint32_t> symbols;
    for (const CubinSection& section : cubin.sections) {
      if (!is_wanted(section)) continue;
      wanted.push_back(&section);
      if (section.symbol != 0) symbols.push_back(section.symbol);
    }
    note.state = "disassembled";
    if (wanted.empty()) return;
    if (!cubin.ptx.empty()) file_.ptx[note.hash] = cubin.ptx;
    if (symbols.size() != wanted.size() || symbols.size() > kMaxNamedSymbols ||
        wanted.size() == cubin.sections.size()) {
      symbols.clear();
    }
    std::vector<KernelCode> listed;
    if (options_.tool && instructions_ < options_.max_instructions) {
      const auto listing = options_.tool->list(image, symbols);
      if (listing) {
        note.architecture = listed_target(*listing);
        listed = parse_listing(*listing);
        if (const auto elf = base::Elf64::parse(image)) add_line_chains(*elf, listed);
        if (const auto registers = options_.tool->list_registers(image, symbols)) {
          add_live_registers(*registers, listed);
        }
      } else {
        const bool is_limit = listing.status().code() == base::Code::LimitReached;
        note.state = is_limit ? "over_limit" : "tool_failed";
        note.detail = listing.status().message();
      }
    } else {
      note.state = options_.tool ? "over_limit" : "no_tool";
    }
    keep(wanted, std::move(listed), note.hash);
  }

  // What the image says is kept also where there is no code.
  void keep(const std::vector<const CubinSection*>& wanted, std::vector<KernelCode> listed,
            const std::string& hash) {
    std::map<std::string_view, KernelCode*> by_name;
    for (KernelCode& code : listed) by_name.emplace(code.name, &code);
    for (const CubinSection* section : wanted) {
      KernelCode code;
      if (const auto found = by_name.find(section->name); found != by_name.end()) {
        code = std::move(*found->second);
      }
      code.module = hash;
      code.name = section->name;
      code.is_kernel = section->is_kernel;
      code.resources = section->resources;
      code.routines = section->routines;
      instructions_ += code.instructions.size();
      file_.kernels.push_back(std::move(code));
    }
  }

  void collect_sources() {
    symbols::SourceOptions options = options_.sources;
    options.recorded_wall_ns = session_.header().start_wall_ns;
    options.enabled = options.enabled && session_.header().source_text;
    const bool keeps_text = options.enabled;
    const uint64_t max_bytes = options.max_bytes;
    symbols::SourceLines lines(std::move(options));
    for (const KernelCode& code : file_.kernels) {
      std::vector<bool> is_users;
      for (const std::string& file : code.files) {
        is_users.push_back(symbols::origin_of_source(file) == symbols::Origin::User);
      }
      for (const InlineChain& chain : code.chains) {
        for (const SourcePlace& place : chain) {
          if (is_users[place.file]) lines.want(code.files[place.file], place.line);
        }
      }
    }
    auto outcome = lines.collect();
    file_.sources = std::move(outcome.sources);
    if (keeps_text) find_origins(lines, max_bytes - std::min(max_bytes, outcome.bytes));
  }

  void find_origins(const symbols::SourceLines& lines, uint64_t bytes_left) {
    std::set<std::string> files;
    for (const KernelCode& code : file_.kernels) {
      for (const std::string& file : code.files) {
        if (symbols::is_inductor_file(file)) files.insert(file);
      }
    }
    file_.origins = disassembly::find_origins(files);
    withhold_text(file_.origins, lines, bytes_left);
  }

  const format::SessionReader& session_;
  const Functions* functions_;
  const DisassembleOptions& options_;
  DisassemblyFile file_;
  uint64_t instructions_ = 0;
};

}  // namespace

std::vector<KeptModule> read_modules(const format::SessionReader& session) {
  ModuleReader reader;
  session.read(reader, {format::Kind::Module});
  std::set<uint64_t> found;
  for (const KeptModule& module : reader.modules) {
    if (!module.hash.empty()) found.insert(module.id);
  }
  std::erase_if(reader.modules, [&](const KeptModule& module) {
    return module.hash.empty() && found.contains(module.id);
  });
  return std::move(reader.modules);
}

Functions read_functions(const format::SessionReader& session) {
  FunctionReader reader;
  session.read(reader, {format::Kind::Dict, format::Kind::PcSample, format::Kind::SassMetric});
  for (const int64_t kernel : reader.kernels) {
    const auto found = reader.names.find(kernel);
    if (found != reader.names.end()) reader.functions.insert(found->second);
  }
  return std::move(reader.functions);
}

DisassemblyFile disassemble(const format::SessionReader& session,
                            const std::vector<KeptModule>& modules, const Functions* functions,
                            const DisassembleOptions& options) {
  return Task(session, functions, options).run(modules);
}

base::Result<DisassemblyFile> disassemble_session(const std::filesystem::path& session_dir,
                                                  bool all_functions,
                                                  const DisassembleOptions& options) {
  const auto session = format::SessionReader::open(session_dir);
  if (!session) return session.status();
  const std::vector<KeptModule> modules = read_modules(*session);
  if (modules.empty()) return DisassemblyFile{};
  const Functions functions = all_functions ? Functions{} : read_functions(*session);
  DisassemblyFile file =
      disassemble(*session, modules, all_functions ? nullptr : &functions, options);
  if (const base::Status written = file.write(session_dir, session->header()); !written) {
    return written;
  }
  return file;
}

}  // namespace gpufl::disassembly
