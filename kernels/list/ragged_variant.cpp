// RaggedTensorToVariant, RaggedTensorFromVariant and RaggedTensorToVariantGradient: ragged tensors
// as variants, whole or a variant for each row, so that loops and datasets carry them.
#include <algorithm>
#include <string>
#include <vector>

#include "core/base/strings.hpp"
#include "kernels/array/internal/elements.hpp"
#include "kernels/framework/context.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/list/internal/ragged.hpp"

namespace troupe::list_ragged_variant {
namespace {

using array::Dims;
using list::Ragged;

Result<Tensor> splits_tensor(KernelContext& c, DType dtype, const Dims& splits) {
  TROUPE_ASSIGN(Tensor out,
                c.allocate_temp(dtype, Shape{static_cast<std::int64_t>(splits.size())}));
  TROUPE_TRY(dispatch(Indices{}, dtype, [&]<class I>() -> Status {
    std::ranges::transform(splits, out.mutable_data<I>().begin(),
                           [](std::int64_t x) { return static_cast<I>(x); });
    return {};
  }));
  return out;
}

/// Rows [begin, end) of the first dimension: of the tensor's own buffer where that may be.
Result<Tensor> take_rows(KernelContext& c, const Tensor& from, std::int64_t begin,
                         std::int64_t end) {
  if (Tensor shared = array::shared_rows(from, begin, end); shared.has_value())
    return shared;
  const Shape shape = from.shape().with_dim(0, end - begin);
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(from.dtype(), shape));
  const std::int64_t inner = from.shape()[0] == 0 ? 0 : from.num_elements() / from.shape()[0];
  TROUPE_TRY(out.charge(array::text_bytes(from, begin * inner, (end - begin) * inner)));
  array::copy_elements(from, begin * inner, out, 0, (end - begin) * inner);
  return out;
}

Status check_splits(const Integers& splits, std::int64_t values) {
  const std::string start = "Invalid ragged splits: ";
  if (splits.empty())
    return invalid_argument(start + "ragged splits must have at least one splits, but is empty");
  if (splits[0] != 0)
    return invalid_argument(
        str_cat(start, "first element of ragged splits  must be 0 but is ", splits[0]));
  for (std::size_t i = 1; i < splits.size(); ++i)
    if (splits[i] < splits[i - 1])
      return invalid_argument(str_cat(start,
                                      "ragged splits must be monotonically increasing, but "
                                      "ragged_splits[",
                                      i, "]=", splits[i], " is smaller than row_splits[", i - 1,
                                      "]=", splits[i - 1]));
  if (splits[splits.size() - 1] != values)
    return invalid_argument(str_cat(start,
                                    "last element of ragged splits must be the number of ragged "
                                    "values(",
                                    values, ") but is ", splits[splits.size() - 1]));
  return {};
}

/// The rows of a ragged tensor, one each.
Status unbatch(KernelContext& c, const Ragged& whole, const std::vector<Integers>& splits) {
  const std::int64_t rows =
      splits.empty() ? whole.values.shape()[0] : static_cast<std::int64_t>(splits[0].size()) - 1;
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{rows}));
  const auto to = out.mutable_data<Variant>();
  for (std::int64_t row = 0; row < rows; ++row) {
    if (row % 1024 == 0)
      c.stop_if_cancelled();
    Ragged part;
    std::int64_t begin = row, end = row + 1;
    for (std::size_t d = 0; d < splits.size(); ++d) {
      const Integers& from = splits[d];
      const std::int64_t base = from[static_cast<std::size_t>(begin)];
      if (d > 0) {
        Dims part_splits;
        for (std::int64_t i = begin; i <= end; ++i)
          part_splits.push_back(from[static_cast<std::size_t>(i)] - base);
        TROUPE_ASSIGN(Tensor made, splits_tensor(c, whole.splits[d].dtype(), part_splits));
        part.splits.push_back(std::move(made));
      }
      end = from[static_cast<std::size_t>(end)];
      begin = base;
    }
    TROUPE_ASSIGN(part.values, take_rows(c, whole.values, begin, end));
    if (splits.empty())
      part.values = part.values.reshaped(part.values.shape().without(0));
    to[static_cast<std::size_t>(row)] = list::make_ragged(std::move(part));
  }
  return out.settle(c.device().host_side_allocator());
}

