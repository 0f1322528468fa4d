// ParseSingleSequenceExample: features and lists of features of one tensorflow.SequenceExample
// message.
#include <algorithm>

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/parsing/internal/feature.hpp"
#include "kernels/parsing/internal/feature_map.hpp"
#include "kernels/parsing/internal/sequence_parser.hpp"

namespace troupe::parsing_parse_single_sequence_example {
namespace {

using namespace parsing;

Status require_number(const AttrMap& attrs, std::string_view number, std::size_t size,
                      std::string_view keys, std::string_view list) {
  TROUPE_ASSIGN(const auto count, attrs.get<std::int64_t>(number));
  return require_same_length(static_cast<std::size_t>(count), size, keys, list);
}

Result<SequenceSpec> spec_of(const AttrMap& attrs) {
  SequenceSpec out;
  TROUPE_ASSIGN(out.context, make_sequence_group(attrs, {.sparse_types = "context_sparse_types",
                                                         .dense_types = "Tcontext_dense",
                                                         .dense_shapes = "context_dense_shapes"}));
  TROUPE_ASSIGN(out.lists,
                make_sequence_group(attrs, {.sparse_types = "feature_list_sparse_types",
                                            .dense_types = "feature_list_dense_types",
                                            .dense_shapes = "feature_list_dense_shapes"}));
  TROUPE_TRY(require_number(attrs, "Ncontext_sparse", out.context.sparse.size(),
                            "context_sparse_keys", "context_sparse_types"));
  TROUPE_TRY(require_number(attrs, "Ncontext_dense", out.context.dense.size(), "context_dense_keys",
                            "context_dense_types"));
  TROUPE_TRY(require_number(attrs, "Ncontext_dense", out.context.shapes.size(),
                            "context_dense_keys", "context_dense_shapes"));
  TROUPE_TRY(require_number(attrs, "Nfeature_list_sparse", out.lists.sparse.size(),
                            "feature_list_sparse_keys", "feature_list_sparse_types"));
  TROUPE_TRY(require_number(attrs, "Nfeature_list_dense", out.lists.dense.size(),
                            "feature_list_dense_keys", "feature_list_dense_types"));
  TROUPE_TRY(require_number(attrs, "Nfeature_list_dense", out.lists.shapes.size(),
                            "feature_list_dense_keys", "feature_list_dense_shapes"));
  return out;
}

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(SequenceSpec spec, spec_of(c.attrs()));
  return prepared(std::move(spec));
}

Status infer(ShapeContext& c) {
  TROUPE_ASSIGN(const SequenceSpec spec, spec_of(c.attrs()));
  TROUPE_TRY(c.require_rank(0, 0));
  TROUPE_TRY(c.require_rank(1, 1));
  return infer_sequence_outputs(c, spec, PartialShape(Shape{}), false);
}

class SingleErrors final : public SequenceErrors {
public:
  Status no_message(std::string_view, std::string_view text) const override {
    return invalid_argument(str_cat("Could not parse example input, value: '", excerpt(text), "'"));
  }
  Status wrong_kind(const Place& place, std::string_view feature) const override {
    const std::string where =
        place.is_list ? str_cat(place.is_dense ? "Feature list: " : "Feature List: ", place.key,
                                ", Index: ", place.row)
                      : str_cat("Context feature: ", place.key);
    return invalid_argument(str_cat("Name: ", place.example, ", ", where,
                                    ".  Data types don't match. Expected type: ",
                                    to_string(place.dtype), "  Feature is: ", feature));
  }
  Status missing_context(const Place& place, std::int64_t, const Shape&) const override {
    return invalid_argument(str_cat("Name: ", place.example, ", Context feature '", place.key,
                                    "' is required but could not be found."));
  }
  Status wrong_count(const Place& place, std::int64_t count, std::int64_t,
                     const Shape& shape) const override {
    return wrong(place, count, shape);
  }
  Status wrong_row(const Place& place, std::int64_t count, std::int64_t,
                   const Shape& shape) const override {
    return wrong(place, count, shape);
  }
  bool takes_no_kind() const override { return false; }

private:
  static Status wrong(const Place& place, std::int64_t count, const Shape& shape) {
    const bool is_text = place.dtype == DType::string;
    return invalid_argument(str_cat(
        "Name: ", place.example, is_text ? ", Key " : ", Key: ", place.key, ", Index: ", place.row,
        ".  Number of ", kind_name(place.dtype), " values != expected.  ",
        is_text ? "Values" : "values", " size: ", count, " but output shape: ", shape));
  }
};

/// The keys of inputs [at, at + count), after which `at` is.
Result<std::vector<std::string_view>> take_keys(const KernelContext& c, int& at, std::size_t count,
                                                std::string_view name) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < count; ++i, ++at) {
    if (!c.input(at).shape().is_scalar())
      return invalid_argument(
          str_cat("Expected ", name, "[", i, "] to be a scalar, got shape: ", c.input(at).shape()));
    out.emplace_back(c.input(at).value<std::string>());
  }
  return out;
}

