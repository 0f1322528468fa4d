// ParseSequenceExample, ParseSequenceExampleV2: features and lists of features of
// tensorflow.SequenceExample messages.
#include <algorithm>

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/parsing/internal/sequence_parser.hpp"

namespace troupe::parsing_parse_sequence_example {
namespace {

using namespace parsing;

using Texts = std::vector<std::string>;

/// Of both versions: attributes, whose keys are inputs in the second.
struct BatchSpec {
  SequenceSpec features;
  Texts context_sparse, context_dense, list_sparse, list_dense;
  std::vector<bool> may_be_missing;
};

/// `number` is what the attribute says, `sizes` what its lists have.
Status require_number(const AttrMap& attrs, std::string_view attr, std::string_view what,
                      std::string_view lists, std::initializer_list<std::size_t> sizes) {
  TROUPE_ASSIGN(const auto number, attrs.get<std::int64_t>(attr));
  for (const std::size_t size : sizes)
    if (static_cast<std::size_t>(number) != size)
      return invalid_argument(
          str_cat(what, " (", number, ") must match the size of ", lists, " (", size, ")"));
  return {};
}

Status require_equal(std::string_view what, std::size_t number, std::string_view lists,
                     std::initializer_list<std::size_t> sizes) {
  for (const std::size_t size : sizes)
    if (number != size)
      return invalid_argument(
          str_cat(what, " (", number, ") must match the size of ", lists, " (", size, ")"));
  return {};
}

constexpr SequenceAttrs context_attrs{.sparse_types = "context_sparse_types",
                                      .dense_types = "Tcontext_dense",
                                      .dense_shapes = "context_dense_shapes"};
constexpr SequenceAttrs list_attrs{.sparse_types = "feature_list_sparse_types",
                                   .dense_types = "feature_list_dense_types",
                                   .dense_shapes = "feature_list_dense_shapes"};

/// What both versions check of their attributes.
Status check_groups(const AttrMap& attrs, const SequenceSpec& spec) {
  TROUPE_TRY(require_number(attrs, "Ncontext_sparse", "num_context_sparse", "context_sparse_types",
                            {spec.context.sparse.size()}));
  TROUPE_TRY(require_equal("num_context_dense", spec.context.dense.size(), "context_dense_shapes",
                           {spec.context.shapes.size()}));
  TROUPE_TRY(require_number(attrs, "Nfeature_list_sparse", "num_feature_list_sparse",
                            "feature_list_sparse_types", {spec.lists.sparse.size()}));
  return require_number(attrs, "Nfeature_list_dense", "num_feature_list_dense",
                        "feature_list_dense_types and feature_list_dense_shapes",
                        {spec.lists.dense.size(), spec.lists.shapes.size()});
}

Result<BatchSpec> spec_of(const AttrMap& attrs) {
  BatchSpec out;
  TROUPE_ASSIGN(out.context_sparse, attrs.get<Texts>("context_sparse_keys"));
  TROUPE_ASSIGN(out.context_dense, attrs.get<Texts>("context_dense_keys"));
  TROUPE_ASSIGN(out.list_sparse, attrs.get<Texts>("feature_list_sparse_keys"));
  TROUPE_ASSIGN(out.list_dense, attrs.get<Texts>("feature_list_dense_keys"));
  TROUPE_TRY(require_number(attrs, "Ncontext_sparse", "num_context_sparse", "context_sparse_keys",
                            {out.context_sparse.size()}));
  TROUPE_TRY(require_number(attrs, "Ncontext_dense", "num_context_dense", "context_dense_keys",
                            {out.context_dense.size()}));
  TROUPE_TRY(require_number(attrs, "Nfeature_list_sparse", "num_feature_list_sparse",
                            "feature_list_sparse_keys", {out.list_sparse.size()}));
  TROUPE_TRY(require_number(attrs, "Nfeature_list_dense", "num_feature_list_dense",
                            "feature_list_dense_keys", {out.list_dense.size()}));
  TROUPE_ASSIGN(out.features.context, make_sequence_group(attrs, context_attrs));
  TROUPE_ASSIGN(out.features.lists, make_sequence_group(attrs, list_attrs));
  TROUPE_TRY(require_equal("num_context_dense", out.context_dense.size(), "context_dense_types",
                           {out.features.context.dense.size()}));
  TROUPE_TRY(check_groups(attrs, out.features));
  TROUPE_ASSIGN(const auto missing, attrs.get<Texts>("feature_list_dense_missing_assumed_empty"));
  for (const std::string& key : out.list_dense)
    out.may_be_missing.push_back(std::ranges::find(missing, key) != missing.end());
  return out;
}

Result<BatchSpec> spec_of_v2(const AttrMap& attrs) {
  BatchSpec out;
  SequenceAttrs context = context_attrs, lists = list_attrs;
  context.ragged_types = "context_ragged_value_types";
  context.ragged_splits = "context_ragged_split_types";
  lists.ragged_types = "feature_list_ragged_value_types";
  lists.ragged_splits = "feature_list_ragged_split_types";
  TROUPE_ASSIGN(out.features.context, make_sequence_group(attrs, context));
  TROUPE_ASSIGN(out.features.lists, make_sequence_group(attrs, lists));
  TROUPE_TRY(check_groups(attrs, out.features));
  const SequenceSpec& spec = out.features;
  TROUPE_TRY(require_equal("num_context_ragged", spec.context.ragged.size(),
                           "context_ragged_split_types", {spec.context.ragged_splits.size()}));
  TROUPE_TRY(require_equal("num_feature_list_ragged", spec.lists.ragged.size(),
                           "feature_list_ragged_split_types", {spec.lists.ragged_splits.size()}));
  return out;
}

template <auto spec>
Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(auto kept, spec(c.attrs()));
  return prepared(std::move(kept));
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const BatchSpec spec, spec_of(c.attrs()));
  // TensorFlow's shape function wants vectors, its kernel takes scalars too.
  TROUPE_TRY(c.require_rank_at_most(0, 1));
  TROUPE_TRY(c.require_rank_at_most(1, 1));
  return infer_sequence_outputs(c, spec.features, c.input(0), true);
}

