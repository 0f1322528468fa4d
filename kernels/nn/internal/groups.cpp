#include "kernels/nn/internal/groups.hpp"

#include <cstring>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/gpu/shared.hpp"

namespace troupe::nn {

namespace {

constexpr double ns_a_byte = 0.1;

std::int64_t depth_of(const Shape& shape) {
  return shape[shape.rank() - 1];
}

// Calls copy(row of the whole, row of the part, bytes) for each row of channels.
template <class Copy>
void for_each_row(KernelContext& c, const Tensor& whole, std::int64_t group, std::int64_t groups,
                  Copy copy) {
  const std::int64_t depth = depth_of(whole.shape());
  const auto size = static_cast<std::int64_t>(dtype_size(whole.dtype()));
  const std::int64_t row = depth * size, part = row / groups;
  if (whole.num_elements() == 0)
    return;
  c.parallel_for(whole.num_elements() / depth, 5 + ns_a_byte * static_cast<double>(part),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     copy(i * row + group * part, i * part, static_cast<std::size_t>(part));
                 });
}

} // namespace

Result<std::int64_t> groups_of(const arith::Conv2DShape& s, std::int64_t filter_depth) {
  const std::int64_t groups = s.in_c / filter_depth;
  if (groups > 0 && s.out_c % groups != 0)
    return invalid_argument(str_cat(
        "output depth must be evenly divisible by number of groups: ", s.out_c, " vs ", groups));
  return groups;
}

arith::Conv2DShape one_group(const arith::Conv2DShape& s, std::int64_t groups) {
  arith::Conv2DShape out = s;
  out.in_c /= groups;
  out.out_c /= groups;
  return out;
}

Result<Tensor> make_group(KernelContext& c, DType dtype, const Shape& shape, std::int64_t groups) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.back() /= groups;
  TROUPE_ASSIGN(const Shape part, Shape::make(dims));
  return c.allocate_temp(dtype, part);
}

Result<Tensor> take_group(KernelContext& c, const Tensor& from, std::int64_t group,
                          std::int64_t groups) {
  TROUPE_ASSIGN(Tensor out, make_group(c, from.dtype(), from.shape(), groups));
  if (from.kind() == MemoryKind::device) {
    gpu::Strided whole = gpu::dense(from.shape().dims());
    whole.offset = group * out.shape()[out.shape().rank() - 1];
    TROUPE_TRY(gpu::copy_strided(c, dtype_size(from.dtype()), out.shape().dims(), whole, from.raw(),
                                 gpu::dense(out.shape().dims()), out.mutable_raw()));
    return out;
  }
  const auto* source = static_cast<const std::byte*>(from.raw());
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  for_each_row(c, from, group, groups,
               [&](std::int64_t whole, std::int64_t part, std::size_t bytes) {
                 std::memcpy(to + part, source + whole, bytes);
               });
  return out;
}

Status put_group(KernelContext& c, const Tensor& part, Tensor& to, std::int64_t group,
                 std::int64_t groups) {
  if (to.kind() == MemoryKind::device) {
    gpu::Strided whole = gpu::dense(to.shape().dims());
    whole.offset = group * depth_of(part.shape());
    return gpu::copy_strided(c, dtype_size(to.dtype()), part.shape().dims(),
                             gpu::dense(part.shape().dims()), part.raw(), whole, to.mutable_raw());
  }
  const auto* source = static_cast<const std::byte*>(part.raw());
  auto* target = static_cast<std::byte*>(to.mutable_raw());
  for_each_row(c, to, group, groups, [&](std::int64_t whole, std::int64_t at, std::size_t bytes) {
    std::memcpy(target + whole, source + at, bytes);
  });
  return {};
}

} // namespace troupe::nn
