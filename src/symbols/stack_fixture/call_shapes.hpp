// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Functions whose frames compilers lay out in every way that matters, called one by the other in an
// order that the caller gives. Built several times, with and without frame pointers, as libraries.
struct CallTree {
  using Enter = void (*)(CallTree&);

  const uint8_t* path;  // the next shapes; kOtherLibrary set: of the other library
  size_t left;
  void (*bottom)(CallTree&);
  Enter libraries[2];
  size_t library;  // which of them runs

  static constexpr uint8_t kOtherLibrary = 0x80;
};

// What each library exports.
extern "C" void enter_call_tree(CallTree& tree);
inline constexpr const char* kEnterCallTree = "enter_call_tree";
