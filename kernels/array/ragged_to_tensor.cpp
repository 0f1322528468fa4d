// RaggedTensorToTensor: rows of different lengths side by side in one tensor; a default value
// stands where a row has ended, and what is beyond the wanted shape is left out.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"

namespace troupe::array_ragged_to_tensor {
namespace {

using array::Dims;

/// What a row partition tensor says of one dimension.
enum class Partition : std::uint8_t { first_dim_size, value_rowids, row_splits };

struct Partitions {
  std::vector<Partition> types;
  int ragged_rank() const {
    return static_cast<int>(types.size()) - (types[0] == Partition::first_dim_size ? 1 : 0);
  }
  /// The input that splits dimension `d` of the output.
  int input_of(int d) const { return 3 + d + (types[0] == Partition::first_dim_size ? 1 : 0); }
  Partition type_of(int d) const { return types[static_cast<std::size_t>(input_of(d) - 3)]; }
};

Result<Partitions> read_partitions(const AttrMap& attrs) {
  Partitions out;
  TROUPE_ASSIGN(const auto names, attrs.get<std::vector<std::string>>("row_partition_types"));
  TROUPE_ASSIGN(const auto count, attrs.get<std::int64_t>("num_row_partition_tensors"));
  for (const std::string& name : names) {
    if (name == "FIRST_DIM_SIZE")
      out.types.push_back(Partition::first_dim_size);
    else if (name == "VALUE_ROWIDS")
      out.types.push_back(Partition::value_rowids);
    else if (name == "ROW_SPLITS")
      out.types.push_back(Partition::row_splits);
    else
      return invalid_argument(str_cat("Unknown string for partition info type: ", name));
  }
  if (names.empty())
    return invalid_argument("Partition info types should not be empty");
  for (std::size_t i = 1; i < out.types.size(); ++i)
    if (out.types[i] == Partition::first_dim_size)
      return invalid_argument("FIRST_DIM_SIZE must be first");
  if (out.types[0] == Partition::first_dim_size &&
      (out.types.size() < 2 || out.types[1] != Partition::value_rowids))
    return invalid_argument("FIRST_DIM_SIZE must be followed by VALUE_ROWIDS");
  if (out.types[0] == Partition::value_rowids)
    return invalid_argument("VALUE_ROWIDS cannot be first");
  if (count != static_cast<std::int64_t>(names.size()))
    return invalid_argument(str_cat("Number of row partition tensors (", count,
                                    ") does not equal the number of row partition types(",
                                    names.size(), ")."));
  return out;
}

std::string text_of(const PartialShape& shape) {
  if (!shape.has_rank())
    return "<unknown>";
  std::vector<std::string> dims;
  for (std::int64_t dim : shape.dims())
    dims.push_back(dim < 0 ? "?" : std::to_string(dim));
  return str_cat("[", str_join(dims, ","), "]");
}

Status check_default(const PartialShape& fallback, const PartialShape& values) {
  if (!fallback.has_rank() || !values.has_rank())
    return {};
  const auto shapes = [&] {
    return str_cat("default_value.shape=", text_of(fallback),
                   " and rt_input.flat_values.shape=", text_of(values), " are incompatible: ");
  };
  if (fallback.rank() >= values.rank())
    return invalid_argument(
        str_cat(shapes(), "default_value.rank = ", fallback.rank(),
                "  must be less than rt_input.flat_values.rank = ", values.rank()));
  for (int i = 0; i < std::min(fallback.rank(), values.rank() - 1); ++i) {
    const std::int64_t a = fallback.dim(i), b = values.dim(i + 1);
    if (a >= 0 && b >= 0 && a != 1 && a != b)
      return invalid_argument(str_cat(shapes(), "default_value.shape[", i - fallback.rank(),
                                      "] = ", a, " but rt_input.flat_values.shape[",
                                      i - fallback.rank(), "] = ", b));
  }
  return {};
}

/// The output's shape by the wanted one and that of the values; -1: as long as the longest row.
Result<PartialShape> combine(int ragged_rank, const PartialShape& wanted,
                             const PartialShape& values) {
  if (!values.has_rank())
    return wanted;
  const int rank = ragged_rank + values.rank();
  Dims out(static_cast<std::size_t>(rank), -1);
  if (wanted.has_rank())
    out = wanted.dims();
  if (static_cast<int>(out.size()) != rank)
    return invalid_argument(str_cat("rt_input.shape and shape=", text_of(wanted),
                                    " are incompatible: rt_input.rank = ", rank,
                                    " but shape.rank = ", out.size()));
  for (int i = 1; i < values.rank(); ++i) {
    std::int64_t& dim = out[static_cast<std::size_t>(ragged_rank + i)];
    if (values.dim(i) < 0)
      continue;
    if (dim >= 0 && dim != values.dim(i))
      return invalid_argument(str_cat(
          "rt_input.shape and shape=", text_of(wanted), " are incompatible: rt_input.shape[",
          i + ragged_rank, "] = ", values.dim(i), " but shape[", i + ragged_rank, "] = ", dim));
    dim = values.dim(i);
  }
  return PartialShape(std::move(out));
}

std::int64_t longest(Partition type, const Integers& rows) {
  std::int64_t out = 0, here = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (type == Partition::row_splits) {
      std::int64_t length = 0;
      if (i > 0 && !__builtin_sub_overflow(rows[i], rows[i - 1], &length))
        out = std::max(out, length);
    } else {
      here = i > 0 && rows[i] == rows[i - 1] ? here + 1 : 1;
      out = std::max(out, here);
    }
  }
  return out;
}

/// How many places a partition fills.
std::int64_t filled_by(Partition type, const Integers& rows) {
  if (type == Partition::row_splits)
    return rows.empty() ? 0 : rows[rows.size() - 1];
  return static_cast<std::int64_t>(rows.size());
}

/// How many parents a partition names at most.
std::int64_t named_by(Partition type, const Integers& rows) {
  if (type == Partition::row_splits)
    return static_cast<std::int64_t>(rows.size()) - 1;
  std::int64_t out = 0;
  for (const std::int64_t row : rows)
    out = std::max(out, row < std::numeric_limits<std::int64_t>::max() ? row + 1 : row);
  return out;
}

/// What the rows of the next dimension are asked of.
struct Rows {
  Partition type;
  const Integers& rows;
  const Dims& parents; ///< where they begin in the output, -1: nowhere
  std::int64_t count;  ///< of parents; those beyond `parents` are nowhere
  std::int64_t most;   ///< how many are asked for: splits may claim any number
};

/// Calls run(first, n, parent) for rows of one parent that follow each other.
template <class Run>
Status for_each_run(const Rows& of, Run run) {
  const Integers& rows = of.rows;
  const auto parent_at = [&](std::int64_t i) {
    return i < static_cast<std::int64_t>(of.parents.size())
               ? of.parents[static_cast<std::size_t>(i)]
               : -1;
  };
  if (of.type == Partition::value_rowids) {
    for (std::size_t i = 0; i < rows.size();) {
      if (rows[i] < 0 || rows[i] >= of.count)
        return invalid_argument(
            str_cat(i == 0 ? "Got current_value_rowid=" : "Got next_value_rowid=", rows[i],
                    " which is not less than ", of.count));
      const std::size_t first = i;
      while (i < rows.size() && rows[i] == rows[first])
        ++i;
      run(static_cast<std::int64_t>(first), static_cast<std::int64_t>(i - first),
          parent_at(rows[first]));
    }
    return {};
  }
  if (static_cast<std::int64_t>(rows.size()) - 1 > of.count)
    return invalid_argument(str_cat(
        "Row partition size is greater than output size: ", rows.size() - 1, " > ", of.count));
  if (!rows.empty() && rows[0] != 0)
    return invalid_argument("Invalid row split size.");
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    if (rows[i + 1] < rows[i])
      return invalid_argument("Invalid row split size.");
    if (const std::int64_t n = std::min(rows[i + 1], of.most) - rows[i]; n > 0)
      run(rows[i], n, parent_at(static_cast<std::int64_t>(i)));
  }
  return {};
}

