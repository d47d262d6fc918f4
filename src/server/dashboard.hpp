// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "net/http_message.hpp"

// The dashboard's files, which the build embeds into the program (cmake/EmbedDashboard.cmake):
// compressed once, when they are made, and decompressed for the few clients that do not accept
// that. Without Node at build time there are none. Pure functions; any thread.
namespace gpufl::server {

struct DashboardFile {
  std::string_view path;  // "index.html", "assets/index-Bz6m.js"
  std::string_view gzip;
  std::string_view hash;  // of its content
};

// By path; empty: the program was built without.
std::span<const DashboardFile> dashboard_files();

// Null: there is no such file. What is asked for never becomes a path.
const DashboardFile* find_file(std::span<const DashboardFile> files, std::string_view path);

// As the end of the name says.
std::string_view content_type_of(std::string_view path);

// In a form that the client accepts; 304 where it has it.
net::HttpReply reply_with_file(const net::HttpRequest& request, const DashboardFile& file,
                               std::string_view cache_control);

}  // namespace gpufl::server
