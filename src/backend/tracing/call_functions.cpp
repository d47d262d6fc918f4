// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/call_functions.hpp"

#include <algorithm>

namespace gpufl::backend {

CallFunctions::Entry& CallFunctions::entry(bool is_driver, uint32_t function) {
  if (function >= kMaxFunction) return beyond_;
  std::vector<Entry>& entries = entries_[is_driver ? 1 : 0];
  if (function >= entries.size()) entries.resize(std::max<size_t>(function + 1, 1024));
  Entry& found = entries[function];
  if (found.role == ApiRole::Unknown) {
    const CallFunction described = source_.describe(is_driver, function);
    found.role = described.role;
    found.wait = described.wait;
  }
  return found;
}

int64_t CallFunctions::name_id(bool is_driver, uint32_t function, RowSink& sink) {
  Entry& found = entry(is_driver, function);
  if (&found == &beyond_) return sink.intern(format::Dict::Name, name(is_driver, function));
  if (found.name_id == 0) {
    found.name_id = sink.intern(format::Dict::Name, name(is_driver, function));
  }
  return found.name_id;
}

int64_t CallFunctions::error_id(bool is_driver, uint32_t result, RowSink& sink) const {
  if (result == 0) return 0;
  return sink.intern(format::Dict::Name, source_.error_name(is_driver, result));
}

}  // namespace gpufl::backend