/// Where the rows of the next dimension begin in the output, in units of `step`; -1: nowhere.
Result<Dims> next_places(const Rows& of, std::int64_t step, std::int64_t size) {
  Dims out;
  TROUPE_TRY(for_each_run(of, [&](std::int64_t, std::int64_t n, std::int64_t parent) {
    for (std::int64_t column = 0; column < n; ++column)
      out.push_back(parent < 0 || column >= size ? -1 : parent + column * step);
  }));
  return out;
}

/// The default value as one row of the output.
Result<Tensor> default_row(KernelContext& c, const Shape& row) {
  const Tensor& given = c.input(2);
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(given.dtype(), row));
  const int ahead = row.rank() - given.shape().rank();
  for (std::int64_t i = 0; i < row.num_elements(); ++i) {
    std::int64_t left = i, from = 0, stride = 1;
    for (int d = row.rank(); d-- > 0; left /= row[d]) {
      if (d < ahead)
        continue;
      const std::int64_t dim = given.shape()[d - ahead];
      from += dim == 1 ? 0 : left % row[d] * stride;
      stride *= dim;
    }
    array::copy_elements(given, from, out, i, 1);
  }
  return out;
}

Result<std::int64_t> first_size(KernelContext& c, const Partitions& partitions) {
  const Tensor& first = c.input(3);
  if (first.num_elements() == 0)
    return invalid_argument("Invalid first partition input. Tensor requires at least one element.");
  for (int d = 0; d < partitions.ragged_rank(); ++d)
    if (const Tensor& rows = c.input(partitions.input_of(d)); rows.shape().rank() != 1)
      return invalid_argument("Row partition must be a vector.");
  if (partitions.types[0] == Partition::row_splits)
    return first.num_elements() - 1;
  if (!first.shape().is_scalar())
    return invalid_argument("FIRST_DIM_SIZE must be a scalar.");
  TROUPE_ASSIGN(const Integers size, integers(first));
  if (size[0] < 0)
    return invalid_argument(str_cat("FIRST_DIM_SIZE must be at least 0, not ", size[0]));
  return size[0];
}

