// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "format/log_writer.hpp"

// A log in memory, for tests of what capture writes. Rows keep their column numbers; ids resolve
// with text(). One thread writes; read it when that thread is done.
namespace gpufl::capture {

class FakeLogWriter final : public format::LogWriter {
 public:
  int64_t intern(format::Dict dict, std::string_view value) override {
    auto& ids = ids_[static_cast<size_t>(dict)];
    const auto [place, is_new] = ids.try_emplace(std::string(value), ids.size() + 1);
    if (is_new) texts_[{dict, static_cast<int64_t>(place->second)}] = value;
    return static_cast<int64_t>(place->second);
  }
  void write(const format::Batch& batch) override { batches.push_back(batch); }
  void write(format::Kind kind, const base::Json& fields, format::Channel) override {
    objects.emplace_back(kind, fields);
  }
  bool keep_module(int64_t, const format::CodeImage& image) override {
    modules[image.id] = image.bytes;
    return true;
  }
  base::Status flush(int64_t) override {
    ++flushes;
    return base::Status::ok();
  }
  format::WriterCounts counts() const override {
    format::WriterCounts counts;
    counts.windows_sealed = windows_sealed;
    return counts;
  }
  base::Status close(int64_t, const format::Ledger&) override { return base::Status::ok(); }
  void abandon() override {}

  std::string text(format::Dict dict, int64_t id) const {
    const auto found = texts_.find({dict, id});
    return found != texts_.end() ? found->second : "";
  }

  // All rows of a kind, in the order written.
  std::vector<std::vector<int64_t>> rows(format::Kind kind) const {
    std::vector<std::vector<int64_t>> all;
    for (const format::Batch& batch : batches) {
      if (batch.kind() != kind) continue;
      for (size_t row = 0; row < batch.rows(); ++row) {
        std::vector<int64_t>& values = all.emplace_back();
        for (size_t i = 0; i < batch.kind_spec().columns.size(); ++i) {
          values.push_back(batch.at(i, row));
        }
      }
    }
    return all;
  }

  std::vector<format::Batch> batches;
  std::vector<std::pair<format::Kind, base::Json>> objects;
  std::map<uint64_t, std::string> modules;  // images, by id
  int flushes = 0;
  uint64_t windows_sealed = 0;

 private:
  std::map<std::string, size_t> ids_[format::kDictCount];
  std::map<std::pair<format::Dict, int64_t>, std::string> texts_;
};

}  // namespace gpufl::capture
