// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "index/lane.hpp"

// Buckets as bytes: columns, compressed. Some three bytes a bucket. Times within it are exact.
namespace gpufl::index {

inline constexpr size_t kBucketsPerBlock = 4096;

// At least one and at most kBucketsPerBlock; appends.
void encode_buckets(std::span<const Bucket> buckets, std::string& out);

// `count` buckets from number `first` on. What a name had of its bucket is not kept: it counts as
// all of it. Corrupt: these are not such bytes.
base::Result<std::vector<Bucket>> decode_buckets(std::string_view bytes, size_t count,
                                                 int64_t first);

// Any bytes, compressed with a checksum, and back to at most `limit` of them.
std::string compress(std::string_view bytes);
base::Result<std::string> decompress(std::string_view bytes, size_t limit);

}  // namespace gpufl::index
