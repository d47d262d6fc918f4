// SPDX-License-Identifier: Apache-2.0
#include "analysis/code/kernel_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

namespace gpufl::analysis {

namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool is_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The function's name with its namespaces and without template arguments and parameters, and the
// text of the first template arguments.
struct Parts {
  std::string name;
  std::string_view arguments;
  bool is_sound = true;  // false: no name that C++ has
};

Parts split(std::string_view text) {
  Parts parts;
  int depth = 0;
  size_t arguments_from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' && depth == 0) {
      if (text.substr(i).starts_with(kAnonymous)) {
        i += kAnonymous.size() - 1;
        continue;
      }
      if (!parts.name.ends_with("operator")) break;  // the parameters
      parts.name += "()";
      ++i;
      continue;
    }
    if (c == '<' && depth == 0) arguments_from = i + 1;
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if (depth == 0) {
      // "k<script>alert(1)": what follows template arguments is no part of the name before them.
      if (i > 0 && text[i - 1] == '>' && is_identifier(c)) parts.is_sound = false;
      parts.name += c;
    }
    if (c == '>' || c == ')' || c == '}' || c == ']') {
      // "->" and what else a broken name may have must not lead below the ground.
      depth = std::max(depth - 1, 0);
      if (depth == 0 && c == '>') parts.arguments = text.substr(arguments_from, i - arguments_from);
    }
  }
  return parts;
}

// Kernels that run whatever their template arguments say.
constexpr std::array kFrames = {
    std::string_view{"vectorized_elementwise_kernel"},
    std::string_view{"unrolled_elementwise_kernel"},
    std::string_view{"elementwise_kernel"},
    std::string_view{"elementwise_kernel_with_index"},
    std::string_view{"legacy_elementwise_kernel"},
    std::string_view{"vectorized_templated_elementwise_kernel"},
    std::string_view{"distribution_elementwise_grid_stride_kernel"},
    std::string_view{"index_elementwise_kernel"},
    std::string_view{"multi_tensor_apply_kernel"},
    std::string_view{"reduce_kernel"},
    std::string_view{"device_kernel"},
    std::string_view{"Kernel"},
    std::string_view{"Kernel2"},
};

// Arguments that are frames themselves.
constexpr std::array kWrappers = {
    std::string_view{"AUnaryFunctor"},
    std::string_view{"BUnaryFunctor"},
    std::string_view{"BinaryFunctor"},
    std::string_view{"func_wrapper_t"},
    std::string_view{"gpu_kernel_impl_nocast"},
    std::string_view{"gpu_kernel_impl"},
    std::string_view{"ReduceOp"},
    std::string_view{"GemmUniversal"},
};

constexpr std::array kTellingParts = {
    std::string_view{"Functor"}, std::string_view{"functor"}, std::string_view{"kernel"},
    std::string_view{"Kernel"},  std::string_view{"gemm"},    std::string_view{"Gemm"},
    std::string_view{"Flash"},   std::string_view{"fprop"},   std::string_view{"dgrad"},
    std::string_view{"wgrad"},   std::string_view{"Ops"},
};

template <size_t n>
bool is_one_of(const std::array<std::string_view, n>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The first word of template arguments that names an operation.
std::string_view operation(std::string_view arguments) {
  for (size_t i = 0; i < arguments.size();) {
    size_t end = i;
    while (end < arguments.size() && is_identifier(arguments[end])) ++end;
    const std::string_view word = arguments.substr(i, end - i);
    const bool is_telling = std::any_of(
        kTellingParts.begin(), kTellingParts.end(),
        [&](std::string_view part) { return word.find(part) != std::string_view::npos; });
    if (is_telling && !is_one_of(kWrappers, word)) return word;
    i = end + 1;
  }
  return {};
}

// Leftovers of what is no name at all, such as "&amp;" or "??", tell less than the whole text.
bool tells_something(std::string_view name) {
  if (name.starts_with("operator")) return true;
  constexpr std::string_view kAlsoInNames = "~$@.#-:/";
  bool has_letter = false;
  for (const char c : name) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0;
    has_letter = has_letter || is_letter;
    if (!is_letter && !is_identifier(c) && kAlsoInNames.find(c) == std::string_view::npos) {
      return false;
    }
  }
  return has_letter;
}

