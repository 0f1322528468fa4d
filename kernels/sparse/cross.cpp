// SparseCross, SparseCrossV2, SparseCrossHashed and RaggedCross: every combination of the features
// of some columns, row by row, as text or as hashes.
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/framework/tensor_text.hpp"
#include "kernels/sparse/internal/crossing.hpp"
#include "kernels/strings/internal/hashes.hpp"

namespace troupe::sparse_cross {
namespace {

using sparse::Column;
using sparse::Crosses;
using sparse::Dims;
using Picked = std::span<const std::int64_t>;

/// How a cross becomes a value.
struct Joined {
  std::string separator = "_X_";
  FunctionView<std::uint64_t(const std::vector<Column>&, Picked)> hash;
  std::int64_t buckets = 0;
};

std::string join(const std::vector<Column>& columns, Picked picked, std::string_view separator) {
  std::string out;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (k > 0)
      out += separator;
    out += sparse::feature_text(columns[k], picked[k]);
  }
  return out;
}

/// Fills the values' output and, if there is one, the indices'.
Status write(KernelContext& c, const std::vector<Column>& columns, const Crosses& crosses,
             const Joined& how, Tensor& values, std::int64_t* index) {
  const bool text = values.dtype() == DType::string;
  std::size_t bytes = 0;
  sparse::for_each_cross(
      c, columns, crosses,
      [&](std::int64_t cross, std::int64_t row, std::int64_t place, Picked picked) {
        const auto at = static_cast<std::size_t>(cross);
        if (index) {
          index[2 * cross] = row;
          index[2 * cross + 1] = place;
        }
        if (text) {
          std::string& to = values.mutable_data<std::string>()[at];
          to = join(columns, picked, how.separator);
          bytes += to.size();
        } else {
          values.mutable_data<std::int64_t>()[at] =
              sparse::bucket(how.hash(columns, picked), how.buckets);
        }
      });
  return text ? values.settle(c.device().host_side_allocator()) : Status{};
}

/// The columns of inputs indices, values, shapes and dense_inputs, and the number of rows.
struct Inputs {
  std::vector<Column> columns;
  std::int64_t rows = 0;
};

Result<Inputs> read(KernelContext& c) {
  TROUPE_ASSIGN(const auto ranges, arg_ranges(c.node().schema->inputs, c.attrs()));
  const int sparse_columns = ranges[0].end - ranges[0].begin,
            dense_columns = ranges[3].end - ranges[3].begin;
  if (ranges[1].end - ranges[1].begin != sparse_columns)
    return invalid_argument(str_cat("Expected ", sparse_columns, " input values, got ",
                                    ranges[1].end - ranges[1].begin));
  Inputs out;
  for (int k = 0; k < sparse_columns; ++k) {
    TROUPE_ASSIGN(Column column,
                  sparse::sparse_column(c.input(ranges[0].begin + k), c.input(ranges[1].begin + k),
                                        c.input(ranges[2].begin + k), static_cast<std::size_t>(k)));
    out.columns.push_back(std::move(column));
  }
  for (int k = 0; k < dense_columns; ++k) {
    TROUPE_ASSIGN(Column column,
                  sparse::dense_column(c.input(ranges[3].begin + k), static_cast<std::size_t>(k)));
    out.columns.push_back(std::move(column));
  }
  const auto check = [&](std::int64_t rows, bool first, const char* where, int k) -> Status {
    if (first)
      out.rows = rows;
    else if (rows != out.rows)
      return invalid_argument(
          str_cat("Expected batch size ", out.rows, " got ", rows, " at ", where, " ", k));
    return {};
  };
  for (int k = 0; k < sparse_columns; ++k)
    TROUPE_TRY(check(c.input(ranges[2].begin + k).data<std::int64_t>()[0], k == 0, "position", k));
  for (int k = 0; k < dense_columns; ++k)
    TROUPE_TRY(check(c.input(ranges[3].begin + k).shape()[0], k == 0 && sparse_columns == 0,
                     "dense tensor", k));
  return out;
}

Status give(KernelContext& c, const Inputs& in, const Joined& how) {
  TROUPE_ASSIGN(const Crosses crosses, sparse::count_crosses(in.columns));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{crosses.total, std::int64_t{2}}));
  TROUPE_ASSIGN(Tensor indices, c.allocate_output(0, shape));
  TROUPE_ASSIGN(Tensor values, c.allocate_output(1, Shape{crosses.total}));
  TROUPE_TRY(sparse::give(c, 2, {in.rows, crosses.largest}));
  return write(c, in.columns, crosses, how, values, indices.mutable_data<std::int64_t>().data());
}

