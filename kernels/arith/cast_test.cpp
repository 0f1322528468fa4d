#include "kernels/arith/elementwise.hpp"
#include "kernels/arith/half.hpp"
#include "kernels/arith/internal/test_support.hpp"
#include <bit>
#include <cstring>

namespace troupe::arith::cast_test {
namespace {

constexpr Type all_types[] = {Type::float32, Type::float64, Type::int32,   Type::int64,
                              Type::uint8,   Type::int8,    Type::int16,   Type::uint16,
                              Type::uint32,  Type::uint64,  Type::float16, Type::bool_,
                              Type::bfloat16};

template <class T>
T read(const unsigned char* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

/// Value of an element as a double; all values of this test fit.
double value_of(Type type, const unsigned char* p) {
  switch (type) {
  case Type::float32:
    return static_cast<double>(read<float>(p));
  case Type::float64:
    return read<double>(p);
  case Type::int32:
    return read<int32_t>(p);
  case Type::int64:
    return static_cast<double>(read<int64_t>(p));
  case Type::uint8:
    return read<uint8_t>(p);
  case Type::int8:
    return read<int8_t>(p);
  case Type::int16:
    return read<int16_t>(p);
  case Type::uint16:
    return read<uint16_t>(p);
  case Type::uint32:
    return read<uint32_t>(p);
  case Type::uint64:
    return static_cast<double>(read<uint64_t>(p));
  case Type::float16:
    return static_cast<double>(f16_to_f32(read<uint16_t>(p)));
  case Type::bfloat16:
    return static_cast<double>(bf16_to_f32(read<uint16_t>(p)));
  case Type::bool_:
    return read<uint8_t>(p);
  default:
    return -1;
  }
}

TEST_CASE("every type casts to every type") {
  on_each_isa([] {
    // Small whole numbers are exact in all types (as booleans they are 0 or 1).
    std::vector<double> numbers;
    for (int i = 0; i < 67; ++i)
      numbers.push_back(i * 5 % 101);
    for (Type from : all_types)
      for (Type to : all_types) {
        CAPTURE(static_cast<int>(from));
        CAPTURE(static_cast<int>(to));
        std::vector<unsigned char> x(67 * 8), y(67 * 8);
        REQUIRE((cast(Type::float64, from) != nullptr));
        REQUIRE((cast(from, to) != nullptr));
        cast(Type::float64, from)(numbers.data(), x.data(), 0, 67);
        cast(from, to)(x.data(), y.data(), 0, 67);
        int wrong = 0;
        for (size_t i = 0; i < 67; ++i) {
          const bool as_bool = from == Type::bool_ || to == Type::bool_;
          const double want = as_bool ? static_cast<double>(numbers[i] != 0) : numbers[i];
          wrong += value_of(to, y.data() + i * static_cast<size_t>(size_of(to))) != want;
        }
        CHECK(wrong == 0);
      }
    CHECK((cast(static_cast<Type>(7), Type::float32) == nullptr));
  });
}

TEST_CASE("casts truncate floats, keep signs and wrap integers") {
  on_each_isa([] {
    const std::vector<float> x = {-1.9f, 1.9f, -0.5f, 2.5f, 1e-30f, NAN};
    std::vector<int32_t> i32(6);
    cast(Type::float32, Type::int32)(x.data(), i32.data(), 0, 4);
    CHECK(i32 == std::vector<int32_t>{-1, 1, 0, 2, 0, 0});
    std::vector<uint8_t> flags(6);
    cast(Type::float32, Type::bool_)(x.data(), flags.data(), 0, 6);
    CHECK(flags == std::vector<uint8_t>{1, 1, 1, 1, 1, 1});
    const std::vector<int64_t> wide = {-1, 300, int64_t{1} << 40};
    std::vector<uint8_t> bytes(3);
    cast(Type::int64, Type::uint8)(wide.data(), bytes.data(), 0, 3);
    CHECK(bytes == std::vector<uint8_t>{255, 44, 0});
    const std::vector<uint64_t> large = {uint64_t{1} << 63, UINT64_MAX};
    std::vector<float> floats(2);
    cast(Type::uint64, Type::float32)(large.data(), floats.data(), 0, 2);
    CHECK(floats == std::vector<float>{9223372036854775808.0f, 18446744073709551616.0f});
  });
}

TEST_CASE("every f16 goes to f32 and back unchanged, and vector code agrees with the single "
          "conversions") {
  std::vector<uint16_t> all(65536), back(65536);
  std::vector<float> floats(65536);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<uint16_t>(i);
  on_each_isa([&] {
    for (Type type : {Type::float16, Type::bfloat16}) {
      cast(type, Type::float32)(all.data(), floats.data(), 0, 65536);
      cast(Type::float32, type)(floats.data(), back.data(), 0, 65536);
      int wrong = 0;
      for (size_t i = 0; i < all.size(); ++i) {
        const float one = type == Type::float16 ? f16_to_f32(all[i]) : bf16_to_f32(all[i]);
        wrong += std::isnan(one)
                     ? !std::isnan(floats[i])
                     : std::bit_cast<uint32_t>(one) != std::bit_cast<uint32_t>(floats[i]);
        wrong += std::isnan(floats[i]) ? !std::isnan(one) : back[i] != all[i];
        wrong += std::signbit(one) != std::signbit(floats[i]);
      }
      CHECK(wrong == 0);
    }
  });
}

template <class From, class To>
void check_one_by_one(const std::vector<From>& from) {
  for (size_t skip = 0; skip < 5; ++skip) { // each meets other neighbours
    const auto n = static_cast<int64_t>(from.size() - skip);
    std::vector<To> to(static_cast<size_t>(n));
    cast(type_of<From>(), type_of<To>())(from.data() + skip, to.data(), 0, n);
    for (size_t i = 0; i < to.size(); ++i) {
      CAPTURE(from[skip + i]);
      CHECK(to[i] == static_cast<To>(from[skip + i]));
    }
  }
}

TEST_CASE("64-bit integers and reals become each other exactly, of whatever size they are") {
  std::vector<int64_t> integers = {0, 1, -1, INT64_MIN, INT64_MIN + 1, INT64_MAX};
  for (int bit = 20; bit < 63; ++bit)
    for (int64_t beside : {-1, 0, 1})
      for (int64_t sign : {-1, 1})
        integers.push_back(sign * ((int64_t{1} << bit) + beside));
  for (int64_t i = 0; i < 40; ++i) // roundings of two steps would meet a half
    integers.push_back((int64_t{1} << 54) + (int64_t{1} << 30) + 1 + i);
  std::vector<double> reals;
  for (int64_t i : integers)
    if (i < INT64_MAX - 1024)
      reals.insert(reals.end(), {static_cast<double>(i), static_cast<double>(i / 4) / 8});
  std::vector<float> floats(reals.begin(), reals.end());
  on_each_isa([&] {
    check_one_by_one<int64_t, float>(integers);
    check_one_by_one<int64_t, double>(integers);
    check_one_by_one<double, int64_t>(reals);
    check_one_by_one<float, int64_t>(floats);
  });
}

TEST_CASE("f16 and bf16 round to nearest even") {
  CHECK(f16_to_f32(0x3c00) == 1.0f);
  CHECK(f16_to_f32(0x0001) == 5.9604644775390625e-8f);
  CHECK(f16_to_f32(0x7bff) == 65504.0f);
  CHECK(f16_to_f32(0xfc00) == -INFINITY);
  CHECK(f32_to_f16(65519.0f) == 0x7bff);
  CHECK(f32_to_f16(65520.0f) == 0x7c00);
  CHECK(f32_to_f16(1.0f + 1.0f / 2048) == 0x3c00); // half way: down to even
  CHECK(f32_to_f16(1.0f + 3.0f / 2048) == 0x3c02); // half way: up to even
  CHECK(f32_to_f16(2.98023223876953125e-8f) == 0); // half of the smallest
  CHECK(f32_to_f16(2.9802326e-8f) == 1);           // just above
  CHECK(f32_to_f16(-0.0f) == 0x8000);
  CHECK(std::isnan(f16_to_f32(f32_to_f16(NAN))));
  CHECK(f32_to_bf16(1.0f + 1.0f / 256) == 0x3f80);
  CHECK(f32_to_bf16(1.0f + 3.0f / 256) == 0x3f82);
  CHECK(f32_to_bf16(3.4e38f) == 0x7f80);
  CHECK(std::isnan(bf16_to_f32(f32_to_bf16(std::bit_cast<float>(0x7f800001u)))));
}

} // namespace
} // namespace troupe::arith::cast_test
