// Sparse matrices by compressed rows (CSR), one or a batch of them: the value of a scalar variant.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/tensor/variant.hpp"
#include "graph/op/shape_context.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"

namespace troupe::sparse {

using CsrTypes = Types<float, double, std::complex<float>, std::complex<double>>;

/// One matrix of a batch. Row r has the entries [row_pointers[r], row_pointers[r + 1]).
template <class T>
struct CsrRows {
  std::int64_t rows = 0, cols = 0;
  std::span<const std::int32_t> row_pointers; ///< rows + 1
  std::span<const std::int32_t> columns;
  std::span<const T> values;
};

/// Immutable. Columns of a row are in the order of whoever made it.
///
///   shape          int64 [2] or [3]: [batches,] rows, columns
///   batch_pointers int32 [batches + 1]: where each matrix begins in `columns` and `values`
///   row_pointers   int32 [batches * (rows + 1)]: where each row begins, counted from its matrix
///   columns        int32 [entries]
///   values         float, double or complex [entries]
class CsrMatrix final : public VariantValue {
public:
  static constexpr auto type_name = "tensorflow::CSRSparseMatrix";

  struct Tensors {
    Tensor shape, batch_pointers, row_pointers, columns, values;
  };
  /// Requires tensors that fit together; `read` checks them.
  explicit CsrMatrix(Tensors tensors);
  /// From its written form. INVALID_ARGUMENT if that is none.
  static Result<std::shared_ptr<const CsrMatrix>> read(const VariantParts& parts);
  /// TensorFlow's form.
  Result<VariantParts> parts() const override;

