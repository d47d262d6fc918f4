// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "store/blob_store.hpp"

// For tests: blobs on a disk of which one call fails.
namespace gpufl::store::testing {

// Which call of the disk fails, and how. Counts down over all of them.
struct Fault {
  std::atomic<int> calls_left = -1;  // negative: none fails
  base::Code code = base::Code::IoError;

  base::Status next() {
    if (calls_left < 0 || calls_left-- > 0) return {};
    return {code, "a fault of the disk"};
  }
};

class FaultyBlob : public IncomingBlob {
 public:
  FaultyBlob(IncomingPtr blob, std::shared_ptr<Fault> fault)
      : blob_(std::move(blob)), fault_(std::move(fault)) {}
  base::Status append(std::string_view bytes) override {
    const base::Status failed = fault_->next();
    return failed ? blob_->append(bytes) : failed;
  }
  base::Status sync() override {
    const base::Status failed = fault_->next();
    return failed ? blob_->sync() : failed;
  }
  uint64_t size() const override { return blob_->size(); }
  const std::filesystem::path& path() const override { return blob_->path(); }

 private:
  const IncomingPtr blob_;
  const std::shared_ptr<Fault> fault_;
};

class FaultyBlobs : public BlobStore {
 public:
  FaultyBlobs(std::unique_ptr<BlobStore> blobs, std::shared_ptr<Fault> fault)
      : blobs_(std::move(blobs)), fault_(std::move(fault)) {}
  base::Result<IncomingPtr> receive() override {
    if (base::Status failed = fault_->next(); !failed) return failed;
    auto blob = blobs_->receive();
    if (!blob) return blob;
    return IncomingPtr(std::make_unique<FaultyBlob>(std::move(*blob), fault_));
  }
  base::Status place(IncomingBlob& blob, const std::string& name) override {
    const base::Status failed = fault_->next();
    return failed ? blobs_->place(blob, name) : failed;
  }
  base::Status link(const std::string& name, const std::string& second) override {
    const base::Status failed = fault_->next();
    return failed ? blobs_->link(name, second) : failed;
  }
  base::Status replace(const std::string& name, const std::string& by) override {
    const base::Status failed = fault_->next();
    return failed ? blobs_->replace(name, by) : failed;
  }
  base::Status make_place(const std::string& prefix) override {
    const base::Status failed = fault_->next();
    return failed ? blobs_->make_place(prefix) : failed;
  }
  bool exists(const std::string& name) const override { return blobs_->exists(name); }
  base::Status remove(const std::string& name) override { return blobs_->remove(name); }
  base::Status remove_all(const std::string& prefix) override { return blobs_->remove_all(prefix); }
  base::Status move_all(const std::string& prefix, const std::string& to) override {
    return blobs_->move_all(prefix, to);
  }
  base::Status sync() override {
    const base::Status failed = fault_->next();
    return failed ? blobs_->sync() : failed;
  }
  base::Status list(const std::string& prefix, const Visitor& see) const override {
    return blobs_->list(prefix, see);
  }
  std::filesystem::path path_of(std::string_view name) const override {
    return blobs_->path_of(name);
  }

 private:
  const std::unique_ptr<BlobStore> blobs_;
  const std::shared_ptr<Fault> fault_;
};

}  // namespace gpufl::store::testing
