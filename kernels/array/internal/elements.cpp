#include "kernels/array/internal/elements.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/gpu/shared.hpp"

namespace troupe::array {
namespace {

using Objects = Types<std::string, ResourceHandle, Variant>;

/// Where each dense element lies on the strided side.
std::vector<std::int64_t> positions(const arith::StridedPlan& plan, std::int64_t strided_size) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(strided_size)),
      where(static_cast<std::size_t>(plan.size));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<std::int64_t>(i);
  arith::copy_from_strided(8, plan, all.data(), where.data(), 0, plan.size);
  return where;
}

std::size_t text_of_copy(const std::string& text) {
  static const std::size_t inside = std::string().capacity();
  return text.size() > inside ? text.size() + 1 : 0;
}
std::size_t text_of_copy(const ResourceHandle& handle) {
  return text_of_copy(handle.device) + text_of_copy(handle.container) + text_of_copy(handle.name) +
         text_of_copy(handle.maybe_type_name);
}
std::size_t text_of_copy(const Variant& variant) {
  return text_of_copy(variant.type_name) + text_of_copy(variant.metadata);
}

std::span<const std::int64_t> dims_of(const arith::StridedPlan& plan) {
  return {plan.dims, static_cast<std::size_t>(plan.rank)};
}
gpu::Strided strided_side(const arith::StridedPlan& plan) {
  return {{plan.strides, plan.strides + plan.rank}, plan.offset};
}

/// Rows of `n` elements each, as copy_runs, on the calling thread.
void copy_rows(const Tensor& from, std::int64_t from_at, std::int64_t from_row, Tensor& to,
               std::int64_t to_at, std::int64_t to_row, std::int64_t rows, std::int64_t n) {
  if (is_object(from.dtype())) {
    for (std::int64_t r = 0; r < rows; ++r)
      copy_elements(from, from_at + r * from_row, to, to_at + r * to_row, n);
    return;
  }
  const auto size = static_cast<std::int64_t>(dtype_size(from.dtype()));
  if (n > 0)
    arith::copy_runs(static_cast<const std::byte*>(from.raw()) + from_at * size, from_row * size,
                     static_cast<std::byte*>(to.mutable_raw()) + to_at * size, to_row * size, rows,
                     n * size);
}

double cost(const Tensor& tensor) {
  return 0.2 + 0.05 * static_cast<double>(dtype_size(tensor.dtype()));
}

} // namespace

void copy_elements(const Tensor& from, std::int64_t from_at, Tensor& to, std::int64_t to_at,
                   std::int64_t n) {
  if (n == 0)
    return;
  if (!is_object(from.dtype())) {
    const auto size = static_cast<std::int64_t>(dtype_size(from.dtype()));
    std::memcpy(static_cast<std::byte*>(to.mutable_raw()) + to_at * size,
                static_cast<const std::byte*>(from.raw()) + from_at * size,
                static_cast<std::size_t>(n * size));
    return;
  }
  const Status copied = dispatch(Objects{}, from.dtype(), [&]<class T>() -> Status {
    std::copy_n(from.data<T>().begin() + from_at, n, to.mutable_data<T>().begin() + to_at);
    return {};
  });
  TROUPE_CHECK(copied.ok(), "object dtypes are string, resource and variant");
}

std::size_t text_bytes(const Tensor& from, std::int64_t from_at, std::int64_t n) {
  std::size_t bytes = 0;
  if (!is_object(from.dtype()))
    return bytes;
  const Status counted = dispatch(Objects{}, from.dtype(), [&]<class T>() -> Status {
    for (const T& x :
         from.data<T>().subspan(static_cast<std::size_t>(from_at), static_cast<std::size_t>(n)))
      bytes += text_of_copy(x);
    return {};
  });
  TROUPE_CHECK(counted.ok(), "object dtypes are string, resource and variant");
  return bytes;
}

Status charge_text(const Tensor& from, const Tensor& to) {
  return is_object(from.dtype()) ? to.charge(text_bytes(from, 0, from.num_elements())) : Status{};
}