Status compute_to(KernelContext& c) {
  Ragged whole;
  std::vector<Integers> splits;
  const int ranks = c.num_inputs() - 1;
  for (int d = 0; d < ranks; ++d) {
    if (c.input(d).shape().rank() != 1)
      return invalid_argument(
          str_cat("Shape must be rank 1 but is rank ", c.input(d).shape().rank()));
    TROUPE_ASSIGN(Integers numbers, integers(c.input(d)));
    whole.splits.push_back(c.input(d));
    splits.push_back(std::move(numbers));
  }
  whole.values = c.input(ranks);
  if (whole.values.shape().is_scalar())
    return invalid_argument("Shape must be at least rank 1 but is rank 0");
  for (std::size_t d = 0; d < splits.size(); ++d)
    TROUPE_TRY(check_splits(splits[d], d + 1 < splits.size()
                                           ? static_cast<std::int64_t>(splits[d + 1].size()) - 1
                                           : whole.values.shape()[0]));
  TROUPE_TRY(check_nesting(whole.values));
  if (c.attrs().get_or("batched_input", false))
    return unbatch(c, whole, splits);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, Shape{}));
  out.mutable_data<Variant>()[0] = list::make_ragged(std::move(whole));
  return {};
}

/// Every variant's ragged tensor, all of one ragged rank and of the op's dtypes.
Result<std::vector<Ragged>> components(KernelContext& c, std::int64_t ranks) {
  TROUPE_ASSIGN(const DType values, c.attr<DType>("Tvalues"));
  TROUPE_ASSIGN(const DType splits, c.attr<DType>("Tsplits"));
  std::vector<Ragged> out;
  std::size_t i = 0;
  for (const Variant& variant : c.input(0).data<Variant>()) {
    if (!list::is_ragged(variant))
      return invalid_argument(str_cat("Input Variant element at index ", i,
                                      " doesn't hold a RaggedTensorVariant: ",
                                      variant.type_name.empty() ? "<empty>" : variant.type_name));
    TROUPE_ASSIGN(Ragged ragged, list::ragged_in(variant));
    if (static_cast<std::int64_t>(ragged.splits.size()) != ranks)
      return invalid_argument(
          str_cat("Encoded input RaggedTensorVariant has ragged_rank=", ragged.splits.size(),
                  ".  Expected ragged_rank=", ranks, "."));
    if (ragged.values.dtype() != values)
      return invalid_argument(str_cat("Expected values Tensor dtype: ", to_string(values),
                                      ", found: ", to_string(ragged.values.dtype())));
    const bool alone = c.input(0).shape().is_scalar();
    if (ragged.values.shape().is_scalar() && !alone && ranks > 0)
      return invalid_argument(
          str_cat("Ragged values must have rank >= 1; encoded scalar element at index ", i,
                  " has values Tensor: ", ragged.values.to_string()));
    std::int64_t length = 0;
    for (std::size_t d = ragged.splits.size(); d-- > 0;) {
      const Tensor& here = ragged.splits[d];
      if (here.dtype() != splits)
        return invalid_argument(str_cat("Expected row_splits Tensor dtype: ", to_string(splits),
                                        ", found: ", to_string(here.dtype())));
      if (here.shape().rank() != 1)
        return invalid_argument(
            str_cat("Ragged splits must have rank 1; encoded scalar element at index ", i,
                    " has splits Tensor ", here.to_string()));
      TROUPE_ASSIGN(const Integers numbers, integers(here));
      if (d + 1 == ragged.splits.size())
        length = ragged.values.shape().is_scalar() ? 0 : ragged.values.shape()[0];
      TROUPE_TRY(check_splits(numbers, length));
      length = here.num_elements() - 1;
    }
    out.push_back(std::move(ragged));
    ++i;
  }
  return out;
}

/// Values of all components below each other.
Status give_values(KernelContext& c, const std::vector<Ragged>& all) {
  Shape row;
  std::int64_t rows = 0;
  bool first = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Shape& shape = all[i].values.shape();
    if (shape.rank() < 1)
      return invalid_argument(
          str_cat("Ragged values must have rank >= 1; encoded scalar element at index ", i,
                  " has values Tensor: ", all[i].values.to_string()));
    if (!first && shape.rank() != all[0].values.shape().rank())
      return invalid_argument(
          str_cat("Rank of values must match for all components; values shape at index 0: ",
                  all[0].values.shape(), ", values shape at index ", i, ": ", shape));
    if (!first && shape.without(0) != row)
      return invalid_argument(str_cat(
          "All flat_values must have compatible shapes.  Shape at index 0: ", row,
          ".  Shape at index ", i, ": ", shape.without(0),
          ".  If you are using tf.map_fn, then you may need to specify an explicit "
          "fn_output_signature with appropriate ragged_rank, and/or convert output tensors to "
          "RaggedTensors."));
    row = shape.without(0);
    first = false;
    TROUPE_ASSIGN(rows, shape_rules::add_dims(rows, shape[0]));
  }
  Dims dims{rows};
  dims.insert(dims.end(), row.dims().begin(), row.dims().end());
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(c.num_outputs() - 1, shape));
  std::size_t text = 0;
  for (const Ragged& one : all)
    text += array::text_bytes(one.values, 0, one.values.num_elements());
  TROUPE_TRY(out.charge(text));
  std::int64_t at = 0;
  for (const Ragged& one : all) {
    array::copy_elements(one.values, 0, out, at, one.values.num_elements());
    at += one.values.num_elements();
  }
  return {};
}

