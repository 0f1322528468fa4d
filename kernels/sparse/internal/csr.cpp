#include "kernels/sparse/internal/csr.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "graph/op/attr_value.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::sparse {

namespace {

// TensorFlow's: whether it was checked, in four bytes, and the dtype's number in the next four.
constexpr std::size_t metadata_bytes = 8;

Status broken(const std::string& why) {
  return invalid_argument(
      str_cat("the bytes of a variant of type '", CsrMatrix::type_name, "' make no matrix: ", why));
}

/// That pointers ascend from 0 to `end`.
bool are_pointers(std::span<const std::int32_t> pointers, std::int64_t end) {
  return !pointers.empty() && pointers.front() == 0 && pointers.back() == end &&
         std::ranges::is_sorted(pointers);
}

bool has_values_of(DType dtype) {
  return dispatch(CsrTypes{}, dtype, []<class T>() -> Status { return {}; }).ok();
}

Status check(const CsrMatrix::Tensors& t) {
  TROUPE_ASSIGN(const auto dims, csr_dims(t.shape));
  const std::int64_t batches = dims.size() == 3 ? dims[0] : 1;
  const std::int64_t rows = dims[dims.size() - 2], cols = dims.back();
  for (const Tensor* one : {&t.batch_pointers, &t.row_pointers, &t.columns})
    if (one->dtype() != DType::int32 || one->shape().rank() != 1)
      return broken("pointers and columns are vectors of int32");
  if (!has_values_of(t.values.dtype()) || t.values.shape() != t.columns.shape())
    return broken("values are as many floats or complex numbers as there are columns");
  TROUPE_ASSIGN(const std::int64_t pointers_of_one, shape_rules::add_dims(rows, 1));
  TROUPE_ASSIGN(const std::int64_t pointers, shape_rules::multiply_dims(batches, pointers_of_one));
  if (t.batch_pointers.num_elements() != batches + 1 || t.row_pointers.num_elements() != pointers)
    return broken("there are not as many pointers as matrices and rows");
  const auto begins = t.batch_pointers.data<std::int32_t>();
  if (!are_pointers(begins, t.columns.num_elements()))
    return broken("the batch pointers do not ascend from 0 to the number of entries");
  for (std::int64_t b = 0; b < batches; ++b) {
    const auto at = static_cast<std::size_t>(b);
    if (!are_pointers(t.row_pointers.data<std::int32_t>().subspan(
                          at * static_cast<std::size_t>(pointers_of_one),
                          static_cast<std::size_t>(pointers_of_one)),
                      begins[at + 1] - begins[at]))
      return broken("the row pointers do not ascend from 0 to the number of the matrix's entries");
  }
  for (std::int32_t column : t.columns.data<std::int32_t>())
    if (column < 0 || column >= cols)
      return broken(str_cat("column ", column, " is none of ", cols));
  return {};
}

} // namespace

CsrMatrix::CsrMatrix(Tensors tensors) : tensors_(std::move(tensors)) {}

Result<CsrPointer> CsrMatrix::read(const VariantParts& parts) {
  if (parts.tensors.size() != 5)
    return broken(str_cat("they hold ", parts.tensors.size(), " tensors and not 5"));
  Tensors tensors{parts.tensors[0], parts.tensors[1], parts.tensors[2], parts.tensors[3],
                  parts.tensors[4]};
  TROUPE_TRY(check(tensors));
  return std::make_shared<const CsrMatrix>(std::move(tensors));
}

Result<VariantParts> CsrMatrix::parts() const {
  VariantParts out;
  out.metadata.assign(metadata_bytes, '\0');
  out.metadata[0] = 1;
  out.metadata[metadata_bytes / 2] =
      static_cast<char>(dtype()); // numbers below 128, low byte first
  out.tensors = {tensors_.shape, tensors_.batch_pointers, tensors_.row_pointers, tensors_.columns,
                 tensors_.values};
  return out;
}

Result<CsrPointer> csr_input(KernelContext& c, int i) {
  const Tensor& input = c.input(i);
  if (!input.shape().is_scalar())
    return invalid_argument(
        str_cat("A sparse matrix is a scalar variant; input ", i, " has shape ", input.shape()));
  const Variant& variant = input.data<Variant>()[0];
  if (auto matrix = std::dynamic_pointer_cast<const CsrMatrix>(variant.value))
    return matrix;
  if (variant.type_name != CsrMatrix::type_name)
    return invalid_argument(str_cat("Could not retrieve Variant input ", i, ": it holds ",
                                    variant.type_name.empty() ? "nothing" : variant.type_name,
                                    ", not a sparse matrix"));
  TROUPE_ASSIGN(const VariantParts parts, parts_of(variant));
  return CsrMatrix::read(parts);
}

Result<CsrPointer> typed_csr_input(KernelContext& c, int i, std::string_view attribute) {
  TROUPE_ASSIGN(CsrPointer out, csr_input(c, i));
  TROUPE_ASSIGN(const DType wanted, c.attr<DType>(attribute));
  if (out->dtype() != wanted)
    return invalid_argument(
        str_cat("dtype of ", c.node().schema->inputs[static_cast<std::size_t>(i)].name,
                " is not equal to 'type': ", to_string(out->dtype()), " vs. ", to_string(wanted)));
  return out;
}