/// As SparseCross and RaggedCross hash: features as they are, after the key.
auto keyed_hash(std::uint64_t key) {
  return [key](const std::vector<Column>& columns, Picked picked) {
    std::uint64_t out = key;
    for (std::size_t k = 0; k < columns.size(); ++k)
      out = sparse::join_hashes(out, sparse::feature_hash(columns[k], picked[k]));
    return out;
  };
}

Status compute(KernelContext& c) {
  TROUPE_ASSIGN(const DType internal, c.attr<DType>("internal_type"));
  for (const auto& [attr, what] :
       {std::pair{"sparse_types", "Input values"}, {"dense_types", "Dense inputs"}}) {
    TROUPE_ASSIGN(const std::vector<DType> dtypes, c.attr<std::vector<DType>>(attr));
    for (DType dtype : dtypes)
      if (internal == DType::string && dtype != DType::string)
        return invalid_argument(str_cat(what, " should be of internal type ",
                                        static_cast<int>(internal), " but received ",
                                        static_cast<int>(dtype)));
  }
  TROUPE_ASSIGN(const Inputs in, read(c));
  TROUPE_ASSIGN(const auto key, c.attr<std::int64_t>("hash_key"));
  TROUPE_ASSIGN(const auto buckets, c.attr<std::int64_t>("num_buckets"));
  const auto hash = keyed_hash(static_cast<std::uint64_t>(key));
  return give(c, in, {.hash = hash, .buckets = buckets});
}

/// The inputs behind the columns.
Result<const Tensor*> only_element(KernelContext& c, int from_end, std::string_view name) {
  const Tensor& out = c.input(c.num_inputs() - from_end);
  if (out.num_elements() != 1)
    return invalid_argument(
        str_cat("Input ", name, " should be a scalar. Received: ", debug_string(out)));
  return &out;
}

Status compute_v2(KernelContext& c) {
  TROUPE_ASSIGN(const Inputs in, read(c));
  const Tensor& separator = c.input(c.num_inputs() - 1);
  if (!separator.shape().is_scalar())
    return invalid_argument(
        str_cat("Input separator should be a scalar. Received: ", debug_string(separator)));
  const auto none = [](const std::vector<Column>&, Picked) { return std::uint64_t{0}; };
  return give(c, in, {.separator = separator.value<std::string>(), .hash = none});
}

/// A feature's hash in SparseCrossHashed. TensorFlow hashes the first four bytes of numbers there.
std::uint64_t hash_of(const Column& column, std::int64_t i, bool strong, const std::int64_t* salt) {
  const bool text = column.values->dtype() == DType::string;
  if (!strong && (text || column.dense))
    return sparse::feature_hash(column, i);
  const auto at = static_cast<std::size_t>(i);
  const std::string_view bytes =
      text ? std::string_view(column.values->data<std::string>()[at])
           : std::string_view(
                 reinterpret_cast<const char*>(&column.values->data<std::int64_t>()[at]), 4);
  return strong ? strings::sip_hash(static_cast<std::uint64_t>(salt[0]),
                                    static_cast<std::uint64_t>(salt[1]), bytes)
                : strings::farm_fingerprint(bytes);
}

Status compute_hashed(KernelContext& c) {
  TROUPE_ASSIGN(const Inputs in, read(c));
  TROUPE_ASSIGN(const Tensor* buckets, only_element(c, 3, "num_buckets"));
  TROUPE_ASSIGN(const Tensor* strong, only_element(c, 2, "strong_hash"));
  const Tensor& salt = c.input(c.num_inputs() - 1);
  if (salt.num_elements() != 2)
    return invalid_argument(
        str_cat("Input \"salt\" must have length 2 but has length ", salt.num_elements()));
  const bool is_strong = strong->value<bool>();
  const auto* key = salt.data<std::int64_t>().data();
  const auto hash = [&](const std::vector<Column>& columns, Picked picked) {
    std::uint64_t out = hash_of(columns[0], picked[0], is_strong, key);
    for (std::size_t k = 1; k < columns.size(); ++k)
      out = sparse::join_hashes(out, hash_of(columns[k], picked[k], is_strong, key));
    return out;
  };
  return give(c, in, {.hash = hash, .buckets = buckets->value<std::int64_t>()});
}