Status infer_v2(ShapeContext& c) {
  TROUPE_ASSIGN(const BatchSpec spec, spec_of_v2(c.attrs()));
  TROUPE_TRY(c.require_rank_at_most(0, 1));
  TROUPE_TRY(c.require_rank_at_most(1, 1));
  return infer_sequence_outputs(c, spec.features, c.input(0), true);
}

class BatchErrors final : public SequenceErrors {
public:
  Status no_message(std::string_view example, std::string_view) const override {
    return invalid_argument(str_cat("Invalid protocol message input, example id: ", example));
  }
  Status wrong_kind(const Place& place, std::string_view) const override {
    const std::string where = place.is_list
                                  ? str_cat("Feature list: ", place.key, ", Index: ", place.row)
                                  : str_cat("Context feature: ", place.key);
    return invalid_argument(
        str_cat("Name: ", place.example, ", ", where,
                ".  Data types don't match. Expected type: ", to_string(place.dtype)));
  }
  Status missing_context(const Place& place, std::int64_t most, const Shape& shape) const override {
    if (most != shape.num_elements())
      return inconsistent(place, most, shape);
    return invalid_argument(str_cat("Feature: ", place.key, " (data type: ", to_string(place.dtype),
                                    ") is required but could not be found."));
  }
  Status wrong_count(const Place& place, std::int64_t, std::int64_t most,
                     const Shape& shape) const override {
    if (most != shape.num_elements())
      return inconsistent(place, most, shape);
    return invalid_argument(str_cat("Unexpected number of elements in example ", place.example));
  }
  Status wrong_row(const Place& place, std::int64_t count, std::int64_t most,
                   const Shape& shape) const override {
    if (shape.num_elements() > 0 && most % shape.num_elements() != 0)
      return invalid_argument(str_cat("Feature list '", place.key,
                                      "' has an unexpected number of values.  Total values size: ",
                                      most, " is not consistent with output shape: ",
                                      concatenated(PartialShape{shape_rules::unknown_dim}, shape)));
    return invalid_argument(str_cat(
        "Name: ", place.example, ", Key: ", place.key, ", Index: ", place.row,
        ".  Number of values != expected.  values size: ", count, " but output shape: ", shape));
  }
  bool takes_no_kind() const override { return true; }

private:
  static Status inconsistent(const Place& place, std::int64_t most, const Shape& shape) {
    return invalid_argument(str_cat("Inconsistent max number of elements for feature ", place.key,
                                    ": expected ", shape.num_elements(), ", but found ", most));
  }
};