Status check_inputs(const KernelContext& c, const SequenceSpec& spec, int first_default) {
  const Tensor &serialized = c.input(0), &missing = c.input(1);
  if (missing.shape().rank() != 1)
    return invalid_argument(str_cat("Expected feature_list_dense_missing_assumed_empty to be a "
                                    "vector, got shape: ",
                                    missing.shape()));
  const Tensor& name = c.input(c.num_inputs() - 1);
  if (name.num_elements() > 0 && !name.shape().is_scalar())
    return invalid_argument(
        str_cat("Expected debug_name to be a scalar, got shape: ", name.shape()));
  if (!serialized.shape().is_scalar())
    return invalid_argument(
        str_cat("Expected serialized to be a scalar, got shape: ", serialized.shape()));
  for (std::size_t i = 0; i < spec.context.dense.size(); ++i) {
    const Tensor& value = c.input(first_default + static_cast<int>(i));
    if (value.num_elements() > 0 && value.shape() != spec.context.shapes[i])
      return invalid_argument(str_cat("def_value[", i, "].shape() == ", value.shape(),
                                      " != context_dense_shapes_[", i,
                                      "] == ", spec.context.shapes[i]));
  }
  return {};
}

Status parse(KernelContext& c) {
  const auto& spec = c.prepared<SequenceSpec>();
  SequenceInputs inputs{.serialized = c.input(0).data<std::string>(),
                        .names = c.input(c.num_inputs() - 1).data<std::string>(),
                        .is_batch = false,
                        .has_lengths = false};
  int at = 2;
  TROUPE_ASSIGN(inputs.context.sparse,
                take_keys(c, at, spec.context.sparse.size(), "context_sparse_keys"));
  TROUPE_ASSIGN(inputs.context.dense,
                take_keys(c, at, spec.context.dense.size(), "context_dense_keys"));
  TROUPE_ASSIGN(inputs.lists.sparse,
                take_keys(c, at, spec.lists.sparse.size(), "feature_list_sparse_keys"));
  TROUPE_ASSIGN(inputs.lists.dense,
                take_keys(c, at, spec.lists.dense.size(), "feature_list_dense_keys"));
  inputs.first_default = at;
  TROUPE_TRY(check_inputs(c, spec, at));
  const auto missing = c.input(1).data<std::string>();
  for (const std::string_view key : inputs.lists.dense)
    inputs.may_be_missing.push_back(std::ranges::find(missing, key) != missing.end());
  return parse_sequence_examples(c, spec, inputs, SingleErrors());
}

} // namespace

void register_ops(OpLibrary& library) {
  const std::string dtypes = ": list({float, int64, string}) >= 0 = []; ";
  const std::string count = ": int >= 0 = 0; ";
  library.op("ParseSingleSequenceExample")
      .input("serialized: string; feature_list_dense_missing_assumed_empty: string; "
             "context_sparse_keys: Ncontext_sparse * string; "
             "context_dense_keys: Ncontext_dense * string; "
             "feature_list_sparse_keys: Nfeature_list_sparse * string; "
             "feature_list_dense_keys: Nfeature_list_dense * string; "
             "context_dense_defaults: Tcontext_dense; debug_name: string")
      .output("context_sparse_indices: Ncontext_sparse * int64; "
              "context_sparse_values: context_sparse_types; "
              "context_sparse_shapes: Ncontext_sparse * int64; "
              "context_dense_values: Tcontext_dense; "
              "feature_list_sparse_indices: Nfeature_list_sparse * int64; "
              "feature_list_sparse_values: feature_list_sparse_types; "
              "feature_list_sparse_shapes: Nfeature_list_sparse * int64; "
              "feature_list_dense_values: feature_list_dense_types")
      .attr(str_cat("Ncontext_sparse", count, "Ncontext_dense", count, "Nfeature_list_sparse",
                    count, "Nfeature_list_dense", count, "context_sparse_types", dtypes,
                    "Tcontext_dense", dtypes, "feature_list_dense_types", dtypes,
                    "context_dense_shapes: list(shape) >= 0 = []; feature_list_sparse_types",
                    dtypes, "feature_list_dense_shapes: list(shape) >= 0 = []"))
      .shape_fn(infer)
      .not_differentiable("its input is text")
      .cpu_kernel(parse, {.prepare = prepare, .expensive = true})
      .doc("The wanted features of the context of one serialized tensorflow.SequenceExample "
           "message, and of its lists.");
}

} // namespace troupe::parsing_parse_single_sequence_example
