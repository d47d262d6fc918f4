// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

// Expected failures as values. A Status is a code for programs and a sentence for people; a
// Result<T> is a T or a Status that is not ok. Neither throws. See CONTRIBUTING.md, "Errors".
namespace gpufl::base {

enum class Code : unsigned char {
  Ok,
  InvalidArgument,   // the caller's input is wrong
  NotFound,          // a file, symbol, device or key is not there
  PermissionDenied,  // it is there, and we may not
  Unavailable,       // a library, driver or service is missing or gone
  Unsupported,       // this machine or this build cannot do it
  Corrupt,           // data does not obey its format
  TooNew,            // data is of a newer major format
  LimitReached,      // a stated bound (memory, disk, size) stops it
  IoError,           // the operating system refused
  Cancelled,         // the caller asked to stop
  Internal,          // our own mistake
};

const char* to_string(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status ok() { return {}; }
  // "message: strerror(error_number)", with the code that fits the errno.
  static Status from_errno(int error_number, const std::string& message);

  bool is_ok() const { return code_ == Code::Ok; }
  explicit operator bool() const { return is_ok(); }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  // "NotFound: no such session", or "ok".
  std::string text() const;

 private:
  Code code_ = Code::Ok;
  std::string message_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!status_.is_ok());
  }

  bool is_ok() const { return value_.has_value(); }
  explicit operator bool() const { return is_ok(); }
  const Status& status() const { return status_; }
  T& value() { return *value_; }
  const T& value() const { return *value_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace gpufl::base
