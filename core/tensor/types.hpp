// Element types that C++ lacks: small floats and quantised integers as bit patterns, resource
// handles, variants.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// IEEE binary16 by its bits; conversions round to nearest even.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
  friend bool operator==(Half a, Half b) { return static_cast<float>(a) == static_cast<float>(b); }
};

/// The upper half of a float; conversions round to nearest even.
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const;
  friend bool operator==(BFloat16 a, BFloat16 b) {
    return static_cast<float>(a) == static_cast<float>(b);
  }
};

// Carried and stored, not computed with: distinct types of one layout.
template <class Bits, int Tag>
struct OpaqueBits {
  Bits bits = 0;
  friend bool operator==(const OpaqueBits&, const OpaqueBits&) = default;
};
using QInt8 = OpaqueBits<std::int8_t, 11>;
using QUInt8 = OpaqueBits<std::uint8_t, 12>;
using QInt32 = OpaqueBits<std::int32_t, 13>;
using QInt16 = OpaqueBits<std::int16_t, 15>;
using QUInt16 = OpaqueBits<std::uint16_t, 16>;
using Float8E5M2 = OpaqueBits<std::uint8_t, 24>;
using Float8E4M3FN = OpaqueBits<std::uint8_t, 25>;
using Float8E4M3FNUZ = OpaqueBits<std::uint8_t, 26>;
using Float8E4M3B11FNUZ = OpaqueBits<std::uint8_t, 27>;
using Float8E5M2FNUZ = OpaqueBits<std::uint8_t, 28>;
using Int4 = OpaqueBits<std::int8_t, 29>;
using UInt4 = OpaqueBits<std::uint8_t, 30>;
using Int2 = OpaqueBits<std::int8_t, 31>;
using UInt2 = OpaqueBits<std::uint8_t, 32>;
using Float4E2M1FN = OpaqueBits<std::uint8_t, 33>;

/// Names a resource of a device; the element of a tensor of dtype `resource`. The resource itself
/// lives in devices/resource.
struct ResourceHandle {
  std::string device;
  std::string container;
  std::string name;
  std::uint64_t hash_code = 0; ///< of the resource's C++ type
  std::string maybe_type_name;
  friend bool operator==(const ResourceHandle&, const ResourceHandle&) = default;
};

class VariantValue;

/// A value of a type named at run time: bytes that are carried untouched, or a value in memory
/// (core/tensor/variant.hpp), which copies share.
struct Variant {
  std::string type_name;
  std::string metadata;                      ///< empty where there is a value
  std::shared_ptr<const VariantValue> value; ///< null: the bytes are all
  /// The same type, bytes and tensors, or the same value.
  friend bool operator==(const Variant&, const Variant&);
};
/// Whether nobody else holds the value, so that its holder may change it.
bool is_sole_holder(const Variant& variant);

} // namespace troupe
