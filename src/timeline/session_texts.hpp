// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/session/framework_ops.hpp"
#include "analysis/session/session_data.hpp"
#include "analysis/tables/table_piece.hpp"

// What the rows of one session are called in other tools: the one place for it, so that all exports
// say the same. Texts are valid UTF-8. Made once for a session, which must outlive it; demangles
// each kernel's name once. One thread.
namespace gpufl::timeline {

// `text` where it is valid UTF-8; else with U+FFFD for what is not.
std::string valid_utf8(std::string_view text);

class SessionTexts {
 public:
  // `stack_depth`: frames of the program's own that site() shows.
  explicit SessionTexts(const analysis::SessionData& session, size_t stack_depth = 1);

  // After the session's tables took a piece: what that brought to the dictionaries.
  void update(const analysis::TablePiece::Ids& fresh);

  const analysis::Tables& tables() const { return session_.tables; }
  const analysis::SessionData& session() const { return session_; }
  const analysis::FrameworkOps& framework() const { return framework_; }

  const std::string& name(uint32_t id) const { return text_at(names_, id); }
  const std::string& kernel(uint32_t config) const;  // demangled
  const std::string& metric(uint32_t id) const { return text_at(metrics_, id); }
  // A value of a dictionary of strings; a stack is told by its line. Empty: none.
  std::string dictionary_text(format::Dict dict, uint32_t id) const;
  // "name / tag".
  std::string scope(size_t scope_row) const;
  // Scopes of the same names around them have the same path. 0: no scope.
  uint32_t scope_path(uint32_t scope_row) const {
    return scope_row < path_of_scope_.size() ? path_of_scope_[scope_row] : 0;
  }
  // "epoch > step / train > forward".
  const std::string& path_text(uint32_t path) const { return paths_[path].text; }
  uint32_t path_parent(uint32_t path) const { return paths_[path].parent; }
  const std::string& path_scope(uint32_t path) const { return paths_[path].scope; }
  // "train.py:90 in step()", with a depth of two "train.py:90 in step() < train.py:120 in main()";
  // empty: no stack.
  std::string site(uint32_t stack) const;

  // "cudaStreamSynchronize"; without symbols "StreamSynchronize".
  std::string wait(size_t wait_row) const;
  // What the API call behind a row is called: the function that the program called, else `what`.
  std::string call(uint32_t stack, std::string_view what) const;
  std::string copy(size_t copy_row) const;  // "copy host to device"

  // "rank 1: train.py (pid 4711)".
  std::string process() const;
  // "GPU 0: NVIDIA H200".
  std::string device(int64_t device) const;
  std::string stream(const analysis::Lane& lane) const;

 private:
  struct Path {
    uint32_t parent = 0;
    std::string scope, text;
  };
  static const std::string& text_at(const std::vector<std::string>& texts, uint32_t id);
  // "name / tag" of ids.
  std::string scope_name(uint32_t name_id, uint32_t tag_id) const;
  void find_paths();

  const analysis::SessionData& session_;
  const size_t stack_depth_;
  const analysis::FrameworkOps framework_;
  std::vector<std::string> names_, metrics_;
  std::vector<std::string> kernels_;  // by configuration
  // The analysis room's paths, counted from 1.
  std::vector<uint32_t> path_of_scope_;
  std::vector<Path> paths_{1};
};

// "normal", "open"; empty: nothing that is known.
std::string_view scope_ending(int64_t ending);

}  // namespace gpufl::timeline
