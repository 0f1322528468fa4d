// Forward declarations of core.
#pragma once

#include <cstdint>

namespace troupe {
class Status;
template <class T>
class Result;
class Shape;
class PartialShape;
class Tensor;
class Buffer;
class BufferRef;
class Allocator;
struct ResourceHandle;
struct Variant;
enum class DType : std::int32_t;
enum class Code : std::uint8_t;
} // namespace troupe
