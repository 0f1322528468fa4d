// Variants that hold a C++ number: "int", "float", "double" or "bool", whose bytes are the
// metadata.
#pragma once

#include <optional>
#include <string>

#include "core/tensor/variant.hpp"

namespace troupe::list {

/// Nothing if it holds no number. Requires that both have one type name.
std::optional<Variant> add_numbers(const Variant& a, const Variant& b);
std::optional<Variant> zero_like_number(const Variant& like);
/// As C++ streams write it.
std::optional<std::string> text_of_number(const Variant& variant);

} // namespace troupe::list