// Of a piece of a name: what stands before the first bracket that it does not open.
std::string_view first_part(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" ,"), text.size());
  int depth = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '(') ++depth;
    if ((text[i] == '>' || text[i] == ')') && --depth < 0) return text.substr(begin, i - begin);
  }
  return text.substr(begin);
}

// At most so many bytes, never a part of a character.
std::string cut(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace

std::string short_kernel_name(std::string_view demangled) {
  Parts parts = split(demangled);
  while (parts.name.ends_with(' ')) parts.name.pop_back();
  std::string name = parts.name.substr(parts.name.rfind(' ') + 1);  // without the return type
  const size_t qualifier = name.rfind("::");
  if (qualifier != std::string::npos) name.erase(0, qualifier + 2);
  if (!parts.is_sound || !tells_something(name)) return std::string(demangled);
  if (is_one_of(kFrames, name)) {
    const std::string_view inner = operation(parts.arguments);
    if (!inner.empty()) name.append("<").append(inner).append(">");
  }
  return name;
}

std::string kernel_label(std::string_view short_name) {
  constexpr size_t kMaxLabel = 160;
  return short_name.empty() ? "(no name)" : cut(short_name, kMaxLabel);
}

std::vector<std::string> kernel_labels(std::string_view short_name,
                                       const std::vector<std::string_view>& whole_names) {
  constexpr size_t kMaxDifference = 40;
  const std::string_view first = whole_names.front();
  size_t same_begin = first.size(), same_end = first.size();
  for (const std::string_view name : whole_names) {
    const auto begin = std::mismatch(first.begin(), first.end(), name.begin(), name.end());
    same_begin = std::min(same_begin, static_cast<size_t>(begin.first - first.begin()));
    const auto end = std::mismatch(first.rbegin(), first.rend(), name.rbegin(), name.rend());
    same_end = std::min(same_end, static_cast<size_t>(end.first - first.rbegin()));
  }
  // Whole words only.
  while (same_begin > 0 && is_identifier(first[same_begin - 1])) --same_begin;
  while (same_end > 0 && is_identifier(first[first.size() - same_end])) --same_end;
  std::vector<std::string> labels;
  std::map<std::string, int> seen;
  for (const std::string_view name : whole_names) {
    const size_t end = std::max(same_begin, name.size() - std::min(name.size(), same_end));
    const std::string apart =
        cut(first_part(name.substr(same_begin, end - same_begin)), kMaxDifference);
    std::string label = kernel_label(short_name) + (apart.empty() ? "" : " [" + apart + "]");
    if (const int before = seen[label]++; before > 0) label += " #" + std::to_string(before + 1);
    labels.push_back(std::move(label));
  }
  return labels;
}

std::vector<std::string> all_kernel_labels(const std::vector<std::string_view>& whole_names) {
  std::vector<std::string> labels(whole_names.size());
  std::map<std::string, std::vector<size_t>> alike;  // places by short name
  for (size_t i = 0; i < whole_names.size(); ++i) {
    if (whole_names[i].empty()) {
      labels[i] = kernel_label({});
    } else {
      alike[short_kernel_name(whole_names[i])].push_back(i);
    }
  }
  for (const auto& [short_name, places] : alike) {
    if (places.size() == 1) {
      labels[places[0]] = kernel_label(short_name);
      continue;
    }
    std::vector<std::string_view> whole;
    for (const size_t place : places) whole.push_back(whole_names[place]);
    std::vector<std::string> distinct = kernel_labels(short_name, whole);
    for (size_t i = 0; i < places.size(); ++i) labels[places[i]] = std::move(distinct[i]);
  }
  return labels;
}

}  // namespace gpufl::analysis
