// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.hpp"
#include "sqlite/database.hpp"
#include "store/sqlite_catalogue.hpp"

// The tables of people, keys and logins, beside those of the catalogue in one file.
namespace gpufl::store {

// Makes the tables, or brings them up to date, or only looks whether they are. TooNew: they are
// newer.
base::Status check_people_schema(sqlite::Database& database, Schema schema);

// A number that grows with every change of what a Directory holds, and with nothing else.
base::Result<int64_t> directory_number(sqlite::Database& database);

}  // namespace gpufl::store
