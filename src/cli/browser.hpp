// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

// The user's browser. Main thread.
namespace gpufl::cli {

// Whether this is a login over SSH, whose browser is on another machine.
bool is_over_ssh();

// Opens an address by way of a file in `folder` that only the user can read: as an argument, every
// user of the machine would see the token in it. False: there is no desktop or no xdg-open.
bool open_in_browser(const std::string& address, const std::filesystem::path& folder);

// "ssh -L 9486:127.0.0.1:9486 HOST": what to run on the machine with the browser.
std::string ssh_line(uint16_t port);

}  // namespace gpufl::cli
