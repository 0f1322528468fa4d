#include "kernels/sparse/internal/parts.hpp"

namespace troupe::sparse {
namespace {

Status check(const Part& part, std::size_t i, DType dtype) {
  const auto expected = [&](int column, const char* what, const Shape& shape) {
    return invalid_argument(str_cat("Expected serialized_sparse[", i, ", ", column,
                                    "] to represent ", what, " but received shape ", shape));
  };
  const Shape &indices = part.indices.shape(), &values = part.values.shape(),
              &shape = part.shape.shape();
  for (const Tensor* tensor : {&part.indices, &part.shape})
    if (tensor->dtype() != DType::int64)
      return invalid_argument(str_cat("Expected indices and shape of SparseTensor[", i,
                                      "] to be of DT_INT64 but received dtype ",
                                      to_string(tensor->dtype())));
  if (indices.rank() != 2)
    return expected(0, "an index matrix", indices);
  if (values.rank() != 1)
    return expected(1, "a values vector", values);
  if (shape.rank() != 1)
    return expected(2, "a shape vector", shape);
  if (part.values.dtype() != dtype)
    return invalid_argument(str_cat("Requested SparseTensor of type ", to_string(dtype),
                                    " but SparseTensor[", i,
                                    "].values.dtype() == ", to_string(part.values.dtype())));
  if (indices[0] != values[0])
    return invalid_argument(
        str_cat("Expected row counts of SparseTensor[", i, "].indices and SparseTensor[", i,
                "].values to match but they do not: ", indices[0], " vs. ", values[0]));
  if (indices[1] != shape[0])
    return invalid_argument(str_cat("Expected column counts of SparseTensor[", i,
                                    "].indices to match size of SparseTensor[", i,
                                    "].shape but they do not: ", indices[1], " vs. ", shape[0]));
  return {};
}

template <class T>
void copy(const Tensor& from, std::int64_t begin, std::int64_t count, Tensor& to, std::int64_t at) {
  std::copy_n(from.data<T>().begin() + begin, count, to.mutable_data<T>().begin() + at);
}

/// Values of any dtype; the text of copies is counted.
Status copy_values(const Tensor& from, std::int64_t begin, std::int64_t count, Tensor& to,
                   std::int64_t at) {
  if (count == 0)
    return {};
  if (!is_object(from.dtype())) {
    const std::size_t size = dtype_size(from.dtype());
    std::copy_n(static_cast<const std::byte*>(from.raw()) + static_cast<std::size_t>(begin) * size,
                static_cast<std::size_t>(count) * size,
                static_cast<std::byte*>(to.mutable_raw()) + static_cast<std::size_t>(at) * size);
    return {};
  }
  return dispatch(Types<std::string, ResourceHandle, Variant>{}, from.dtype(),
                  [&]<class T>() -> Status {
                    copy<T>(from, begin, count, to, at);
                    return {};
                  });
}

} // namespace

Result<Part> input_part(KernelContext& c) {
  if (c.input(0).shape().rank() != 2)
    return invalid_argument(
        str_cat("Input indices should be a matrix but received shape ", c.input(0).shape()));
  if (c.input(1).shape().rank() != 1)
    return invalid_argument(
        str_cat("Input values should be a vector but received shape ", c.input(1).shape()));
  if (c.input(2).shape().rank() != 1)
    return invalid_argument(
        str_cat("Input shape should be a vector but received shape ", c.input(2).shape()));
  return Part{c.input(0), c.input(1), c.input(2)};
}

Status cut(KernelContext& c, const Part& batch, FunctionView<Status(Part)> take) {
  if (batch.shape.num_elements() < 2)
    return invalid_argument(str_cat("Rank of input SparseTensor should be > 1, but saw rank: ",
                                    batch.shape.num_elements()));
  TROUPE_TRY(check_shape(batch.shape.data<std::int64_t>()));
  TROUPE_ASSIGN(const Sparse s, sparse_tensor(batch.indices, batch.values, batch.shape));
  TROUPE_TRY(check_indices(s));
  const Tensor shape = Tensor::vector<std::int64_t>(s.shape.subspan(1));
  std::int64_t begin = 0;
  for (std::int64_t row = 0; row < s.shape[0]; ++row) {
    if (row % 1024 == 0)
      c.stop_if_cancelled();
    std::int64_t end = begin;
    while (end < s.entries && s.index(end)[0] == row)
      ++end;
    Part part;
    TROUPE_ASSIGN(part.indices, c.allocate_temp(DType::int64, Shape{end - begin, s.rank - 1}));
    TROUPE_ASSIGN(part.values, c.allocate_temp(batch.values.dtype(), Shape{end - begin}));
    auto to = part.indices.mutable_data<std::int64_t>().begin();
    for (std::int64_t i = begin; i < end; ++i)
      to = std::ranges::copy(s.index(i).subspan(1), to).out;
    TROUPE_TRY(copy_values(batch.values, begin, end - begin, part.values, 0));
    TROUPE_TRY(part.values.settle(c.device().host_side_allocator()));
    part.shape = shape;
    TROUPE_TRY(take(std::move(part)));
    begin = end;
  }
  return {};
}

Status give_joined(KernelContext& c, const std::vector<Part>& parts, const Dims& outer,
                   const char* of_rank, int ahead) {
  std::int64_t entries = 0;
  Dims shape;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    TROUPE_TRY(check(parts[i], i, c.output_type(1)));
    const auto dims = parts[i].shape.data<std::int64_t>();
    if (i == 0)
      shape.assign(dims.begin(), dims.end());
    if (dims.size() != shape.size())
      return invalid_argument(
          str_cat("Inconsistent ", of_rank, " across SparseTensors: rank prior to SparseTensor[", i,
                  "] was: ", static_cast<int>(shape.size()) + ahead, " but rank of SparseTensor[",
                  i, "] is: ", static_cast<int>(dims.size()) + ahead));
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (dims[d] < 0)
        return invalid_argument(str_cat("Dimension ", dims[d], " must be >= 0"));
      shape[d] = std::max(shape[d], dims[d]);
    }
    entries += parts[i].values.num_elements();
  }
  const auto inner = static_cast<std::int64_t>(shape.size());
  const auto rank = static_cast<std::int64_t>(outer.size()) + inner;
  TROUPE_ASSIGN(Tensor indices, c.allocate_output(0, Shape{entries, rank}));
  TROUPE_ASSIGN(Tensor values, c.allocate_output(1, Shape{entries}));
  auto to = indices.mutable_data<std::int64_t>().begin();
  std::int64_t at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i % 1024 == 0)
      c.stop_if_cancelled();
    Dims prefix(outer.size());
    auto left = static_cast<std::int64_t>(i);
    for (std::size_t d = outer.size(); d-- > 0; left /= outer[d])
      prefix[d] = left % outer[d];
    const auto from = parts[i].indices.data<std::int64_t>();
    const std::int64_t count = parts[i].values.num_elements();
    for (std::int64_t k = 0; k < count; ++k) {
      to = std::ranges::copy(prefix, to).out;
      to = std::copy_n(from.begin() + k * inner, inner, to);
    }
    TROUPE_TRY(copy_values(parts[i].values, 0, count, values, at));
    at += count;
  }
  TROUPE_TRY(values.settle(c.device().host_side_allocator()));
  Dims whole = outer;
  whole.insert(whole.end(), shape.begin(), shape.end());
  return give(c, 2, whole);
}

} // namespace troupe::sparse
