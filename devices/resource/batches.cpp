#include "devices/resource/batches.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

using Objects = Types<std::string, ResourceHandle, Variant>;

/// [rows] + shape
Result<Shape> with_rows(std::int64_t rows, const Shape& shape) {
  std::vector<std::int64_t> dims{rows};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  return Shape::make(dims);
}

/// Where a smaller box's rows go in a larger one of the same rank: copies line by line.
void copy_box(const Tensor& from, Tensor& to, std::int64_t to_at, const Shape& box) {
  const int rank = box.rank();
  if (rank == 0 || from.shape() == box)
    return copy_elements(from, 0, to, to_at, from.num_elements());
  const std::int64_t line = from.shape()[rank - 1];
  if (from.num_elements() == 0)
    return;
  std::vector<std::int64_t> index(static_cast<std::size_t>(rank), 0);
  for (std::int64_t at = 0; at < from.num_elements(); at += line) {
    std::int64_t target = 0;
    for (int k = 0; k < rank; ++k)
      target = target * box[k] + index[static_cast<std::size_t>(k)];
    copy_elements(from, at, to, to_at + target, line);
    for (int k = rank - 2; k >= 0; --k) {
      if (++index[static_cast<std::size_t>(k)] < from.shape()[k])
        break;
      index[static_cast<std::size_t>(k)] = 0;
    }
  }
}

} // namespace

std::string names_of(const std::vector<DType>& types) {
  std::vector<std::string> names;
  for (DType type : types)
    names.push_back(to_string(type));
  return str_join(names, ", ");
}

void copy_elements(const Tensor& from, std::int64_t from_at, Tensor& to, std::int64_t to_at,
                   std::int64_t count) {
  if (count == 0)
    return;
  if (!is_object(from.dtype())) {
    const std::size_t size = dtype_size(from.dtype());
    std::memcpy(static_cast<std::byte*>(to.mutable_raw()) + static_cast<std::size_t>(to_at) * size,
                static_cast<const std::byte*>(from.raw()) +
                    static_cast<std::size_t>(from_at) * size,
                static_cast<std::size_t>(count) * size);
    return;
  }
  Status copied = dispatch(Objects{}, from.dtype(), [&]<class T>() -> Status {
    auto source =
        from.data<T>().subspan(static_cast<std::size_t>(from_at), static_cast<std::size_t>(count));
    std::ranges::copy(source, to.mutable_data<T>().begin() + to_at);
    return {};
  });
  TROUPE_CHECK(copied.ok(), "every dtype is plain or an object");
}

Result<Tensor> row_of(const Tensor& batch, std::int64_t i, Allocator& memory) {
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(memory, batch.dtype(), batch.shape().without(0)));
  copy_elements(batch, i * out.num_elements(), out, 0, out.num_elements());
  TROUPE_TRY(out.settle(memory));
  return out;
}

Result<Tensor> rows_of(const Tensor& batch, std::int64_t begin, std::int64_t count,
                       Allocator& memory) {
  const Rows rows{&batch, begin, count};
  return join_rows({&rows, 1}, memory);
}

Result<Tensor> join_rows(std::span<const Rows> parts, Allocator& memory) {
  const Tensor& first = *parts[0].batch;
  const Shape row = first.shape().without(0);
  std::int64_t rows = 0;
  for (const Rows& part : parts) {
    if (part.batch->dtype() != first.dtype() || part.batch->shape().without(0) != row)
      return invalid_argument(str_cat("rows of ", to_string(part.batch->dtype()), " with shape ",
                                      part.batch->shape().without(0),
                                      " make no batch with rows of ", to_string(first.dtype()),
                                      " with shape ", row));
    rows += part.count;
  }
  TROUPE_ASSIGN(const Shape whole, with_rows(rows, row));
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(memory, first.dtype(), whole));
  std::int64_t at = 0;
  const std::int64_t size = row.num_elements();
  for (const Rows& part : parts) {
    copy_elements(*part.batch, part.begin * size, out, at, part.count * size);
    at += part.count * size;
  }
  TROUPE_TRY(out.settle(memory));
  return out;
}

Result<Tensor> stack_rows(std::span<const Tensor> rows, DType dtype, const Shape& shape,
                          Allocator& memory) {
  TROUPE_ASSIGN(const Shape whole, with_rows(static_cast<std::int64_t>(rows.size()), shape));
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(memory, dtype, whole));
  const bool padded =
      std::ranges::any_of(rows, [&](const Tensor& row) { return row.shape() != shape; });
  if (padded && !is_object(dtype) && out.num_elements() > 0)
    std::memset(out.mutable_raw(), 0, out.byte_size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    copy_box(rows[i], out, static_cast<std::int64_t>(i) * shape.num_elements(), shape);
  TROUPE_TRY(out.settle(memory));
  return out;
}

} // namespace troupe
