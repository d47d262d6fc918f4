// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/status.hpp"
#include "cli/quantity.hpp"

// Options whose text is a duration or a size. A value that cannot be meant is a
// CLI::ValidationError with a sentence.
namespace gpufl::cli {

template <typename T>
T value_or_throw(const std::string& option, base::Result<T> parsed) {
  if (!parsed) throw CLI::ValidationError(option, parsed.status().message());
  return std::move(*parsed);
}

// An option whose text becomes a number of nanoseconds or bytes of at least `least`.
template <typename T, typename Parse>
CLI::Option* add_quantity(CLI::App& app, const std::string& names, Parse parse, T least,
                          const std::string& least_text, const std::string& type,
                          const std::string& default_text, const std::string& help,
                          const std::function<void(T)>& store) {
  const std::string option = names.substr(names.find("--"));
  return app
      .add_option_function<std::string>(
          names,
          [=](const std::string& text) {
            const T value = value_or_throw<T>(option, parse(text));
            if (value < least) {
              throw CLI::ValidationError(option, "'" + text + "' is less than " + least_text);
            }
            store(value);
          },
          help)
      ->type_name(type)
      ->default_str(default_text);
}

}  // namespace gpufl::cli