Status check_inputs(const KernelContext& c, const SequenceSpec& spec,
                    const SequenceInputs& inputs) {
  const Shape& shape = c.input(0).shape();
  if (shape.rank() > 1)
    return invalid_argument(
        str_cat("Expected serialized to be a scalar or vector, got shape: ", shape));
  if (!inputs.names.empty() && inputs.names.size() != inputs.serialized.size())
    return invalid_argument("example_names must be empty or have the correct number of elements");
  for (std::size_t i = 0; i < spec.context.dense.size(); ++i) {
    const Tensor& value = c.input(inputs.first_default + static_cast<int>(i));
    if (value.num_elements() > 0 && value.shape() != spec.context.shapes[i])
      return invalid_argument(str_cat("default_value[", i, "].shape() == ", value.shape(),
                                      " != context_dense_shapes[", i,
                                      "] == ", spec.context.shapes[i]));
  }
  return {};
}

std::vector<std::string_view> views(std::span<const std::string> keys) {
  return {keys.begin(), keys.end()};
}

/// The inputs that both versions have in common.
SequenceInputs inputs_of(const KernelContext& c) {
  return {.serialized = c.input(0).data<std::string>(),
          .names = c.input(1).data<std::string>(),
          .is_batch = c.input(0).shape().rank() != 0};
}

Status parse(KernelContext& c) {
  const auto& spec = c.prepared<BatchSpec>();
  SequenceInputs inputs = inputs_of(c);
  inputs.context = {.sparse = views(spec.context_sparse), .dense = views(spec.context_dense)};
  inputs.lists = {.sparse = views(spec.list_sparse), .dense = views(spec.list_dense)};
  inputs.may_be_missing = spec.may_be_missing;
  inputs.first_default = 2;
  TROUPE_TRY(check_inputs(c, spec.features, inputs));
  return parse_sequence_examples(c, spec.features, inputs, BatchErrors());
}

Status require_keys(const Tensor& keys, std::size_t count, std::string_view what,
                    std::string_view attr) {
  if (static_cast<std::size_t>(keys.num_elements()) == count)
    return {};
  return invalid_argument(str_cat("Expected len(", what, " to match ", attr));
}

Status parse_v2(KernelContext& c) {
  const SequenceSpec& spec = c.prepared<BatchSpec>().features;
  const SequenceGroup &context = spec.context, &lists = spec.lists;
  TROUPE_TRY(
      require_keys(c.input(3), context.dense.size(), "context_dense_keys)", "len(Tcontext_dense)"));
  TROUPE_TRY(
      require_keys(c.input(2), context.sparse.size(), "context_sparse_keys)", "Ncontext_sparse"));
  TROUPE_TRY(require_keys(c.input(4), context.ragged.size(), "context_ragged_keys)",
                          "len(context_ragged_value_types)"));
  TROUPE_TRY(require_keys(c.input(6), lists.dense.size(), "feature_list_dense_keys)",
                          "Nfeature_list_dense"));
  TROUPE_TRY(require_keys(c.input(8), lists.dense.size(),
                          "feature_list_dense_missing_assumed_empty", "Nfeature_list_dense"));
  TROUPE_TRY(require_keys(c.input(5), lists.sparse.size(), "feature_list_sparse_keys)",
                          "Nfeature_list_sparse"));
  TROUPE_TRY(require_keys(c.input(7), lists.ragged.size(), "feature_list_ragged_keys)",
                          "len(feature_list_ragged_value_types)"));
  SequenceInputs inputs = inputs_of(c);
  const auto keys = [&](int i) { return views(c.input(i).data<std::string>()); };
  inputs.context = {.sparse = keys(2), .dense = keys(3), .ragged = keys(4)};
  inputs.lists = {.sparse = keys(5), .dense = keys(6), .ragged = keys(7)};
  const auto missing = c.input(8).data<bool>();
  inputs.may_be_missing.assign(missing.begin(), missing.end());
  inputs.first_default = 9;
  TROUPE_TRY(check_inputs(c, spec, inputs));
  return parse_sequence_examples(c, spec, inputs, BatchErrors());
}

} // namespace

