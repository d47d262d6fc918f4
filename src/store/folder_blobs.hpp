// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "store/blob_store.hpp"

// Blobs as files below a folder: names are paths in it. What is received lies in incoming/ until it
// is renamed.
namespace gpufl::store {

class FolderBlobs : public BlobStore {
 public:
  // Forgets what was being received when the last one ended. One at a time on a folder.
  static base::Result<std::unique_ptr<FolderBlobs>> open(const std::filesystem::path& folder);

  base::Result<IncomingPtr> receive() override;
  base::Status place(IncomingBlob& blob, const std::string& name) override;
  base::Status link(const std::string& name, const std::string& second) override;
  base::Status replace(const std::string& name, const std::string& by) override;
  base::Status make_place(const std::string& prefix) override;
  base::Status remove(const std::string& name) override;
  base::Status remove_all(const std::string& prefix) override;
  base::Status move_all(const std::string& prefix, const std::string& to) override;
  base::Status sync() override;
  bool exists(const std::string& name) const override;
  base::Status list(const std::string& prefix, const Visitor& see) const override;
  std::filesystem::path path_of(std::string_view name) const override { return folder_ / name; }

 private:
  explicit FolderBlobs(std::filesystem::path folder)
      : folder_(std::move(folder)), incoming_(folder_ / "incoming") {}

  base::Status make_folders(const std::filesystem::path& folder);
  void has_left(const std::filesystem::path& folder);
  std::filesystem::path folder_of(const std::string& prefix) const;

  const std::filesystem::path folder_, incoming_;
  std::atomic<uint64_t> received_ = 0;
  std::set<std::filesystem::path> unsynced_;  // folders
  base::Status failed_;                       // of a sync
};

// Makes what a folder lists outlive a loss of power.
base::Status sync_folder(const std::filesystem::path& folder);

}  // namespace gpufl::store
