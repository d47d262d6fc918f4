// SPDX-License-Identifier: Apache-2.0
#include "disassembly/nvdisasm.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <optional>
#include <system_error>

namespace gpufl::disassembly {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "nvdisasm";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// The folders in `dir` whose name begins like that, the newest version first.
std::vector<fs::path> folders_like(const fs::path& dir, std::string_view beginning) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(beginning)) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  return found;
}

void add_site_packages(const fs::path& prefix, std::vector<fs::path>& found) {
  if (prefix.empty()) return;
  for (const fs::path& python : folders_like(prefix / "lib", "python3")) {
    found.push_back(python / "site-packages");
  }
}

// Of the environment that a program or library was installed into, if it was.
void add_site_packages_around(const fs::path& file, std::vector<fs::path>& found) {
  for (fs::path folder = file.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (folder.filename() == "site-packages") found.push_back(folder);
    if (folder.filename() == "bin") add_site_packages(folder.parent_path(), found);
  }
}

// The file that this code lies in: a program, or the extension of a Python package.
fs::path own_file() {
  Dl_info place{};
  if (::dladdr(reinterpret_cast<const void*>(&own_file), &place) == 0) return {};
  return place.dli_fname;
}

// The image as a file that has no name: nothing is left behind, whatever happens.
class ImageFile {
 public:
  explicit ImageFile(std::string_view image) : fd_(::memfd_create("gpufl-image", MFD_CLOEXEC)) {
    while (fd_ >= 0 && !image.empty()) {
      const ssize_t wrote = ::write(fd_, image.data(), image.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) break;
      image.remove_prefix(static_cast<size_t>(wrote));
    }
    is_whole_ = fd_ >= 0 && image.empty();
  }
  ~ImageFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  ImageFile(const ImageFile&) = delete;
  ImageFile& operator=(const ImageFile&) = delete;
  bool is_whole() const { return is_whole_; }
  int fd() const { return fd_; }

 private:
  int fd_;
  bool is_whole_ = false;
};

// Its first line, for a sentence.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

NvdisasmSearch nvdisasm_search(const fs::path& asked) {
  NvdisasmSearch search;
  search.asked = asked.empty() ? fs::path(variable("GPUFL_NVDISASM")) : asked;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string toolkit = variable(name); !toolkit.empty()) {
      search.toolkits.emplace_back(toolkit);
    }
  }
  search.toolkits.emplace_back("/usr/local/cuda");
  for (const fs::path& toolkit : folders_like("/usr/local", "cuda-")) {
    search.toolkits.push_back(toolkit);
  }
  add_site_packages(variable("VIRTUAL_ENV"), search.python_packages);
  add_site_packages(variable("CONDA_PREFIX"), search.python_packages);
  std::error_code error;
  for (const fs::path& file : {own_file(), fs::read_symlink("/proc/self/exe", error)}) {
    add_site_packages_around(file, search.python_packages);
  }
  if (const std::string home = variable("HOME"); !home.empty()) {
    add_site_packages(fs::path(home) / ".local", search.python_packages);
  }
  std::string_view rest;
  const std::string path = variable("PATH");
  for (rest = path; !rest.empty();) {
    const size_t colon = rest.find(':');
    if (colon != 0) search.path.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  return search;
}

base::Result<fs::path> find_nvdisasm(const NvdisasmSearch& search) {
  if (!search.asked.empty()) {
    if (is_program(search.asked)) return search.asked;
    return base::Status(base::Code::NotFound, search.asked.string() + " is not a program");
  }
  std::vector<fs::path> candidates;
  for (const fs::path& toolkit : search.toolkits) candidates.push_back(toolkit / "bin" / kProgram);
  for (const fs::path& packages : search.python_packages) {
    for (const fs::path& wheel : folders_like(packages / "nvidia", "")) {
      candidates.push_back(wheel / "bin" / kProgram);
    }
  }
  for (const fs::path& folder : search.path) candidates.push_back(folder / kProgram);
  const auto found = std::find_if(candidates.begin(), candidates.end(), is_program);
  if (found != candidates.end()) return *found;
  return base::Status(base::Code::NotFound,
                      "there is no nvdisasm: install the CUDA toolkit or `pip install "
                      "nvidia-cuda-nvdisasm`, or name one with --nvdisasm or GPUFL_NVDISASM");
}

base::Result<std::string> Nvdisasm::run(std::string_view image, std::vector<std::string> arguments,
                                        std::span<const uint32_t> symbols) const {
  const ImageFile file(image);
  if (!file.is_whole()) return base::Status::from_errno(errno, "memfd_create()");
  if (!symbols.empty()) {
    std::string list;
    for (const uint32_t symbol : symbols) {
      list += (list.empty() ? "" : ",") + std::to_string(symbol);
    }
    arguments.insert(arguments.end(), {"-fun", std::move(list)});
  }
  arguments.push_back("/proc/self/fd/" + std::to_string(base::kChildInput));
  auto output = base::run_child(program_, arguments, {.input = file.fd()}, limits_);
  if (!output) return output.status();
  if (output->exit_code != 0) {
    return base::Status(base::Code::Corrupt,
                        program_.string() + " failed with exit code " +
                            std::to_string(output->exit_code) +
                            (output->err.empty() ? "" : ": " + first_line(output->err)));
  }
  return std::move(output->out);
}

std::string Nvdisasm::version() const {
  const auto output = base::run_child(program_, {"--version"}, {}, limits_);
  if (!output) return "";
  const size_t at = output->out.find(", V");
  if (at == std::string::npos) return "";
  const size_t begin = at + 3;
  return output->out.substr(begin, output->out.find_first_not_of("0123456789.", begin) - begin);
}

base::Result<std::string> Nvdisasm::list(std::string_view image,
                                         std::span<const uint32_t> symbols) const {
  auto text = run(image, {"-c", "-gi", "-gp"}, symbols);
  if (text || text.status().code() != base::Code::Corrupt) return text;
  // Older ones know less, and damaged lines need not hide the code.
  for (const auto& arguments : {std::vector<std::string>{"-c", "-g"}, {"-c"}}) {
    if (auto less = run(image, arguments, symbols)) return less;
  }
  return text;
}

base::Result<std::string> Nvdisasm::list_registers(std::string_view image,
                                                   std::span<const uint32_t> symbols) const {
  return run(image, {"-c", "-plr", "-lrm", "count"}, symbols);
}

}  // namespace gpufl::disassembly