Result<PartialShape> wanted_shape(const Tensor& given) {
  TROUPE_ASSIGN(const Integers dims, integers(given));
  if (given.shape().is_scalar()) {
    if (dims[0] != -1)
      return invalid_argument(str_cat(
          "The only valid scalar shape tensor is the fully unknown shape specified as -1."));
    return PartialShape();
  }
  if (given.shape().rank() != 1)
    return invalid_argument(str_cat("shape must have rank 0 or 1, not ", given.shape().rank()));
  for (std::int64_t dim : dims)
    if (dim < -1)
      return invalid_argument(str_cat("Dimension ", dim, " must be >= -1"));
  return PartialShape(Dims(dims.begin(), dims.end()));
}

/// The rows' values over the defaults; a row of values has `inner` elements, of which the last
/// dimension has room for `size`.
Status write(KernelContext& c, const Rows& of, std::int64_t size, std::int64_t inner, Tensor& out) {
  const Tensor& values = c.input(1);
  TROUPE_ASSIGN(const Tensor fallback, default_row(c, Shape(values.shape().dims().subspan(1))));
  if (is_object(values.dtype()))
    TROUPE_TRY(out.charge(
        array::text_bytes(fallback, 0, fallback.num_elements()) *
            static_cast<std::size_t>(out.num_elements() / std::max<std::int64_t>(inner, 1)) +
        array::text_bytes(values, 0, values.num_elements())));
  const std::int64_t rows = out.num_elements() / inner;
  if (inner == 1 && !is_object(values.dtype()))
    TROUPE_TRY(array::fill(c, fallback.reshaped(Shape{}), out));
  else
    c.parallel_for(
        rows, 1 + 0.1 * static_cast<double>(inner), [&](std::int64_t begin, std::int64_t end) {
          // One row, and then as many again as there are.
          array::copy_elements(fallback, 0, out, begin * inner, inner);
          for (std::int64_t done = 1; begin + done < end;) {
            const std::int64_t more = std::min(done, end - begin - done);
            array::copy_elements(out, begin * inner, out, (begin + done) * inner, more * inner);
            done += more;
          }
        });
  if (!is_object(values.dtype())) {
    const auto bytes = inner * static_cast<std::int64_t>(dtype_size(values.dtype()));
    const auto* from = static_cast<const std::byte*>(values.raw());
    auto* to = static_cast<std::byte*>(out.mutable_raw());
    return for_each_run(of, [&](std::int64_t first, std::int64_t n, std::int64_t parent) {
      if (parent >= 0)
        std::copy_n(from + first * bytes, std::min(n, size) * bytes, to + parent * bytes);
    });
  }
  return for_each_run(of, [&](std::int64_t first, std::int64_t n, std::int64_t parent) {
    if (parent >= 0)
      array::copy_elements(values, first * inner, out, parent * inner, std::min(n, size) * inner);
  });
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const Partitions partitions, read_partitions(c.attrs()));
  const Tensor& values = c.input(1);
  TROUPE_ASSIGN(const std::int64_t first, first_size(c, partitions));
  TROUPE_TRY(check_default(c.input(2).shape(), values.shape()));
  TROUPE_ASSIGN(const PartialShape wanted, wanted_shape(c.input(0)));
  const int ranks = partitions.ragged_rank();
  TROUPE_ASSIGN(const PartialShape combined, combine(ranks, wanted, values.shape()));
  std::vector<Integers> rows;
  Dims size;
  if (combined.has_rank())
    size = combined.dims();
  if (size[0] < 0)
    size[0] = first;
  for (int d = 0; d < ranks; ++d) {
    TROUPE_ASSIGN(Integers here, integers(c.input(partitions.input_of(d))));
    if (std::int64_t& dim = size[static_cast<std::size_t>(d) + 1]; dim < 0)
      dim = longest(partitions.type_of(d), here);
    rows.push_back(std::move(here));
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(size));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  if (out.num_elements() == 0)
    return {};
  std::int64_t step = 1;
  for (int d = 1; d <= ranks; ++d)
    step *= size[static_cast<std::size_t>(d)];
  Dims places(static_cast<std::size_t>(std::min(first, size[0])));
  std::int64_t count = first;
  for (std::int64_t i = 0; i < std::min(first, size[0]); ++i)
    places[static_cast<std::size_t>(i)] = i * step;
  for (int d = 0; d < ranks; ++d) {
    c.stop_if_cancelled();
    const std::int64_t dim = size[static_cast<std::size_t>(d) + 1];
    step /= dim;
    const auto& here = rows[static_cast<std::size_t>(d)];
    const std::int64_t filled = filled_by(partitions.type_of(d), here);
    const std::int64_t named =
        d + 1 < ranks ? named_by(partitions.type_of(d + 1), rows[static_cast<std::size_t>(d) + 1])
                      : values.shape()[0];
    if (d + 1 == ranks && filled > named)
      return invalid_argument(
          str_cat("the row partitions name ", filled, " values, but there are ", named));
    const Rows of{partitions.type_of(d), here, places, count, named};
    if (d + 1 == ranks) {
      std::int64_t inner = 1;
      for (int i = 1; i < values.shape().rank(); ++i)
        inner *= values.shape()[i];
      return write(c, of, dim, inner, out);
    }
    // As much as the places may take.
    TROUPE_TRY(
        c.allocate_temp(DType::int64, Shape{std::max<std::int64_t>(std::min(named, filled), 0)})
            .status());
    TROUPE_ASSIGN(places, next_places(of, step, dim));
    count = filled;
  }
  return {};
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const Partitions partitions, read_partitions(c.attrs()));
  PartialShape wanted;
  if (const Tensor& given = c.input_value(0); given.has_value()) {
    TROUPE_ASSIGN(wanted, wanted_shape(given));
  } else if (c.input(0).has_rank() && c.input(0).rank() == 1) {
    TROUPE_ASSIGN(wanted, c.input_as_shape(0));
  }
  for (std::size_t i = 0; i < partitions.types.size(); ++i) {
    const PartialShape& shape = c.input(3 + static_cast<int>(i));
    if (!shape.has_rank())
      continue;
    if (partitions.types[i] == Partition::first_dim_size && shape.rank() != 0)
      return invalid_argument("FIRST_DIM_SIZE must be a scalar.");
    if (partitions.types[i] != Partition::first_dim_size && shape.rank() != 1)
      return invalid_argument("Row partition must be a vector.");
  }
  TROUPE_TRY(check_default(c.input(2), c.input(1)));
  TROUPE_ASSIGN(PartialShape out, combine(partitions.ragged_rank(), wanted, c.input(1)));
  return c.set_output(0, std::move(out));
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  options.types = {
      {"T", {DType::float32, DType::float64, DType::int32,      DType::uint8,    DType::int16,
             DType::int8,    DType::string,  DType::complex64,  DType::int64,    DType::bool_,
             DType::qint8,   DType::quint8,  DType::qint32,     DType::bfloat16, DType::qint16,
             DType::quint16, DType::uint16,  DType::complex128, DType::float16,  DType::uint32,
             DType::uint64}}};
  library.op("RaggedTensorToTensor")
      .input("shape: Tshape; values: T; default_value: T; "
             "row_partition_tensors: num_row_partition_tensors * Tindex")
      .output("result: T")
      .attr("T: type; Tindex: {int64, int32}; Tshape: {int64, int32}")
      .attr("num_row_partition_tensors: int >= 1; row_partition_types: list(string)")
      .shape_fn(infer)
      .not_differentiable("its gradient is made where graphs are written")
      .cpu_kernel(compute, options)
      .doc("A ragged tensor as a dense one, filled up with a default value.");
}

} // namespace troupe::array_ragged_to_tensor
