// SPDX-License-Identifier: Apache-2.0
#include "base/status.hpp"

#include <cerrno>
#include <system_error>

namespace gpufl::base {

const char* to_string(Code code) {
  switch (code) {
    case Code::Ok: return "ok";
    case Code::InvalidArgument: return "InvalidArgument";
    case Code::NotFound: return "NotFound";
    case Code::PermissionDenied: return "PermissionDenied";
    case Code::Unavailable: return "Unavailable";
    case Code::Unsupported: return "Unsupported";
    case Code::Corrupt: return "Corrupt";
    case Code::TooNew: return "TooNew";
    case Code::LimitReached: return "LimitReached";
    case Code::IoError: return "IoError";
    case Code::Cancelled: return "Cancelled";
    case Code::Internal: return "Internal";
  }
  return "unknown";
}

Status Status::from_errno(int error_number, const std::string& message) {
  Code code = Code::IoError;
  if (error_number == ENOENT) code = Code::NotFound;
  if (error_number == EACCES || error_number == EPERM) code = Code::PermissionDenied;
  if (error_number == ENOSPC || error_number == EDQUOT) code = Code::LimitReached;
  return {code, message + ": " + std::generic_category().message(error_number)};
}

std::string Status::text() const {
  if (is_ok()) return "ok";
  return std::string(to_string(code_)) + ": " + message_;
}

}  // namespace gpufl::base