Status give_splits(KernelContext& c, int i, const Dims& splits) {
  if (c.output_type(i) == DType::int32 && splits.back() > INT32_MAX)
    return invalid_argument(str_cat(splits.back(), " values in all need splits of int64"));
  TROUPE_ASSIGN(Tensor out, splits_tensor(c, c.output_type(i), splits));
  return c.set_output(i, std::move(out));
}

/// Components in the order of the variants' tensor as rows of one ragged tensor.
Status stack(KernelContext& c, const std::vector<Ragged>& all, int ranks) {
  const Shape& outer = c.input(0).shape();
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < outer.rank(); ++d) {
    rows *= outer[d];
    Dims splits;
    for (std::int64_t i = 0; i <= rows; ++i)
      splits.push_back(i * outer[d + 1]);
    TROUPE_TRY(give_splits(c, d, splits));
  }
  Dims lengths{0};
  for (const Ragged& one : all) {
    if (ranks == 0 && one.values.shape().is_scalar())
      return give_values(c, all);
    lengths.push_back(lengths.back() +
                      (ranks > 0 ? one.splits[0].num_elements() - 1 : one.values.shape()[0]));
  }
  TROUPE_TRY(give_splits(c, outer.rank() - 1, lengths));
  for (int d = 0; d < ranks; ++d) {
    Dims splits{0};
    for (const Ragged& one : all) {
      TROUPE_ASSIGN(const Integers here, integers(one.splits[static_cast<std::size_t>(d)]));
      const std::int64_t base = splits.back();
      for (std::size_t i = 1; i < here.size(); ++i)
        splits.push_back(base + here[i]);
    }
    TROUPE_TRY(give_splits(c, outer.rank() + d, splits));
  }
  if (!all.empty())
    return give_values(c, all);
  return c.allocate_output(c.num_outputs() - 1, Shape{0}).status();
}

Status compute_from(KernelContext& c) {
  TROUPE_ASSIGN(auto input_rank, c.attr<std::int64_t>("input_ragged_rank"));
  const std::int64_t output_rank = c.num_outputs() - 1, outer = c.input(0).shape().rank();
  if (input_rank == -1) {
    input_rank = output_rank - outer;
    if (input_rank < 0)
      return invalid_argument(str_cat(
          "Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be >= "
          "0, found output_ragged_rank: ",
          output_rank, ", encoded_variant.dims(): ", outer,
          ", inferred input_ragged_rank: ", input_rank));
  }
  if (output_rank - outer != input_rank) // a rank may be any number
    return invalid_argument(
        str_cat("output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
                "output_ragged_rank: ",
                output_rank, ", input_ragged_rank: ", input_rank,
                ", encoded_variant.dims(): ", outer, "."));
  TROUPE_ASSIGN(std::vector<Ragged> all, components(c, input_rank));
  if (outer > 0)
    return stack(c, all, static_cast<int>(input_rank));
  for (int d = 0; d < static_cast<int>(input_rank); ++d)
    TROUPE_TRY(c.set_output(d, all[0].splits[static_cast<std::size_t>(d)]));
  return c.set_output(c.num_outputs() - 1, all[0].values);
}

/// The values of all variants, one after the other; zeros for those that have no gradient.
Status compute_gradient(KernelContext& c) {
  TROUPE_ASSIGN(const Integers splits, integers(c.input(1)));
  if (c.input(2).shape().rank() != 1)
    return invalid_argument(
        str_cat("dense_values_shape must be a vector, not of shape ", c.input(2).shape()));
  TROUPE_ASSIGN(const Shape shape, shape_from(c.input(2)));
  const auto variants = c.input(0).data<Variant>();
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (list::is_ragged(variants[i])) {
      TROUPE_ASSIGN(Ragged ragged, list::ragged_in(variants[i]));
      if (ragged.values.dtype() != c.output_type(0))
        return invalid_argument(
            str_cat("Expected values Tensor dtype: ", to_string(c.output_type(0)),
                    ", found: ", to_string(ragged.values.dtype())));
      values.push_back(std::move(ragged.values));
      continue;
    }
    if (i + 1 >= splits.size() || shape.rank() < 1 || splits[i + 1] < splits[i])
      return invalid_argument(
          str_cat("there are no row_splits for variant ", i, ", which has no values"));
    Dims dims(shape.dims().begin(), shape.dims().end());
    dims[0] = splits[i + 1] - splits[i];
    if (dims[0] > shape[0])
      return invalid_argument(str_cat("row ", i, " of ", dims[0], " values is longer than ",
                                      "dense_values_shape, which is ", shape));
    TROUPE_ASSIGN(Tensor zero, c.allocate_temp(c.output_type(0), Shape(dims)));
    TROUPE_TRY(array::fill_with_zeros(c, zero));
    values.push_back(std::move(zero));
  }
  if (values.size() == 1)
    return c.set_output(0, values[0]);
  std::int64_t total = 0;
  for (const Tensor& one : values)
    total += one.num_elements();
  if (total != shape.num_elements())
    return invalid_argument(
        str_cat("the variants have ", total, " values, but dense_values_shape is ", shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, shape));
  std::int64_t at = 0;
  for (const Tensor& one : values) {
    TROUPE_TRY(out.charge(array::text_bytes(one, 0, one.num_elements())));
    array::copy_elements(one, 0, out, at, one.num_elements());
    at += one.num_elements();
  }
  return {};
}

