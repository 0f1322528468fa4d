// The ops that parse messages, without the rest of the library.
#pragma once

#include "tests/fuzz/one_kernel.hpp"

namespace troupe {

void register_parsing(OpLibrary& library); // made by the build

inline const OpLibrary& parsing_ops() {
  static const OpLibrary& library = []() -> OpLibrary& {
    auto* made = new OpLibrary; // graphs point into it until the process ends
    register_parsing(*made);
    return *made;
  }();
  return library;
}

} // namespace troupe
