// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/code/fat_index.hpp"

#include <algorithm>
#include <utility>

#include "backend/nvidia/code/cubin_functions.hpp"

namespace gpufl::backend {

// Code runs on GPUs of its own generation that are not older.
bool FatIndex::is_wanted(uint32_t architecture) const {
  return architectures_.empty() ||
         std::any_of(architectures_.begin(), architectures_.end(), [&](uint32_t gpu) {
           return architecture / 10 == gpu / 10 && architecture <= gpu;
         });
}

void FatIndex::refresh(const std::vector<std::string>& files, const std::atomic<bool>& stop) {
  for (const std::string& path : files) {
    if (stop || functions_ >= kMaxFunctions) return;
    if (!known_.contains(path) && read(path, stop)) known_.insert(path);
  }
}

FatIndex::File FatIndex::begin_or_go_on(const CodeFile& on_disk, const std::string& path) {
  const bool goes_on = unfinished_ && unfinished_->path == path &&
                       unfinished_->bytes == on_disk.size() &&
                       unfinished_->modified_ns == on_disk.modified_ns();
  File file{path, on_disk.size(), on_disk.modified_ns(), 0, {}, {}};
  if (goes_on) file = std::move(*unfinished_);
  unfinished_.reset();
  return file;
}

// False: it was stopped.
bool FatIndex::read(const std::string& path, const std::atomic<bool>& stop) {
  const CodeFile on_disk(path);
  if (!on_disk.is_open()) return true;
  const ReadAt read = on_disk.reader();
  File file = begin_or_go_on(on_disk, path);
  CubinUnpacker unpacker;
  size_t number = 0;
  const auto visit = [&](const FatCubin& cubin) {
    if (stop || functions_ + file.places.size() >= kMaxFunctions) return false;
    if (number++ < file.visited) return true;
    file.visited = number;
    if (!is_wanted(cubin.architecture)) return true;
    for (const uint64_t function : cubin_functions(unpacker.unpack(read, cubin))) {
      file.places.push_back({function, static_cast<uint32_t>(file.cubins.size())});
    }
    file.cubins.push_back(cubin);
    return true;
  };
  for (const FileRange range : fat_binary_sections(read)) for_each_cubin(read, range, visit);
  if (stop) {
    unfinished_ = std::move(file);
    return false;
  }
  if (file.places.empty()) return true;
  std::stable_sort(file.places.begin(), file.places.end());
  functions_ += file.places.size();
  files_.push_back(std::move(file));
  return true;
}

void FatIndex::find(uint64_t function, const std::atomic<bool>& stop,
                    const std::function<bool(const FoundImage&)>& visit) const {
  CubinUnpacker unpacker;
  for (const File& file : files_) {
    const auto [first, last] =
        std::equal_range(file.places.begin(), file.places.end(), Place{function, 0});
    if (first == last) continue;
    const CodeFile on_disk(file.path);
    const bool is_same = on_disk.is_open() && on_disk.size() == file.bytes &&
                         on_disk.modified_ns() == file.modified_ns;
    if (!is_same) continue;
    for (auto place = first; place != last && !stop; ++place) {
      const std::string_view image = unpacker.unpack(on_disk.reader(), file.cubins[place->cubin]);
      if (!image.empty() && !visit({image, file.path})) return;
    }
  }
}

}  // namespace gpufl::backend
