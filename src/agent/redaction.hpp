// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/folder.hpp"
#include "base/status.hpp"
#include "format/schema.hpp"
#include "format/seal.hpp"
#include "net/proxy.hpp"

// What should not leave this machine is left out of each line that is sent. The same file gives the
// same bytes again, so that several senders of one session agree.
namespace gpufl::agent {

struct Redaction {
  bool source = false;   // text of source files; readers are told that they may not add any
  bool command = false;  // the program's command line

  bool is_any() const { return source || command; }
};
// Also what GPUFL_UPLOAD_NO_SOURCE and GPUFL_UPLOAD_NO_COMMAND leave out: anything but "", "0",
// "no", "off" and "false" does.
Redaction with_variables(Redaction redaction, const net::Variables& variables);

// Copies of a session's files for sending. They have no name, so nothing of them stays, whatever
// ends this process. Any thread.
class Redactor {
 public:
  // Of one window, as much text as a server keeps.
  static constexpr uint64_t kMostText = uint64_t{4} << 30;

  explicit Redactor(const Redaction& redaction, uint64_t most_text = kMostText)
      : redaction_(redaction), most_text_(most_text) {}

  // What may be told of a line; false: nothing.
  bool redact(std::string_view line, std::string& out) const;
  // Of text that does not end with a newline: half a line may be half of what is left out.
  static bool is_secret_tail(std::string_view tail);

  struct Window {
    OpenFile file;
    format::SealedWindow sealed;
  };
  // Of a sealed window, sealed anew. LimitReached: it unpacks to more than `most_text`.
  base::Result<Window> copy_window(const OpenFile& file) const;
  base::Result<OpenFile> copy_symbols(const OpenFile& file) const;
  // `sealed`: of windows that were copied; of others the entries stay.
  using Sealed = std::map<std::pair<format::Channel, uint64_t>, format::SealedWindow>;
  base::Result<OpenFile> copy_manifest(const OpenFile& file, const Sealed& sealed) const;

 private:
  base::Result<OpenFile> copy_lines(const OpenFile& file, bool has_hash) const;

  const Redaction redaction_;
  const uint64_t most_text_;
};

}  // namespace gpufl::agent
