// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "agent/folder.hpp"
#include "agent/redaction.hpp"
#include "base/status.hpp"

// Lines of a file that is being written, as they may be sent. Where something is left out of them,
// an offset of what was sent is another one in the file. One thread.
namespace gpufl::agent {

struct LiveCursor {
  uint64_t file = 0;  // bytes of the file before it
  uint64_t sent = 0;  // bytes of the text that is sent for these
};

struct LiveLines {
  std::string text;  // as it is sent
  LiveCursor next;
  bool is_final = false;
};

class LiveText {
 public:
  // Neither is owned. `redactor` is null where nothing is left out.
  LiveText(const OpenFile& file, const Redactor* redactor) : file_(file), redactor_(redactor) {}

  // Whole lines from a place on, about a MiB of them; empty while the next one is being written.
  // Where the writer is dead, what is left altogether is final. LimitReached: a line has no end.
  base::Result<LiveLines> read(const LiveCursor& from, uint64_t size, bool is_dead) const;
  // Where so much of the text had been sent. NotFound: no line begins there.
  base::Result<LiveCursor> find(uint64_t sent) const;
  // Of the whole text of a dead writer.
  base::Result<std::string> sha256(uint64_t size) const;

 private:
  // Adds what is sent for these lines, the last of them torn perhaps.
  void add(std::string_view lines, std::string& out) const;

  const OpenFile& file_;
  const Redactor* const redactor_;
};

}  // namespace gpufl::agent