// ---- ragged

/// Ranks, which TensorFlow's RaggedCross tells of in other words than SparseCross.
Status check_ragged_rank(char kind, int k, const Tensor& indices, const Tensor& values,
                         const Tensor& shape) {
  if (kind == 'S' &&
      (indices.shape().rank() != 2 || values.shape().rank() != 1 || shape.shape().rank() != 1))
    return invalid_argument(str_cat("Invalid SparseTensor ", k));
  if (kind == 'S' ? shape.num_elements() != 2 : kind == 'D' && values.shape().rank() != 2)
    return invalid_argument("tf.ragged.cross only supports inputs with rank=2.");
  return {};
}

Result<Inputs> read_ragged(KernelContext& c) {
  TROUPE_ASSIGN(const auto ranges, arg_ranges(c.node().schema->inputs, c.attrs()));
  TROUPE_ASSIGN(const auto order, c.attr<std::string>("input_order"));
  const auto size = [&](std::size_t a) { return ranges[a].end - ranges[a].begin; };
  if (size(0) != size(1))
    return invalid_argument("ragged values and splits must have the same length");
  if (size(2) != size(3) || size(2) != size(4))
    return invalid_argument("sparse indices, values, and shape must have the same length");
  Inputs out;
  int next[3] = {0, 0, 0};
  for (const char kind : order) {
    const std::size_t which = kind == 'R' ? 0 : kind == 'S' ? 1 : 2;
    const int k = next[which]++;
    if ((kind != 'R' && kind != 'S' && kind != 'D') || k >= size(which == 0   ? 0
                                                                 : which == 1 ? 2
                                                                              : 5))
      return invalid_argument(str_cat("input_order '", order, "' does not name the inputs"));
    const auto input = [&](std::size_t a) -> const Tensor& { return c.input(ranges[a].begin + k); };
    TROUPE_TRY(kind == 'S'   ? check_ragged_rank(kind, k, input(2), input(3), input(4))
               : kind == 'D' ? check_ragged_rank(kind, k, input(5), input(5), input(5))
                             : Status());
    Result<Column> column =
        kind == 'R' ? sparse::ragged_column(input(0), input(1))
        : kind == 'S'
            ? sparse::sparse_column(input(2), input(3), input(4), static_cast<std::size_t>(k))
            : sparse::dense_column(input(5), static_cast<std::size_t>(k));
    TROUPE_TRY(column.status());
    const std::int64_t rows = kind == 'R'   ? input(1).num_elements() - 1
                              : kind == 'S' ? input(4).data<std::int64_t>()[0]
                                            : input(5).shape()[0];
    if (!out.columns.empty() && rows != out.rows)
      return invalid_argument("inputs must all have the same batch dimension size.");
    out.rows = rows;
    out.columns.push_back(*std::move(column));
  }
  if (static_cast<int>(order.size()) != size(0) + size(2) + size(5))
    return invalid_argument(str_cat("input_order '", order, "' does not name all inputs"));
  return out;
}

