// Rows joined into one, element by element, as segments of rows are: in vectors where arith has the
// function.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/arith/lookup.hpp"
#include "kernels/framework/wrapping.hpp"

namespace troupe::reduce {

enum class Join : std::uint8_t { add, multiply, least, greatest };

/// Integers wrap. The least and the greatest are b, the later one, if either is NaN.
template <Join how, class T>
T join(T a, T b) {
  if constexpr (how == Join::add)
    return add_wrapping(a, b);
  else if constexpr (how == Join::multiply)
    return multiply_wrapping(a, b);
  else if constexpr (how == Join::least)
    return a < b ? a : b;
  else
    return b < a ? a : b;
}

/// Joins rows of `size` elements.
template <Join how, class T>
class RowJoin {
public:
  explicit RowJoin(std::int64_t size) : size_(size) {
    constexpr std::int64_t worth_a_call = 8;
    if constexpr (std::is_arithmetic_v<T>) {
      constexpr auto op = how == Join::add        ? arith::BinaryOp::add
                          : how == Join::multiply ? arith::BinaryOp::mul
                          : how == Join::least    ? arith::BinaryOp::clip_above
                                                  : arith::BinaryOp::clip_below;
      constexpr auto type = static_cast<arith::Type>(dtype_of<T>);
      const auto kernel = arith::binary_kernel(op, type);
      if (size >= worth_a_call && kernel.route == nullptr) // in its own type
        fn_ = kernel.fn;
      if (size > 1)
        all_ = arith::join_rows(op, type);
    }
  }

  /// to = from joined to `first` in every element.
  void begin(T first, const T* from, T* to) const {
    if (fn_ != nullptr)
      fn_(from, &first, to, size_, arith::RowMode::right_scalar);
    else
      for (std::int64_t i = 0; i < size_; ++i)
        to[i] = join<how>(first, from[i]);
  }
  /// to = from joined to `to`.
  void add(const T* from, T* to) const {
    if (fn_ != nullptr)
      fn_(from, to, to, size_, arith::RowMode::both_rows);
    else
      for (std::int64_t i = 0; i < size_; ++i)
        to[i] = join<how>(to[i], from[i]);
  }
  /// to = `count` neighbouring rows joined, one or more, from `first` on.
  void all(T first, const T* from, std::int64_t count, T* to) const {
    if (all_ != nullptr)
      return all_(from, &first, count, size_, to);
    if (size_ == 1) {
      *to = in_turn(first, from, count);
      return;
    }
    begin(first, from, to);
    for (std::int64_t r = 1; r < count; ++r)
      add(from + r * size_, to);
  }

private:
  /// Sums and products in four parts, as one has to wait for the one before.
  static T in_turn(T first, const T* from, std::int64_t count) {
    std::int64_t r = 0;
    if constexpr (how == Join::add || how == Join::multiply)
      if (constexpr std::int64_t parts = 4; count >= 2 * parts) {
        T all[parts] = {from[0], from[1], from[2], from[3]};
        for (r = parts; r + parts <= count; r += parts)
          for (std::int64_t k = 0; k < parts; ++k)
            all[k] = join<how>(all[k], from[r + k]);
        first = join<how>(first, join<how>(join<how>(all[0], all[1]), join<how>(all[2], all[3])));
      }
    for (; r < count; ++r)
      first = join<how>(first, from[r]);
    return first;
  }

  std::int64_t size_;
  arith::BinaryRow fn_ = nullptr;
  arith::JoinRowsFn all_ = nullptr;
};

/// row /= by. Integers are divided toward zero.
template <class T>
void divide_row(T* row, std::int64_t size, T by) {
  if constexpr (std::is_floating_point_v<T>) {
    static const auto type = static_cast<arith::Type>(dtype_of<T>);
    arith::binary_kernel(arith::BinaryOp::real_div, type)
        .fn(row, &by, row, size, arith::RowMode::right_scalar);
  } else {
    for (std::int64_t i = 0; i < size; ++i)
      row[i] = row[i] / by;
  }
}

} // namespace troupe::reduce
