// ParseExample, ParseExampleV2, ParseSingleExample: features of tensorflow.Example messages as
// tensors.
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/parsing/internal/example_parser.hpp"

namespace troupe::parsing_parse_example {
namespace {

using namespace parsing;

constexpr std::string_view values = "list({float, int64, string}) >= 0";

// Attributes.

Status check_sparse(const ExampleSpec& spec, std::int64_t count) {
  return require_same_length(static_cast<std::size_t>(count), spec.sparse.size(), "sparse_keys",
                             "sparse_types");
}

Result<ExampleSpec> spec_of(const AttrMap& attrs) {
  TROUPE_ASSIGN(ExampleSpec spec, make_example_spec(attrs));
  TROUPE_ASSIGN(const auto sparse, attrs.get<std::int64_t>("Nsparse"));
  TROUPE_ASSIGN(const auto dense, attrs.get<std::int64_t>("Ndense"));
  TROUPE_TRY(check_sparse(spec, sparse));
  TROUPE_TRY(require_same_length(static_cast<std::size_t>(dense), spec.dense.size(), "dense_keys",
                                 "dense_types"));
  return spec;
}

Result<ExampleSpec> spec_of_v2(const AttrMap& attrs) {
  TROUPE_ASSIGN(ExampleSpec spec, make_example_spec(attrs));
  TROUPE_ASSIGN(const auto sparse, attrs.get<std::int64_t>("num_sparse"));
  TROUPE_TRY(check_sparse(spec, sparse));
  return spec;
}

/// A single example's keys are attributes.
struct SingleSpec {
  ExampleSpec features;
  std::vector<std::string> sparse_keys, dense_keys;
};

Result<SingleSpec> spec_of_single(const AttrMap& attrs) {
  SingleSpec out;
  TROUPE_ASSIGN(const auto sparse, attrs.get<std::int64_t>("num_sparse"));
  TROUPE_ASSIGN(out.sparse_keys, attrs.get<std::vector<std::string>>("sparse_keys"));
  TROUPE_ASSIGN(out.dense_keys, attrs.get<std::vector<std::string>>("dense_keys"));
  TROUPE_ASSIGN(const auto types, attrs.get<std::vector<DType>>("sparse_types"));
  if (static_cast<std::size_t>(sparse) != out.sparse_keys.size() ||
      static_cast<std::size_t>(sparse) != types.size())
    return invalid_argument(
        str_cat("num_sparse (", sparse, ") must match the size of sparse_keys (",
                out.sparse_keys.size(), ") and sparse_types (", types.size(), ")"));
  TROUPE_ASSIGN(const auto dense, attrs.get<std::vector<DType>>("Tdense"));
  TROUPE_TRY(require_same_length(out.dense_keys.size(), dense.size(), "dense_keys", "dense_types"));
  TROUPE_ASSIGN(out.features, make_example_spec(attrs));
  return out;
}

template <auto spec>
Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(auto kept, spec(c.attrs()));
  return prepared(std::move(kept));
}

// Shapes.

Status infer_features(OutputShapes& outputs, const ExampleSpec& spec, const AttrMap& attrs,
                      const PartialShape& batch) {
  TROUPE_TRY(outputs.add_sparse(spec.sparse.size(), batch, 1));
  TROUPE_ASSIGN(const auto shapes, attrs.get<std::vector<PartialShape>>("dense_shapes"));
  return outputs.add_dense(shapes, batch);
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const ExampleSpec spec, spec_of(c.attrs()));
  TROUPE_TRY(c.require_rank(0, 1));
  TROUPE_TRY(c.require_rank(1, 1));
  const PartialShape batch = c.input(0).has_rank() ? c.input(0) : PartialShape{-1};
  OutputShapes outputs(c);
  return infer_features(outputs, spec, c.attrs(), batch);
}

