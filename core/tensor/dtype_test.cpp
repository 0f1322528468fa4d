#include "core/tensor/dtype.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace troupe;

TEST_CASE("dtype: every name reads back, with and without reference") {
#define TROUPE_DTYPE(name, number, size, literal, type)                                            \
  CHECK(static_cast<int>(DType::name) == number);                                                  \
  CHECK(dtype_of<type> == DType::name);                                                            \
  CHECK(dtype_size(DType::name) == size);                                                          \
  CHECK(dtype_size(make_ref(DType::name)) == size);                                                \
  CHECK(parse_dtype(to_string(DType::name)) == DType::name);                                       \
  CHECK(parse_dtype(to_string(make_ref(DType::name))) == make_ref(DType::name));                   \
  CHECK(parse_dtype(literal_name(DType::name)) == DType::name);                                    \
  CHECK(literal_name(DType::name) == #literal);                                                    \
  CHECK((is_object(DType::name) || sizeof(type) == size));
#include "core/tensor/dtype.def"
#undef TROUPE_DTYPE
}

TEST_CASE("dtype: TensorFlow's names") {
  CHECK(to_string(DType::float32) == "float");
  CHECK(to_string(DType::float64) == "double");
  CHECK(to_string(DType::float16) == "half");
  CHECK(to_string(DType::bool_) == "bool");
  CHECK(to_string(make_ref(DType::int32)) == "int32_ref");
  CHECK(to_string(DType::invalid) == "invalid");
  CHECK(to_string(static_cast<DType>(77)) == "dtype(77)");
  CHECK(parse_dtype("DT_FLOAT") == DType::float32);
  CHECK(parse_dtype("DT_FLOAT_REF") == make_ref(DType::float32));
  CHECK(parse_dtype("DT_BOOL") == DType::bool_);
  CHECK(parse_dtype("DT_HALF") == DType::float16);
  CHECK(parse_dtype("DT_FLOAT8_E4M3FN") == DType::float8_e4m3fn);
  for (const char* bad : {"", "DT_", "flot", "float33", "ref", "_ref"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_dtype(bad));
  }
}

TEST_CASE("dtype: unknown numbers are harmless") {
  for (int number : {-1, 0, 34, 99, 100, 134, 1000}) {
    CAPTURE(number);
    auto t = static_cast<DType>(number);
    CHECK_FALSE(is_known(t));
    CHECK(dtype_size(t) == 0);
  }
  CHECK(is_known(make_ref(DType::float32)));
  CHECK(remove_ref(make_ref(DType::float32)) == DType::float32);
  CHECK(make_ref(make_ref(DType::float32)) == make_ref(DType::float32));
}

TEST_CASE("dtype: kinds") {
  CHECK(is_floating(DType::bfloat16));
  CHECK_FALSE(is_floating(DType::float8_e5m2));
  CHECK(is_complex(DType::complex128));
  CHECK(is_integer(make_ref(DType::uint16)));
  CHECK_FALSE(is_integer(DType::bool_));
  CHECK_FALSE(is_integer(DType::qint8));
  CHECK(is_object(DType::string));
  CHECK_FALSE(is_object(DType::int8));
}

TEST_CASE("dispatch: calls once with the element type, or names the dtype") {
  std::size_t size = 0;
  auto note_size = [&]<class T>() -> Status {
    size += sizeof(T);
    return {};
  };
  CHECK(dispatch(Types<float, double>{}, DType::float64, note_size).ok());
  CHECK(size == sizeof(double));
  CHECK(dispatch(Types<float, double>{}, DType::string, note_size) ==
        unimplemented("there is no kernel for elements of dtype string"));
  CHECK(size == sizeof(double));
}

TEST_CASE("half: conversions round to nearest even") {
  struct Row {
    float value;
    std::uint16_t bits;
  };
  const Row rows[] = {{0.0f, 0x0000},      {-0.0f, 0x8000},        {1.0f, 0x3c00},
                      {65504.0f, 0x7bff},  {65519.0f, 0x7bff},     {65520.0f, 0x7c00},
                      {5.9604645e-8f, 1},  {2.9802322e-8f, 0},     {2.99e-8f, 1},
                      {2049.0f, 0x6800},   {2051.0f, 0x6802},      {6.1035156e-5f, 0x0400},
                      {-INFINITY, 0xfc00}, {6.0975552e-5f, 0x03ff}};
  for (const Row& row : rows) {
    CAPTURE(row.value);
    CHECK(Half(row.value).bits == row.bits);
  }
  CHECK(std::isnan(static_cast<float>(Half(NAN))));
  for (int bits = 0; bits < 65536; ++bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    if (!std::isnan(static_cast<float>(half)))
      REQUIRE(Half(static_cast<float>(half)).bits == bits);
  }
}

TEST_CASE("bfloat16: conversions round to nearest even") {
  CHECK(BFloat16(1.0f).bits == 0x3f80);
  CHECK(BFloat16(1.00390625f).bits == 0x3f80); // halfway, to even
  CHECK(BFloat16(1.01171875f).bits == 0x3f82); // halfway, to even
  CHECK(BFloat16(1.004f).bits == 0x3f81);
  CHECK(BFloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(std::isnan(static_cast<float>(BFloat16(NAN))));
  CHECK(static_cast<float>(BFloat16(-2.5f)) == -2.5f);
}
