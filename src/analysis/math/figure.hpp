// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

// A number that a session may not tell: its value, or why there is none. Never a zero that stands
// for "not recorded". Plain data.
namespace gpufl::analysis {

struct Unknown {
  std::string reason;  // "the engine Monitor records no kernels"
  std::string remedy;  // what would give it: "record with the engine Trace"; empty: nothing would
  bool operator==(const Unknown&) const = default;
};

template <class T>
class Figure {
 public:
  Figure() : content_(Unknown{"not computed", ""}) {}
  Figure(T value) : content_(std::move(value)) {}            // NOLINT(*-explicit-*): as optional's
  Figure(Unknown unknown) : content_(std::move(unknown)) {}  // NOLINT(*-explicit-*)

  bool is_known() const { return content_.index() == 1; }
  explicit operator bool() const { return is_known(); }
  // Only of a known one.
  const T& operator*() const { return *std::get_if<1>(&content_); }
  const T* operator->() const { return std::get_if<1>(&content_); }
  T& operator*() { return *std::get_if<1>(&content_); }
  T* operator->() { return std::get_if<1>(&content_); }
  T value_or(T fallback) const { return is_known() ? **this : fallback; }
  // Only of one that is not known.
  const Unknown& unknown() const { return *std::get_if<0>(&content_); }
  bool operator==(const Figure&) const = default;

 private:
  std::variant<Unknown, T> content_;
};

}  // namespace gpufl::analysis