Status copy_from_strided(KernelContext& c, const arith::StridedPlan& plan, const Tensor& strided,
                         Tensor& dense) {
  if (is_object(dense.dtype()))
    return dispatch(Objects{}, dense.dtype(), [&]<class T>() -> Status {
      const auto where = positions(plan, strided.num_elements());
      auto from = strided.data<T>();
      auto to = dense.mutable_data<T>();
      std::size_t bytes = 0;
      for (std::int64_t i : where)
        bytes += text_of_copy(from[static_cast<std::size_t>(i)]);
      TROUPE_TRY(dense.charge(bytes));
      for (std::size_t i = 0; i < where.size(); ++i)
        to[i] = from[static_cast<std::size_t>(where[i])];
      return {};
    });
  if (dense.kind() == MemoryKind::device)
    return gpu::copy_strided(c, dtype_size(dense.dtype()), dims_of(plan), strided_side(plan),
                             strided.raw(), gpu::dense(dims_of(plan)), dense.mutable_raw());
  const int size = static_cast<int>(dtype_size(dense.dtype()));
  const void* from = strided.raw();
  void* to = dense.mutable_raw();
  c.parallel_for(plan.size, cost(dense), [&](std::int64_t begin, std::int64_t end) {
    arith::copy_from_strided(size, plan, from, to, begin, end);
  });
  return {};
}

Status copy_to_strided(KernelContext& c, const arith::StridedPlan& plan, const Tensor& dense,
                       Tensor& strided) {
  if (is_object(dense.dtype()))
    return dispatch(Objects{}, dense.dtype(), [&]<class T>() -> Status {
      const auto where = positions(plan, strided.num_elements());
      TROUPE_TRY(charge_text(dense, strided));
      auto from = dense.data<T>();
      auto to = strided.mutable_data<T>();
      for (std::size_t i = 0; i < where.size(); ++i)
        to[static_cast<std::size_t>(where[i])] = from[i];
      return {};
    });
  if (strided.kind() == MemoryKind::device)
    return gpu::copy_strided(c, dtype_size(dense.dtype()), dims_of(plan), gpu::dense(dims_of(plan)),
                             dense.raw(), strided_side(plan), strided.mutable_raw());
  const int size = static_cast<int>(dtype_size(dense.dtype()));
  const void* from = dense.raw();
  void* to = strided.mutable_raw();
  c.parallel_for(plan.size, cost(dense), [&](std::int64_t begin, std::int64_t end) {
    arith::copy_to_strided(size, plan, from, to, begin, end);
  });
  return {};
}

Status copy_among(KernelContext& c, const arith::StridedPlan& plan, const Tensor& dense,
                  const void* value, Tensor& strided) {
  const int size = static_cast<int>(dtype_size(dense.dtype()));
  const void* from = dense.raw();
  void* to = strided.mutable_raw();
  const std::int64_t total = strided.num_elements();
  c.parallel_for(plan.size, cost(dense), [&](std::int64_t begin, std::int64_t end) {
    arith::copy_among(size, plan, from, to, total, value, begin, end);
  });
  return {};
}

Status fill(KernelContext& c, const Tensor& value, Tensor& out) {
  if (is_object(out.dtype()))
    return dispatch(Objects{}, out.dtype(), [&]<class T>() -> Status {
      TROUPE_TRY(out.charge(static_cast<std::size_t>(out.num_elements()) *
                            text_of_copy(value.value<T>())));
      std::ranges::fill(out.mutable_data<T>(), value.value<T>());
      return {};
    });
  if (out.kind() == MemoryKind::device)
    return gpu::fill_with(c, dtype_size(out.dtype()), value.raw(), out.mutable_raw(),
                          out.num_elements());
  const int size = static_cast<int>(dtype_size(out.dtype()));
  const void* from = value.raw();
  void* to = out.mutable_raw();
  c.parallel_for(out.num_elements(), 0.05 * size, [&](std::int64_t begin, std::int64_t end) {
    arith::fill(size, from, to, begin, end);
  });
  return {};
}

