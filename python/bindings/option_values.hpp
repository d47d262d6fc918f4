// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <gpufl/options.hpp>

#include "client/options.hpp"

// Fields of InitOptions by their names, for calls with keywords. With the GIL held.
namespace gpufl::python {

// What a program asked for: the values, and which of them it named.
struct AskedOptions {
  InitOptions values;
  client::FieldNames named;
};

// `options` with the fields of `given` set. Raises TypeError for a name that is no field's and for
// a value of another type.
AskedOptions asked_options(const InitOptions& options, const nanobind::dict& given);

}  // namespace gpufl::python