Status compute_ragged(KernelContext& c) {
  TROUPE_ASSIGN(const Inputs in, read_ragged(c));
  TROUPE_ASSIGN(const Crosses crosses, sparse::count_crosses(in.columns));
  if (c.output_type(1) == DType::int32 && crosses.total > INT32_MAX)
    return invalid_argument(str_cat(crosses.total, " crosses in all need splits of int64"));
  TROUPE_ASSIGN(Tensor values, c.allocate_output(0, Shape{crosses.total}));
  TROUPE_ASSIGN(const std::int64_t count, shape_rules::add_dims(in.rows, 1));
  if (count < 1)
    return invalid_argument(str_cat("a batch of ", in.rows, " rows is none"));
  TROUPE_ASSIGN(Tensor splits, c.allocate_output(1, Shape{count}));
  TROUPE_TRY(dispatch(Indices{}, splits.dtype(), [&]<class I>() -> Status {
    const auto to = splits.mutable_data<I>();
    std::ranges::fill(to, I(0));
    for (std::size_t k = 0; k < crosses.rows.size(); ++k)
      to[static_cast<std::size_t>(crosses.rows[k]) + 1] = static_cast<I>(crosses.row_counts[k]);
    for (std::size_t i = 1; i < to.size(); ++i)
      to[i] += to[i - 1];
    return {};
  }));
  TROUPE_ASSIGN(const auto key, c.attr<std::int64_t>("hash_key"));
  TROUPE_ASSIGN(const auto buckets, c.attr<std::int64_t>("num_buckets"));
  const auto hash = keyed_hash(static_cast<std::uint64_t>(key));
  return write(c, in.columns, crosses, {.hash = hash, .buckets = buckets}, values, nullptr);
}

Status infer(ShapeContext& c) {
  TROUPE_TRY(c.set_output(0, {-1, 2}));
  TROUPE_TRY(c.set_output(1, {-1}));
  return c.set_output(2, {2});
}

Status infer_ragged(ShapeContext& c) {
  TROUPE_TRY(c.set_output(0, {-1}));
  return c.set_output(1, {-1});
}

constexpr auto columns = "indices: N * int64; values: sparse_types; shapes: N * int64; "
                         "dense_inputs: dense_types";
constexpr auto kinds = "sparse_types: list({int64, string}) >= 0; "
                       "dense_types: list({int64, string}) >= 0";
constexpr auto chosen = "crosses are chosen, not computed";

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.expensive = true;
  library.op("SparseCross")
      .input(columns)
      .output("output_indices: int64; output_values: out_type; output_shape: int64")
      .attr("N: int >= 0; hashed_output: bool; num_buckets: int >= 0; hash_key: int")
      .attr(kinds)
      .attr("out_type: {int64, string}; internal_type: {int64, string}")
      .shape_fn(infer)
      .not_differentiable(chosen)
      .cpu_kernel(compute, options)
      .doc("Every combination of the columns' features in each row, joined by _X_ or hashed.");
  library.op("SparseCrossV2")
      .input(columns)
      .input("sep: string")
      .output("output_indices: int64; output_values: string; output_shape: int64")
      .attr("N: int >= 0")
      .attr(kinds)
      .shape_fn(infer)
      .not_differentiable(chosen)
      .cpu_kernel(compute_v2, options)
      .doc("The same, joined by the separator.");
  library.op("SparseCrossHashed")
      .input(columns)
      .input("num_buckets: int64; strong_hash: bool; salt: int64")
      .output("output_indices: int64; output_values: int64; output_shape: int64")
      .attr("N: int >= 0")
      .attr(kinds)
      .shape_fn(infer)
      .not_differentiable(chosen)
      .cpu_kernel(compute_hashed, options)
      .doc("The same, hashed with a salt.");
  library.op("RaggedCross")
      .input("ragged_values: ragged_values_types; ragged_row_splits: ragged_splits_types; "
             "sparse_indices: Nsparse * int64; sparse_values: sparse_values_types; "
             "sparse_shape: Nsparse * int64; dense_inputs: dense_types")
      .output("output_values: out_values_type; output_row_splits: out_row_splits_type")
      .attr("Nsparse: int >= 0; input_order: string; hashed_output: bool; num_buckets: int >= 0; "
            "hash_key: int")
      .attr("ragged_values_types: list({int64, string}) >= 0; "
            "ragged_splits_types: list({int32, int64}) >= 0; "
            "sparse_values_types: list({int64, string}) >= 0; "
            "dense_types: list({int64, string}) >= 0")
      .attr("out_values_type: {int64, string}; out_row_splits_type: {int32, int64}")
      .shape_fn(infer_ragged)
      .not_differentiable(chosen)
      .cpu_kernel(compute_ragged, options)
      .doc("The same for ragged, sparse and dense columns, as a ragged tensor.");
}

} // namespace troupe::sparse_cross