Status fill_with_zeros(KernelContext& c, Tensor& out) {
  if (is_object(out.dtype()))
    return {};
  if (out.kind() == MemoryKind::device)
    return gpu::fill(c, out.mutable_raw(), 0, out.byte_size());
  const std::size_t size = dtype_size(out.dtype());
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  c.parallel_for(out.num_elements(), 0.05 * static_cast<double>(size),
                 [&](std::int64_t begin, std::int64_t end) {
                   std::memset(to + static_cast<std::size_t>(begin) * size, 0,
                               static_cast<std::size_t>(end - begin) * size);
                 });
  return {};
}

KernelOptions on_gpu(const KernelOptions& options, const char* type,
                     std::vector<std::string> host_inputs) {
  KernelOptions out = options;
  std::vector<DType> types = gpu::movable();
  std::erase(types, DType::int32);
  out.types.push_back({type, std::move(types)});
  out.host_inputs = std::move(host_inputs);
  out.expensive = false;
  return out;
}

KernelOptions int32_on_host(const KernelOptions& options, const char* type) {
  KernelOptions out = options;
  out.types.push_back({type, {DType::int32}});
  return out;
}

Status copy_runs(KernelContext& c, const Tensor& from, std::int64_t from_at, std::int64_t from_row,
                 Tensor& to, std::int64_t to_at, std::int64_t to_row, std::int64_t rows,
                 std::int64_t n) {
  if (to.kind() == MemoryKind::device) {
    const std::int64_t dims[] = {rows, n};
    return gpu::copy_strided(c, dtype_size(to.dtype()), dims, {{from_row, 1}, from_at}, from.raw(),
                             {{to_row, 1}, to_at}, to.mutable_raw());
  }
  c.parallel_for(rows, 5 + 0.2 * static_cast<double>(n), [&](std::int64_t begin, std::int64_t end) {
    copy_rows(from, from_at + begin * from_row, from_row, to, to_at + begin * to_row, to_row,
              end - begin, n);
  });
  return {};
}

Status join_runs(KernelContext& c, const std::vector<Run>& runs, std::int64_t rows, Tensor& out) {
  std::int64_t row = 0;
  for (const Run& run : runs)
    row += run.n;
  if (out.kind() == MemoryKind::device) {
    std::int64_t at = 0;
    for (const Run& run : runs) {
      TROUPE_TRY(copy_runs(c, run.from, 0, run.n, out, at, row, rows, run.n));
      at += run.n;
    }
    return {};
  }
  // As many rows at once as stay in a near cache while each tensor adds its part.
  constexpr std::int64_t room = 1 << 12;
  const std::int64_t at_once = std::max<std::int64_t>(room / std::max<std::int64_t>(row, 1), 1);
  c.parallel_for(rows, 5.0 * static_cast<double>(runs.size()) + 0.2 * static_cast<double>(row),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; r += at_once) {
                     const std::int64_t count = std::min(at_once, end - r);
                     std::int64_t at = r * row;
                     for (const Run& run : runs) {
                       copy_rows(run.from, r * run.n, run.n, out, at, row, count, run.n);
                       at += run.n;
                     }
                   }
                 });
  return {};
}

AroundAxis around_axis(const Shape& shape, int axis) {
  AroundAxis out;
  for (int i = 0; i < shape.rank(); ++i)
    (i < axis ? out.outer : i == axis ? out.middle : out.inner) *= shape[i];
  return out;
}

Tensor shared_rows(const Tensor& tensor, std::int64_t begin, std::int64_t end) {
  constexpr std::size_t worth_sharing = 1024;
  if (is_object(tensor.dtype()) || tensor.num_elements() == 0)
    return {};
  Tensor rows = tensor.rows(begin, end);
  const bool aligned = reinterpret_cast<std::uintptr_t>(rows.raw()) % Allocator::alignment == 0;
  return aligned && rows.byte_size() >= worth_sharing ? rows : Tensor{};
}

Status too_many_dimensions(const Shape& shape) {
  return unimplemented(str_cat("a tensor of shape ", shape, " has too many dimensions: at most ",
                               arith::StridedPlan::max_rank,
                               " may be left after neighbours are merged"));
}

} // namespace troupe::array
