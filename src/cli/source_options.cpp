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
                  "Also look here for source files, by the ends of their paths. Can be repeated")
      .type_name("DIR")
      .one_value();
  command
      .add_option("--exclude-root", line.excluded_roots,
                  "Store no source text of files below DIR. Can be repeated")
      .type_name("DIR")
      .one_value();
  command
      .add_option("--max-source-mb", line.max_mb,
                  "Maximum source text to store per session, in MiB; 0: none")
      .range(0, 1024)
      .show_default();
}

}  // namespace gpufl::cli
