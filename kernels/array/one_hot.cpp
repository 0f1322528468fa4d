// OneHot: along a new dimension, on_value at the place that each index names, off_value elsewhere.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/array/internal/elements.hpp"
#include "kernels/array/internal/gpu_kernels.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/gpu/shared.hpp"

namespace troupe::array_one_hot {
namespace {

using array::Dims;

Status infer_shape(ShapeContext& c) {
  TROUPE_ASSIGN(const std::int64_t axis, c.attr<std::int64_t>("axis"));
  if (axis < -1)
    return invalid_argument(str_cat("axis must be >= -1, but is ", axis));
  for (int i = 1; i < 4; ++i)
    TROUPE_TRY(c.require_rank(i, 0));
  const auto depth = c.input_as_ints(1);
  if (depth && (*depth)[0] < 0)
    return invalid_argument(str_cat("depth must be non-negative, got: ", (*depth)[0]));
  const PartialShape& indices = c.input(0);
  if (!indices.has_rank())
    return {};
  if (axis > indices.rank())
    return invalid_argument(str_cat("Expected axis to be -1 or between [0, ", indices.rank() + 1,
                                    ").  But received: ", axis));
  Dims dims = indices.dims();
  dims.insert(axis < 0 ? dims.end() : dims.begin() + axis, depth ? (*depth)[0] : -1);
  return c.set_output(0, PartialShape(std::move(dims)));
}

/// One element of a plain dtype, by instructions for its size.
void copy_one(const void* from, std::byte* to, std::size_t size) {
  switch (size) {
  case 1:
    std::memcpy(to, from, 1);
    return;
  case 2:
    std::memcpy(to, from, 2);
    return;
  case 4:
    std::memcpy(to, from, 4);
    return;
  case 8:
    std::memcpy(to, from, 8);
    return;
  default:
    std::memcpy(to, from, size);
  }
}

template <class T>
void place_plain(KernelContext& c, const Tensor& on, std::int64_t depth, std::int64_t inner,
                 Tensor& out) {
  const T* index = c.input(0).data<T>().data();
  const std::size_t size = dtype_size(on.dtype());
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  const void* value = on.raw();
  c.serial_for(c.input(0).num_elements(), 3, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t first = begin / inner * depth * inner, column = begin % inner;
    for (std::int64_t k = begin; k < end; ++k) {
      const auto at = static_cast<std::int64_t>(index[k]);
      if (at >= 0 && at < depth)
        copy_one(value, to + static_cast<std::size_t>(first + at * inner + column) * size, size);
      if (++column == inner) {
        column = 0;
        first += depth * inner;
      }
    }
  });
}

/// Short rows one after the other: some of them are filled and get their value while they are in a
/// near cache.
template <class Index, class Element>
void place_in_rows(KernelContext& c, const Tensor& on, const Tensor& off, std::int64_t depth,
                   Tensor& out) {
  constexpr std::int64_t room = 16 << 10, size = sizeof(Element);
  const Index* index = c.input(0).data<Index>().data();
  const std::int64_t at_once = room / (depth * size);
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  Element value;
  std::memcpy(&value, on.raw(), size);
  const void* rest = off.raw();
  c.parallel_for(c.input(0).num_elements(), 2 + 0.05 * static_cast<double>(depth * size),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t k = begin; k < end; k += at_once) {
                     const std::int64_t stop = std::min(k + at_once, end);
                     arith::fill(size, rest, to, k * depth, stop * depth);
                     for (std::int64_t row = k; row < stop; ++row)
                       if (const auto at = static_cast<std::int64_t>(index[row]);
                           at >= 0 && at < depth)
                         std::memcpy(to + (row * depth + at) * size, &value, size);
                   }
                 });
}

/// The same for elements of `size` bytes.
template <class Index>
void place_in_rows_of(std::size_t size, KernelContext& c, const Tensor& on, const Tensor& off,
                      std::int64_t depth, Tensor& out) {
  switch (size) {
  case 1:
    return place_in_rows<Index, std::uint8_t>(c, on, off, depth, out);
  case 2:
    return place_in_rows<Index, std::uint16_t>(c, on, off, depth, out);
  case 4:
    return place_in_rows<Index, std::uint32_t>(c, on, off, depth, out);
  case 8:
    return place_in_rows<Index, std::uint64_t>(c, on, off, depth, out);
  default:
    return place_in_rows<Index, std::array<std::uint64_t, 2>>(c, on, off, depth, out);
  }
}