Status infer_v2(ShapeContext& c) {
  TROUPE_ASSIGN(const ExampleSpec spec, spec_of_v2(c.attrs()));
  TROUPE_TRY(c.require_rank_at_most(0, 1));
  TROUPE_TRY(c.require_rank_at_most(1, 1));
  const PartialShape& batch = c.input(0);
  OutputShapes outputs(c);
  TROUPE_TRY(infer_features(outputs, spec, c.attrs(), batch));
  TROUPE_TRY(outputs.add(spec.ragged.size(), PartialShape{-1}));
  const bool is_known = batch.rank() == 1 && batch.dim(0) >= 0;
  return outputs.add(spec.ragged.size(), PartialShape{is_known ? batch.dim(0) + 1 : -1});
}

Status infer_single(ShapeContext& c) {
  TROUPE_ASSIGN(const SingleSpec spec, spec_of_single(c.attrs()));
  TROUPE_TRY(c.require_rank(0, 0));
  OutputShapes outputs(c);
  return infer_features(outputs, spec.features, c.attrs(), PartialShape(Shape{}));
}

// Kernels.

Status check_names(const Tensor& names, const Tensor& serialized) {
  if (names.num_elements() == 0 || names.shape() == serialized.shape())
    return {};
  return invalid_argument(str_cat("Expected names have the same shape as serialized: name.shape=",
                                  names.shape(), ", serialized.shape=", serialized.shape()));
}

Status check_count(std::size_t found, std::size_t expected, std::string_view keys,
                   std::string_view types) {
  if (found == expected)
    return {};
  return invalid_argument(
      str_cat("Expected len(", keys, ") == ", types, " but got: ", found, " vs. ", expected));
}

/// The scalars of inputs [begin, begin + count).
Result<std::vector<std::string_view>> scalar_keys(const KernelContext& c, int begin,
                                                  std::size_t count) {
  std::vector<std::string_view> out;
  for (int i = begin; i < begin + static_cast<int>(count); ++i) {
    if (c.input(i).num_elements() != 1)
      return invalid_argument(
          str_cat("Expected every key to be a scalar, got shape: ", c.input(i).shape()));
    out.emplace_back(c.input(i).data<std::string>()[0]);
  }
  return out;
}

Status parse(KernelContext& c) {
  const auto& spec = c.prepared<ExampleSpec>();
  const Tensor &serialized = c.input(0), &names = c.input(1);
  if (serialized.shape().rank() != 1)
    return invalid_argument(
        str_cat("Expected serialized to be a vector, got shape: ", serialized.shape()));
  TROUPE_TRY(check_names(names, serialized));
  ExampleInputs inputs{.serialized = serialized.data<std::string>(),
                       .names = names.data<std::string>()};
  const int dense = 2 + static_cast<int>(spec.sparse.size());
  TROUPE_ASSIGN(inputs.sparse_keys, scalar_keys(c, 2, spec.sparse.size()));
  TROUPE_ASSIGN(inputs.dense_keys, scalar_keys(c, dense, spec.dense.size()));
  const int first_default = dense + static_cast<int>(spec.dense.size());
  inputs.defaults = default_inputs(c, first_default, spec.dense.size());
  return parse_examples(c, spec, inputs);
}

std::vector<std::string_view> keys_in(const Tensor& keys) {
  const auto all = keys.data<std::string>();
  return {all.begin(), all.end()};
}

Status parse_v2(KernelContext& c) {
  const auto& spec = c.prepared<ExampleSpec>();
  const Tensor &serialized = c.input(0), &names = c.input(1);
  if (serialized.shape().rank() > 1)
    return invalid_argument(
        str_cat("Expected serialized to be a scalar or vector, got shape: ", serialized.shape()));
  TROUPE_TRY(check_names(names, serialized));
  ExampleInputs inputs{.serialized = serialized.data<std::string>(),
                       .names = names.data<std::string>(),
                       .sparse_keys = keys_in(c.input(2)),
                       .dense_keys = keys_in(c.input(3)),
                       .ragged_keys = keys_in(c.input(4)),
                       .defaults = default_inputs(c, 5, spec.dense.size()),
                       .is_batch = serialized.shape().rank() == 1};
  TROUPE_TRY(
      check_count(inputs.dense_keys.size(), spec.dense.size(), "dense_keys", "len(dense_types)"));
  TROUPE_TRY(
      check_count(inputs.sparse_keys.size(), spec.sparse.size(), "sparse_keys", "num_sparse"));
  TROUPE_TRY(check_count(inputs.ragged_keys.size(), spec.ragged.size(), "ragged_keys",
                         "len(ragged_value_types)"));
  return parse_examples(c, spec, inputs);
}