Status infer_to(ShapeContext& c) {
  const int ranks = c.num_inputs() - 1;
  TROUPE_TRY(c.require_rank_at_least(ranks, 1));
  for (int i = 0; i < ranks; ++i)
    TROUPE_TRY(c.require_rank(i, 1));
  TROUPE_ASSIGN(const bool batched, c.attr<bool>("batched_input"));
  if (!batched)
    return c.set_output(0, PartialShape(Shape{}));
  std::int64_t rows = shape_rules::unknown_dim;
  if (c.input(0).has_rank() && c.input(0).dim(0) >= 0)
    rows = c.input(0).dim(0) - (ranks > 0 ? 1 : 0);
  if (rows < shape_rules::unknown_dim ||
      (ranks > 0 && rows == -1 && c.input(0).has_rank() && c.input(0).dim(0) == 0))
    return invalid_argument(
        "Invalid ragged splits: ragged splits must have at least one splits, but is empty");
  return c.set_output(0, {rows});
}

Status infer_from(ShapeContext& c) {
  TROUPE_ASSIGN(const auto input_rank, c.attr<std::int64_t>("input_ragged_rank"));
  const int output_rank = c.num_outputs() - 1;
  if (c.input(0).has_rank() && input_rank >= 0 && c.input(0).rank() != output_rank - input_rank)
    return invalid_argument(
        str_cat("output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
                "output_ragged_rank: ",
                output_rank, ", input_ragged_rank: ", input_rank,
                ", encoded_variant.dims(): ", c.input(0).rank(), "."));
  for (int i = 0; i < output_rank; ++i)
    TROUPE_TRY(c.set_output(i, {-1}));
  return {};
}

std::vector<TypeConstraint> value_types() {
  return {{"Tvalues",
           {DType::float32, DType::float64, DType::int32,      DType::uint8,    DType::int16,
            DType::int8,    DType::string,  DType::complex64,  DType::int64,    DType::bool_,
            DType::qint8,   DType::quint8,  DType::qint32,     DType::bfloat16, DType::qint16,
            DType::quint16, DType::uint16,  DType::complex128, DType::float16,  DType::uint32,
            DType::uint64}}};
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.types = value_types();
  options.expensive = true;
  constexpr auto types = "Tvalues: type; Tsplits: {int32, int64} = DT_INT64";
  constexpr auto by_clients = "its gradient is made where graphs are written";
  library.op("RaggedTensorToVariant")
      .input("rt_nested_splits: RAGGED_RANK * Tsplits; rt_dense_values: Tvalues")
      .output("encoded_ragged: variant")
      .attr("RAGGED_RANK: int >= 0; batched_input: bool")
      .attr(types)
      .shape_fn(infer_to)
      .not_differentiable(by_clients)
      .cpu_kernel(compute_to, options)
      .doc("A ragged tensor in a variant, or each of its rows in one.");
  library.op("RaggedTensorFromVariant")
      .input("encoded_ragged: variant")
      .output("output_nested_splits: output_ragged_rank * Tsplits; output_dense_values: Tvalues")
      .attr("input_ragged_rank: int >= -1; output_ragged_rank: int >= 0")
      .attr(types)
      .shape_fn(infer_from)
      .not_differentiable(by_clients)
      .cpu_kernel(compute_from, options)
      .doc("The ragged tensors in variants as one.");
  library.op("RaggedTensorToVariantGradient")
      .input("encoded_ragged_grad: variant; row_splits: Tsplits; dense_values_shape: int32")
      .output("dense_values_grad: Tvalues")
      .attr(types)
      .shape_fn(shape_unknown)
      .not_differentiable("it is a gradient itself")
      .cpu_kernel(compute_gradient, options)
      .doc("The gradient of the values that RaggedTensorToVariant took.");
}

} // namespace troupe::list_ragged_variant
