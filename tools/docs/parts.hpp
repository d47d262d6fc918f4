// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "page.hpp"

// What the code says of itself, for pages of the documentation.
namespace gpufl::docs {

// The kinds that come in batches and their columns, for format/SPEC.md.
std::vector<Part> kinds();
// The tables of a session in Python, for docs/reference/python-dataframes.md.
std::vector<Part> frames();
// The tables and views of `gpufl sql`, for docs/reference/sql.md.
std::vector<Part> queries();
// The metrics as Prometheus gets them, for docs/reference/prometheus.md.
std::vector<Part> prometheus();
// What `gpufl serve` answers, for docs/reference/http-api.md.
std::vector<Part> http_api();
// The same as OpenAPI, for web/src/api/openapi.json, of which the pages' types are made.
std::string openapi();

}  // namespace gpufl::docs
