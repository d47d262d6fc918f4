// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"

// Where a store keeps what it was sent: bytes under names that the store gave them. Received first,
// out of sight, then put in place as a whole. Blobs are received on any thread; everything else is
// one thread's.
namespace gpufl::store {

// A blob on its way in. What is not put in place is forgotten with it.
class IncomingBlob {
 public:
  IncomingBlob() = default;
  virtual ~IncomingBlob() = default;
  IncomingBlob(const IncomingBlob&) = delete;
  IncomingBlob& operator=(const IncomingBlob&) = delete;

  // LimitReached: the disk is full.
  virtual base::Status append(std::string_view bytes) = 0;
  // After this its bytes outlive a loss of power.
  virtual base::Status sync() = 0;
  virtual uint64_t size() const = 0;
  // Where its bytes can be read meanwhile.
  virtual const std::filesystem::path& path() const = 0;
};
using IncomingPtr = std::unique_ptr<IncomingBlob>;

class BlobStore {
 public:
  BlobStore() = default;
  virtual ~BlobStore() = default;
  BlobStore(const BlobStore&) = delete;
  BlobStore& operator=(const BlobStore&) = delete;

  virtual base::Result<IncomingPtr> receive() = 0;
  // Under that name, in the place of what has it. Others see all of it or nothing; sync() makes it
  // last.
  virtual base::Status place(IncomingBlob& blob, const std::string& name) = 0;
  // The same blob under a second name; no failure where that is there already.
  virtual base::Status link(const std::string& name, const std::string& second) = 0;
  // The blob `by` takes the place of what is called `name`. Others see the one or the other.
  virtual base::Status replace(const std::string& name, const std::string& by) = 0;
  // For those who write blobs below a prefix themselves.
  virtual base::Status make_place(const std::string& prefix) = 0;
  // No failure where there is none.
  virtual base::Status remove(const std::string& name) = 0;
  // Everything below a prefix, which ends with a slash.
  virtual base::Status remove_all(const std::string& prefix) = 0;
  // Everything below a prefix, to another one below which there is nothing. No failure where there
  // is nothing to move.
  virtual base::Status move_all(const std::string& prefix, const std::string& to) = 0;
  // What has been placed, linked and removed outlives a loss of power. Once that has failed it
  // fails for ever: the system may have forgotten what it could not write, and would say that all
  // is well.
  virtual base::Status sync() = 0;
  virtual bool exists(const std::string& name) const = 0;
  // Every name below a prefix, which is empty or ends with a slash, in no order.
  using Visitor = std::function<void(const std::string& name, uint64_t bytes)>;
  virtual base::Status list(const std::string& prefix, const Visitor& see) const = 0;
  // For those who read: where the blob of that name is, or will be.
  virtual std::filesystem::path path_of(std::string_view name) const = 0;
};

}  // namespace gpufl::store
