// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"
#include "base/status.hpp"

// NVIDIA's disassembler, which is the machine's own and never shipped: where it is, and what it
// prints of an image. It runs as a child process, one for each call; never in a process that is
// being recorded.
namespace gpufl::disassembly {

// Where to look. The first that is there counts.
struct NvdisasmSearch {
  std::filesystem::path asked;                         // by the user; nothing else is tried then
  std::vector<std::filesystem::path> toolkits;         // folders with bin/nvdisasm
  std::vector<std::filesystem::path> python_packages;  // site-packages with NVIDIA's wheels
  std::vector<std::filesystem::path> path;             // folders of programs
};
// GPUFL_NVDISASM, CUDA_HOME and CUDA_PATH, /usr/local/cuda*, site-packages of the Python
// environment and of ours, PATH. `asked` (of an option) comes before all.
NvdisasmSearch nvdisasm_search(const std::filesystem::path& asked = {});

// NotFound says how to get it.
base::Result<std::filesystem::path> find_nvdisasm(const NvdisasmSearch& search);

class Nvdisasm {
 public:
  explicit Nvdisasm(std::filesystem::path program, base::ChildLimits limits = {})
      : program_(std::move(program)), limits_(limits) {}

  // "13.4.92"; empty: it does not say.
  std::string version() const;
  // The code sections of an image with source and PTX lines; `symbols` (numbers of the image's
  // symbol table) restricts it to the sections of these functions; empty: all. LimitReached, or
  // Corrupt with the tool's own words.
  base::Result<std::string> list(std::string_view image, std::span<const uint32_t> symbols) const;
  // The same with the number of live registers at each instruction, without lines.
  base::Result<std::string> list_registers(std::string_view image,
                                           std::span<const uint32_t> symbols) const;

 private:
  base::Result<std::string> run(std::string_view image, std::vector<std::string> arguments,
                                std::span<const uint32_t> symbols) const;

  std::filesystem::path program_;
  base::ChildLimits limits_;
};

}  // namespace gpufl::disassembly
