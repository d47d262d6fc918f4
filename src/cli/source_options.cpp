// SPDX-License-Identifier: Apache-2.0
#include "cli/source_options.hpp"

namespace gpufl::cli {

symbols::SourceOptions SourceLine::options() const {
  symbols::SourceOptions options;
  options.roots.assign(roots.begin(), roots.end());
  options.excluded_roots.assign(excluded_roots.begin(), excluded_roots.end());
  options.max_bytes = max_mb << 20;
  options.enabled = max_mb > 0;
  return options;
}

void add_source_options(Command command, SourceLine& line) {
  command
      .add_option("--source-root", line.roots,
                  "Also look here for source files, by the ends of their paths. Can be given again")
      .type_name("DIR")
      .one_value();
  command
      .add_option("--exclude-root", line.excluded_roots,
                  "Keep no source text of files below DIR. Can be given again")
      .type_name("DIR")
      .one_value();
  command
      .add_option("--max-source-mb", line.max_mb,
                  "Most source text to keep for a session, in MiB; 0: none")
      .type_name("N")
      .range(0, 1024)
      .show_default();
}

}  // namespace gpufl::cli
