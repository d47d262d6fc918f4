// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/status.hpp"

// Whether a query only reads, by the tree that DuckDB's parser makes of it. DuckDB has functions
// that a SELECT can call and that set something up or write files, so that knowing the kind of
// statement is not enough. Pure.
namespace gpufl::sql {

// `tree`: what json_serialize_sql() says of the query, nested as deeply as it may be. `is_table`:
// whether a table function is one of ours. InvalidArgument with a sentence where something is
// called that a query has no use for.
base::Status check_tree(std::string_view tree,
                        const std::function<bool(std::string_view name)>& is_table);

// What is explained, of a query that begins with EXPLAIN or EXPLAIN ANALYZE; else the query itself.
std::string_view without_explain(std::string_view query);

}  // namespace gpufl::sql