  const Tensors& tensors() const { return tensors_; }
  DType dtype() const { return tensors_.values.dtype(); }
  std::span<const std::int64_t> shape() const { return tensors_.shape.data<std::int64_t>(); }
  int rank() const { return static_cast<int>(shape().size()); }
  std::int64_t batches() const { return tensors_.batch_pointers.num_elements() - 1; }
  std::int64_t rows() const { return shape()[shape().size() - 2]; }
  std::int64_t cols() const { return shape()[shape().size() - 1]; }
  std::int64_t entries() const { return tensors_.columns.num_elements(); }
  std::int64_t entries(std::int64_t batch) const { return begin(batch + 1) - begin(batch); }
  std::int64_t begin(std::int64_t batch) const {
    return tensors_.batch_pointers.data<std::int32_t>()[static_cast<std::size_t>(batch)];
  }
  template <class T>
  CsrRows<T> at(std::int64_t batch) const {
    const auto first = static_cast<std::size_t>(begin(batch));
    const auto count = static_cast<std::size_t>(entries(batch));
    const auto pointers = static_cast<std::size_t>(rows()) + 1;
    return {.rows = rows(),
            .cols = cols(),
            .row_pointers = tensors_.row_pointers.data<std::int32_t>().subspan(
                static_cast<std::size_t>(batch) * pointers, pointers),
            .columns = tensors_.columns.data<std::int32_t>().subspan(first, count),
            .values = tensors_.values.data<T>().subspan(first, count)};
  }

private:
  Tensors tensors_;
};

using CsrPointer = std::shared_ptr<const CsrMatrix>;

/// The matrix in input i. INVALID_ARGUMENT for what is none.
Result<CsrPointer> csr_input(KernelContext& c, int i);
/// The same, of the dtype of the attribute. INVALID_ARGUMENT "dtype of a is not equal to 'type':
/// …".
Result<CsrPointer> typed_csr_input(KernelContext& c, int i, std::string_view attribute);
Status give_csr(KernelContext& c, int i, CsrMatrix::Tensors tensors);

/// The dimensions of a shape tensor: two or three, none negative; INVALID_ARGUMENT otherwise.
Result<std::vector<std::int64_t>> csr_dims(const Tensor& shape);
/// Memory for `entries` entries; all pointers are 0. RESOURCE_EXHAUSTED, as well for more entries
/// than an int32 counts.
Result<CsrMatrix::Tensors> allocate_csr(KernelContext& c, std::span<const std::int64_t> dims,
                                        DType dtype, std::int64_t entries);
Status too_many_entries();
/// Rows become columns. Columns of each row ascend if no two entries are one.
Result<CsrPointer> transposed_csr(KernelContext& c, const CsrMatrix& from, bool conjugate);

template <class T>
T conjugated(T x) {
  if constexpr (std::is_arithmetic_v<T>)
    return x;
  else
    return std::conj(x);
}

/// Makes a matrix row by row. Source has
///   auto scratch();                                            // one for each thread
///   std::int64_t count(Scratch&, std::int64_t batch, std::int64_t row);
///   void fill(Scratch&, std::int64_t batch, std::int64_t row, std::span<std::int32_t> columns,
///             std::span<T> values);                            // as many as were counted
/// and is asked by several threads, all rows' counts first. `row_ns`: what a row takes,
/// nanoseconds.
template <class T, class Source>
Result<CsrMatrix::Tensors> make_by_rows(KernelContext& c, const std::vector<std::int64_t>& dims,
                                        double row_ns, Source& source) {
  const std::int64_t rows = dims[dims.size() - 2], batches = dims.size() == 3 ? dims[0] : 1;
  TROUPE_ASSIGN(CsrMatrix::Tensors out, allocate_csr(c, dims, dtype_of<T>, 0));
  const auto pointers = out.row_pointers.mutable_data<std::int32_t>();
  const auto pointer = [&](std::int64_t batch, std::int64_t row) -> std::int32_t& {
    return pointers[static_cast<std::size_t>(batch * (rows + 1) + row)];
  };
  const auto each_row = [&](auto body) {
    c.parallel_for(batches * rows, row_ns, [&](std::int64_t begin, std::int64_t end) {
      auto scratch = source.scratch();
      for (std::int64_t i = begin; i < end; ++i)
        body(scratch, i / rows, i % rows);
    });
  };
  each_row([&](auto& scratch, std::int64_t batch, std::int64_t row) {
    const std::int64_t count = source.count(scratch, batch, row);
    pointer(batch, row + 1) = static_cast<std::int32_t>(count > INT32_MAX ? -1 : count);
  });
  const auto begins = out.batch_pointers.mutable_data<std::int32_t>();
  std::int64_t total = 0;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    std::int64_t here = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int32_t count = pointer(batch, row + 1);
      here += count;
      if (count < 0 || total + here > INT32_MAX)
        return too_many_entries();
      pointer(batch, row + 1) = static_cast<std::int32_t>(here);
    }
    total += here;
    begins[static_cast<std::size_t>(batch) + 1] = static_cast<std::int32_t>(total);
  }
  TROUPE_ASSIGN(out.columns, c.allocate_temp(DType::int32, Shape{total}));
  TROUPE_ASSIGN(out.values, c.allocate_temp(dtype_of<T>, Shape{total}));
  const auto columns = out.columns.mutable_data<std::int32_t>();
  const auto values = out.values.mutable_data<T>();
  each_row([&](auto& scratch, std::int64_t batch, std::int64_t row) {
    const auto first =
        static_cast<std::size_t>(begins[static_cast<std::size_t>(batch)] + pointer(batch, row));
    const auto count = static_cast<std::size_t>(pointer(batch, row + 1) - pointer(batch, row));
    source.fill(scratch, batch, row, columns.subspan(first, count), values.subspan(first, count));
  });
  return out;
}

/// What all outputs of this kind are: a scalar.
Status infer_csr(ShapeContext& c);
KernelOptions csr_options(std::string_view attribute);
inline constexpr auto csr_dtypes = "{float, double, complex64, complex128}";
inline constexpr auto csr_gradient = "its gradient is made where graphs are written";

} // namespace troupe::sparse
