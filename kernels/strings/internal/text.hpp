// What kernels of text share: loops over elements, numbers, UTF-8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/strings.hpp"
#include "kernels/framework/context.hpp"

namespace troupe::strings {

inline constexpr double text_cost = 100; // ns for an element, about

/// Output 0, of input 0's shape: out[i] = f(in[i]).
template <class Out = std::string, class F>
Status map_text(KernelContext& c, F&& f) {
  const auto in = c.input(0).data<std::string>();
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, c.input(0).shape()));
  const auto to = out.mutable_data<Out>();
  c.parallel_for(
      static_cast<std::int64_t>(in.size()), text_cost, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
          to[i] = f(in[i]);
      });
  return {};
}

/// The whole text as a number, with blanks around it or not, in TensorFlow's notation: integers in
/// decimal; floats also in hexadecimal, "inf", "infinity" and "nan". Nothing where it does not fit.
/// T: float, double, int32, int64, uint32, uint64.
template <class T>
std::optional<T> parse_number(std::string_view text);

/// Whether the byte goes on with a character of UTF-8.
constexpr bool is_trail_byte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

} // namespace troupe::strings
