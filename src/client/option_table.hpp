// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gpufl/options.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>

// Every field of InitOptions, once: its name is the config file's key, and in capitals behind
// GPUFL_ its variable. Constant; any thread.
namespace gpufl::client {

template <typename T>
struct RangeField {
  T InitOptions::* member;
  T min, max;
  bool takes_zero = false;  // though it is below `min`: the option is off, or at its default

  bool allows(T value) const {
    return (value >= min && value <= max) || (takes_zero && value == 0);
  }
};
using IntField = RangeField<int>;
using PercentField = RangeField<double>;

// Text as client/deep_condition.hpp reads it; empty: none.
struct ConditionField {
  std::string InitOptions::* member;
};

using FieldMember =
    std::variant<std::string InitOptions::*, bool InitOptions::*, IntField, PercentField,
                 BackendKind InitOptions::*, ProfilingEngine InitOptions::*, ConditionField>;

struct OptionField {
  std::string_view name;
  FieldMember member;
  std::string_view deprecation = {};  // what is said of one that is set; empty: nothing

  std::string variable() const;
  bool is_default(const InitOptions& options) const;
  void copy(const InitOptions& from, InitOptions& to) const;
};

std::span<const OptionField> option_fields();
const OptionField* find_field(std::string_view name);

}  // namespace gpufl::client
