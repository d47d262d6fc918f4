// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.hpp"
#include "sqlite/database.hpp"

// The tables of people, keys and logins, beside those of the catalogue in one file.
namespace gpufl::store {

// Makes the tables, or brings them up to date. TooNew: they are newer.
base::Status migrate_people(sqlite::Database& database);

// A number that grows with every change of what a Directory holds, and with nothing else.
base::Result<int64_t> directory_number(sqlite::Database& database);

}  // namespace gpufl::store