void register_ops(OpLibrary& library) {
  constexpr auto why = "its input is text";
  const std::string dtypes = ": list({float, int64, string}) >= 0 = []; ";
  const std::string splits = ": list({int32, int64}) >= 0 = []; ";
  const std::string keys = ": list(string) >= 0; ", count = ": int >= 0 = 0; ";
  const std::string common =
      str_cat("Ncontext_sparse", count, "Nfeature_list_sparse", count, "Nfeature_list_dense", count,
              "context_sparse_types", dtypes, "Tcontext_dense", dtypes, "feature_list_dense_types",
              dtypes, "feature_list_sparse_types", dtypes,
              "context_dense_shapes: list(shape) >= 0 "
              "= []; feature_list_dense_shapes: list(shape) >= 0 = []");
  const std::string context =
      "context_sparse_indices: Ncontext_sparse * int64; "
      "context_sparse_values: context_sparse_types; "
      "context_sparse_shapes: Ncontext_sparse * int64; context_dense_values: Tcontext_dense; ";
  const std::string lists = "feature_list_sparse_indices: Nfeature_list_sparse * int64; "
                            "feature_list_sparse_values: feature_list_sparse_types; "
                            "feature_list_sparse_shapes: Nfeature_list_sparse * int64; "
                            "feature_list_dense_values: feature_list_dense_types; "
                            "feature_list_dense_lengths: Nfeature_list_dense * int64";
  library.op("ParseSequenceExample")
      .input("serialized: string; debug_name: string; context_dense_defaults: Tcontext_dense")
      .output(context + lists)
      .attr(str_cat("feature_list_dense_missing_assumed_empty", keys, "context_sparse_keys", keys,
                    "context_dense_keys", keys, "feature_list_sparse_keys", keys,
                    "feature_list_dense_keys", keys, "Ncontext_dense", count, common))
      .shape_fn(infer)
      .not_differentiable(why)
      .cpu_kernel(parse, {.prepare = prepare<spec_of>, .expensive = true})
      .doc("The wanted features of the contexts of serialized tensorflow.SequenceExample messages, "
           "and of their lists, whose rows are padded to the longest list where they are dense.");
  library.op("ParseSequenceExampleV2")
      .input("serialized: string; debug_name: string; context_sparse_keys: string; "
             "context_dense_keys: string; context_ragged_keys: string; "
             "feature_list_sparse_keys: string; feature_list_dense_keys: string; "
             "feature_list_ragged_keys: string; feature_list_dense_missing_assumed_empty: bool; "
             "context_dense_defaults: Tcontext_dense")
      .output(str_cat(context,
                      "context_ragged_values: context_ragged_value_types; "
                      "context_ragged_row_splits: context_ragged_split_types; ",
                      lists,
                      "; feature_list_ragged_values: feature_list_ragged_value_types; "
                      "feature_list_ragged_outer_splits: feature_list_ragged_split_types; "
                      "feature_list_ragged_inner_splits: feature_list_ragged_split_types"))
      .attr(str_cat("context_ragged_value_types", dtypes, "context_ragged_split_types", splits,
                    "feature_list_ragged_value_types", dtypes, "feature_list_ragged_split_types",
                    splits, common))
      .shape_fn(infer_v2)
      .not_differentiable(why)
      .cpu_kernel(parse_v2, {.prepare = prepare<spec_of_v2>, .expensive = true})
      .doc("As ParseSequenceExample, with keys as tensors; ragged features and lists too.");
}

} // namespace troupe::parsing_parse_sequence_example
