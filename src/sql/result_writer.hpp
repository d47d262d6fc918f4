// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/database.hpp"

// An answer as text: a table for people, CSV or JSON for programs. Writes as rows come; a table
// waits for its first rows, from which its columns get their widths. One thread.
namespace gpufl::sql {

enum class TextForm : uint8_t { Table, Csv, Json };

class ResultWriter : public ResultSink {
 public:
  using Write = std::function<void(std::string_view text)>;

  // After the last row.
  virtual void finish() = 0;
};

std::unique_ptr<ResultWriter> make_writer(TextForm form, ResultWriter::Write write);

}  // namespace gpufl::sql