Status parse_single(KernelContext& c) {
  const auto& spec = c.prepared<SingleSpec>();
  const Tensor& serialized = c.input(0);
  if (!serialized.shape().is_scalar())
    return invalid_argument(
        str_cat("Expected serialized to be a scalar, got shape: ", serialized.shape()));
  return parse_examples(c, spec.features,
                        {.serialized = serialized.data<std::string>(),
                         .names = {},
                         .sparse_keys = {spec.sparse_keys.begin(), spec.sparse_keys.end()},
                         .dense_keys = {spec.dense_keys.begin(), spec.dense_keys.end()},
                         .ragged_keys = {},
                         .defaults = default_inputs(c, 1, spec.features.dense.size()),
                         .is_batch = false});
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto why = "its input is text";
  library.op("ParseExample")
      .input("serialized: string; names: string; sparse_keys: Nsparse * string; "
             "dense_keys: Ndense * string; dense_defaults: Tdense")
      .output("sparse_indices: Nsparse * int64; sparse_values: sparse_types; "
              "sparse_shapes: Nsparse * int64; dense_values: Tdense")
      .attr(str_cat("Nsparse: int >= 0; Ndense: int >= 0; sparse_types: ", values,
                    "; Tdense: ", values, "; dense_shapes: list(shape) >= 0"))
      .shape_fn(infer)
      .not_differentiable(why)
      .cpu_kernel(parse, {.prepare = prepare<spec_of>, .expensive = true})
      .doc("The wanted features of a vector of serialized tensorflow.Example messages: dense ones "
           "of known shapes or padded to the longest, sparse ones of any length.");
  library.op("ParseExampleV2")
      .input("serialized: string; names: string; sparse_keys: string; dense_keys: string; "
             "ragged_keys: string; dense_defaults: Tdense")
      .output("sparse_indices: num_sparse * int64; sparse_values: sparse_types; "
              "sparse_shapes: num_sparse * int64; dense_values: Tdense; "
              "ragged_values: ragged_value_types; ragged_row_splits: ragged_split_types")
      .attr(str_cat("Tdense: ", values, "; num_sparse: int >= 0; sparse_types: ", values,
                    "; ragged_value_types: ", values,
                    "; ragged_split_types: list({int32, int64}) >= 0; "
                    "dense_shapes: list(shape) >= 0"))
      .shape_fn(infer_v2)
      .not_differentiable(why)
      .cpu_kernel(parse_v2, {.prepare = prepare<spec_of_v2>, .expensive = true})
      .doc("As ParseExample, of a vector of messages or of one; ragged features too.");
  library.op("ParseSingleExample")
      .input("serialized: string; dense_defaults: Tdense")
      .output("sparse_indices: num_sparse * int64; sparse_values: sparse_types; "
              "sparse_shapes: num_sparse * int64; dense_values: Tdense")
      .attr(str_cat("num_sparse: int >= 0; sparse_keys: list(string) >= 0; "
                    "dense_keys: list(string) >= 0; sparse_types: ",
                    values, "; Tdense: ", values, "; dense_shapes: list(shape) >= 0"))
      .shape_fn(infer_single)
      .not_differentiable(why)
      .cpu_kernel(parse_single, {.prepare = prepare<spec_of_single>, .expensive = true})
      .doc("The wanted features of one serialized tensorflow.Example message.");
}

} // namespace troupe::parsing_parse_example