bool are_short_rows(const Tensor& out, std::int64_t depth, std::int64_t inner) {
  constexpr std::int64_t longest = 4 << 10;
  return inner == 1 && depth > 0 && !is_object(out.dtype()) &&
         depth * static_cast<std::int64_t>(dtype_size(out.dtype())) <= longest;
}

template <class T>
Status place(KernelContext& c, const Tensor& on, std::int64_t depth, std::int64_t inner,
             Tensor& out) {
  if (!is_object(on.dtype())) {
    place_plain<T>(c, on, depth, inner, out);
    return {};
  }
  const auto index = c.input(0).data<T>();
  const auto count = static_cast<std::int64_t>(index.size());
  c.serial_for(count, 10, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const auto at = static_cast<std::int64_t>(index[static_cast<std::size_t>(k)]);
      if (at >= 0 && at < depth)
        array::copy_elements(on, 0, out, (k / inner * depth + at) * inner + k % inner, 1);
    }
  });
  return {};
}

Status compute(KernelContext& c) {
  const Tensor& indices = c.input(0);
  static constexpr const char* names[] = {"indices", "depth", "on_value", "off_value"};
  for (int i = 1; i < 4; ++i)
    if (!c.input(i).shape().is_scalar())
      return invalid_argument(
          str_cat(names[i], " must be a scalar, but got: ", c.input(i).shape()));
  const std::int64_t depth = c.input(1).value<std::int32_t>();
  if (depth < 0)
    return invalid_argument(str_cat("depth must be non-negative, got: ", depth));
  const int rank = indices.shape().rank();
  const auto axis = c.attrs().get_or("axis", std::int64_t{-1});
  if (axis < -1 || axis > rank)
    return invalid_argument(
        str_cat("Expected axis to be -1 or between [0, ", rank + 1, ").  But received: ", axis));
  const auto at = static_cast<std::ptrdiff_t>(axis < 0 ? rank : axis);
  Dims dims(indices.shape().dims().begin(), indices.shape().dims().end());
  dims.insert(dims.begin() + at, depth);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.kind() == MemoryKind::device) {
    const std::int64_t n = out.num_elements();
    if (n == 0)
      return {};
    return gpu::launch(c, gpu::kernels::one_hot, gpu::bits_of(dtype_size(out.dtype())),
                       gpu::over(n), static_cast<int>(indices.dtype()), indices.raw(),
                       c.input(2).raw(), c.input(3).raw(), out.mutable_raw(), depth,
                       array::around_axis(shape, static_cast<int>(at)).inner, n);
  }
  using Indices = Types<std::int32_t, std::int64_t, std::uint8_t, std::int8_t>;
  const auto parts = array::around_axis(shape, static_cast<int>(at));
  if (are_short_rows(out, depth, parts.inner))
    return dispatch(Indices{}, indices.dtype(), [&]<class T>() -> Status {
      place_in_rows_of<T>(dtype_size(out.dtype()), c, c.input(2), c.input(3), depth, out);
      return {};
    });
  TROUPE_TRY(array::fill(c, c.input(3), out));
  TROUPE_TRY(out.charge(static_cast<std::size_t>(indices.num_elements()) *
                        array::text_bytes(c.input(2), 0, 1)));
  return dispatch(Indices{}, indices.dtype(), [&]<class T>() -> Status {
    return place<T>(c, c.input(2), depth, parts.inner, out);
  });
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  library.op("OneHot")
      .input("indices: TI; depth: int32; on_value: T; off_value: T")
      .output("output: T")
      .attr("axis: int = -1; T: type; TI: {uint8, int8, int32, int64} = DT_INT64")
      .roles(Role::flat)
      .shape_fn(infer_shape)
      .not_differentiable("the indices are whole numbers")
      .cpu_kernel(compute, options)
      .gpu_kernel(compute, array::on_gpu(options, "T", {"depth"}))
      .doc("on_value at the place that each index names along a new dimension, off_value "
           "elsewhere; an index outside names no place.");
}

} // namespace troupe::array_one_hot