Status give_csr(KernelContext& c, int i, CsrMatrix::Tensors tensors) {
  return c.set_output(
      i, Tensor::scalar(Variant{.type_name = CsrMatrix::type_name,
                                .metadata = {},
                                .value = std::make_shared<const CsrMatrix>(std::move(tensors))}));
}

Result<std::vector<std::int64_t>> csr_dims(const Tensor& shape) {
  if (shape.dtype() != DType::int64 || shape.shape().rank() != 1 ||
      (shape.num_elements() != 2 && shape.num_elements() != 3))
    return invalid_argument(
        str_cat("SparseTensor must have rank 2 or 3; but the shape is ", shape.to_string()));
  const auto dims = shape.data<std::int64_t>();
  for (std::int64_t dim : dims)
    if (dim < 0)
      return invalid_argument(str_cat("Dimension ", dim, " must be >= 0"));
  return std::vector<std::int64_t>(dims.begin(), dims.end());
}

Status too_many_entries() {
  return resource_exhausted("a sparse matrix has at most 2147483647 entries");
}

Result<CsrMatrix::Tensors> allocate_csr(KernelContext& c, std::span<const std::int64_t> dims,
                                        DType dtype, std::int64_t entries) {
  if (entries > INT32_MAX)
    return too_many_entries();
  const std::int64_t batches = dims.size() == 3 ? dims[0] : 1;
  CsrMatrix::Tensors out;
  out.shape = Tensor::vector<std::int64_t>(dims);
  TROUPE_ASSIGN(const std::int64_t begins, shape_rules::add_dims(batches, 1));
  TROUPE_ASSIGN(const std::int64_t row_pointers, shape_rules::add_dims(dims[dims.size() - 2], 1));
  TROUPE_ASSIGN(const std::int64_t pointers, shape_rules::multiply_dims(batches, row_pointers));
  for (const auto& [tensor, size] :
       {std::pair{&out.batch_pointers, begins}, {&out.row_pointers, pointers}}) {
    TROUPE_ASSIGN(*tensor, c.allocate_temp(DType::int32, Shape{size}));
    std::ranges::fill(tensor->mutable_data<std::int32_t>(), 0);
  }
  TROUPE_ASSIGN(out.columns, c.allocate_temp(DType::int32, Shape{entries}));
  TROUPE_ASSIGN(out.values, c.allocate_temp(dtype, Shape{entries}));
  return out;
}

Result<CsrPointer> transposed_csr(KernelContext& c, const CsrMatrix& from, bool conjugate) {
  std::vector<std::int64_t> dims(from.shape().begin(), from.shape().end());
  std::swap(dims[dims.size() - 2], dims[dims.size() - 1]);
  if (from.rows() > INT32_MAX)
    return invalid_argument(
        str_cat("a sparse matrix has at most 2147483647 columns; the transpose of one with ",
                from.rows(), " rows has more"));
  TROUPE_ASSIGN(CsrMatrix::Tensors out, allocate_csr(c, dims, from.dtype(), from.entries()));
  out.batch_pointers = from.tensors().batch_pointers;
  const auto pointers_of_one = static_cast<std::size_t>(from.cols()) + 1;
  const double cost = 4.0 * static_cast<double>(from.entries() + from.rows()) /
                      static_cast<double>(std::max<std::int64_t>(from.batches(), 1));
  TROUPE_TRY(dispatch(CsrTypes{}, from.dtype(), [&]<class T>() -> Status {
    const auto all_pointers = out.row_pointers.mutable_data<std::int32_t>();
    const auto all_columns = out.columns.mutable_data<std::int32_t>();
    const auto all_values = out.values.mutable_data<T>();
    c.parallel_for(from.batches(), cost, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t batch = begin; batch < end; ++batch) {
        const CsrRows<T> m = from.at<T>(batch);
        const auto first = static_cast<std::size_t>(from.begin(batch));
        const auto to = all_pointers.subspan(static_cast<std::size_t>(batch) * pointers_of_one,
                                             pointers_of_one);
        for (std::int32_t column : m.columns)
          ++to[static_cast<std::size_t>(column) + 1];
        for (std::size_t i = 1; i < to.size(); ++i)
          to[i] += to[i - 1];
        std::vector<std::int32_t> next(to.begin(), to.end());
        for (std::size_t row = 0; row + 1 < m.row_pointers.size(); ++row)
          for (auto i = static_cast<std::size_t>(m.row_pointers[row]);
               i < static_cast<std::size_t>(m.row_pointers[row + 1]); ++i) {
            const auto at =
                first + static_cast<std::size_t>(next[static_cast<std::size_t>(m.columns[i])]++);
            all_columns[at] = static_cast<std::int32_t>(row);
            all_values[at] = conjugate ? conjugated(m.values[i]) : m.values[i];
          }
      }
    });
    return {};
  }));
  return std::make_shared<const CsrMatrix>(std::move(out));
}

Status infer_csr(ShapeContext& c) {
  return c.set_output(0, PartialShape(std::vector<std::int64_t>{}));
}

KernelOptions csr_options(std::string_view attribute) {
  KernelOptions options;
  options.types = {{std::string(attribute),
                    {DType::float32, DType::float64, DType::complex64, DType::complex128}}};
  return options;
}

} // namespace troupe::sparse
