// Maps from tensors to tensors, held by a variant.
#include "kernels/list/internal/tensor_map.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe::list_tensor_map {
namespace {

using list::Piece;
using list::TensorMap;

Result<std::shared_ptr<const TensorMap>> input_map(KernelContext& c) {
  const Tensor& input = c.input(0);
  if (!input.shape().is_scalar())
    return invalid_argument(str_cat("Input map must be a scalar. Saw: ", input.shape()));
  const Variant& variant = input.data<Variant>()[0];
  TROUPE_ASSIGN(auto map, list::map_in(variant, c.device().host_side_allocator()));
  if (!map)
    return invalid_argument(str_cat("Input handle is not a map. Saw: '",
                                    variant.type_name.empty() ? "<empty>" : variant.type_name,
                                    "'"));
  return map;
}

/// The input's map in its tensor, to be changed: itself if nobody else holds it, otherwise a copy.
struct OwnMap {
  Tensor handle;
  TensorMap* map = nullptr;
};
Result<OwnMap> own_map(KernelContext& c) {
  TROUPE_TRY(input_map(c).status());
  OwnMap out{.handle = c.take_input(0)};
  if (out.handle.is_unique())
    out.map = sole_value<TensorMap>(out.handle.mutable_data<Variant>()[0]);
  if (out.map)
    return out;
  Allocator& account = c.device().host_side_allocator();
  TROUPE_ASSIGN(const auto shared, list::map_in(out.handle.data<Variant>()[0], account));
  TROUPE_ASSIGN(auto copy, shared->copy(account));
  out.map = copy.get();
  out.handle = Tensor::scalar(list::variant_of(std::move(copy)));
  return out;
}

/// "1 2": the elements as a literal writes them.
std::string elements_of(const Tensor& key) {
  const std::string text = key.to_string(100);
  const auto blank = text.find(' ');
  return blank == std::string::npos ? "" : text.substr(blank + 1);
}

Status make_empty(KernelContext& c) {
  return c.set_output(0, Tensor::scalar(list::variant_of(std::make_shared<TensorMap>())));
}

Status size(KernelContext& c) {
  TROUPE_ASSIGN(const auto map, input_map(c));
  return c.set_output(0, Tensor::scalar(static_cast<std::int32_t>(map->size())));
}

Status has_key(KernelContext& c) {
  TROUPE_ASSIGN(const auto map, input_map(c));
  TROUPE_ASSIGN(const auto* found, map->find(c.input(1)));
  return c.set_output(0, Tensor::scalar(found != nullptr));
}

Status no_such_key(std::string_view what, const Tensor& key) {
  const bool is_text = key.dtype() == DType::string && key.shape().is_scalar();
  return invalid_argument(str_cat(what, ". Could not find key \"",
                                  is_text ? key.value<std::string>() : elements_of(key), "\"."));
}

Status lookup(KernelContext& c) {
  TROUPE_ASSIGN(const auto map, input_map(c));
  TROUPE_ASSIGN(const auto* found, map->find(c.input(1)));
  if (!found)
    return no_such_key("Trying to lookup non-existent key", c.input(1));
  if (found->value.dtype() != c.output_type(0))
    return invalid_argument(str_cat("The value has dtype ", to_string(found->value.dtype()),
                                    ", and ", to_string(c.output_type(0)), " is asked for."));
  return c.set_output(0, found->value);
}

Status insert(KernelContext& c) {
  TROUPE_ASSIGN(OwnMap own, own_map(c));
  TROUPE_TRY(own.map->insert(c.take_input(1), c.take_input(2), c.device().host_side_allocator()));
  return c.set_output(0, std::move(own.handle));
}

Status erase(KernelContext& c) {
  TROUPE_ASSIGN(OwnMap own, own_map(c));
  TROUPE_ASSIGN(const auto* found, own.map->find(c.input(1)));
  if (!found)
    return no_such_key("Trying to erase non-existent item", c.input(1));
  TROUPE_TRY(own.map->erase(c.input(1)));
  return c.set_output(0, std::move(own.handle));
}

Status stack_keys(KernelContext& c) {
  TROUPE_ASSIGN(const auto map, input_map(c));
  if (map->size() == 0)
    return invalid_argument("TensorMapStackKeys cannot be called on empty map.");
  const Shape& shape = map->items().begin()->second.key.shape();
  std::vector<Piece> pieces;
  pieces.reserve(map->size());
  for (const auto& [bytes, item] : map->items()) {
    if (item.key.dtype() != c.output_type(0))
      return invalid_argument("Key does not match requested dtype.");
    if (!(item.key.shape() == shape))
      return invalid_argument("Keys must all have the same shape.");
    pieces.push_back({&item.key, shape.num_elements()});
  }
  TROUPE_ASSIGN(const Shape whole, list::with_first(static_cast<std::int64_t>(map->size()), shape));
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, whole));
  return list::join(c, pieces, out);
}

constexpr auto python = "TensorFlow's clients bring its gradient";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("EmptyTensorMap")
      .output("handle: variant")
      .shape_fn(shape_scalar)
      .not_differentiable("it has no inputs")
      .cpu_kernel(make_empty)
      .doc("A map without items.");
  library.op("TensorMapSize")
      .input("input_handle: variant")
      .output("size: int32")
      .shape_fn(shape_scalar)
      .not_differentiable("it counts")
      .cpu_kernel(size)
      .doc("How many items the map has.");
  library.op("TensorMapHasKey")
      .input("input_handle: variant; key: key_dtype")
      .output("has_key: bool")
      .attr("key_dtype: type")
      .shape_fn(shape_scalar)
      .not_differentiable("its value is true or false")
      .cpu_kernel(has_key)
      .doc("Whether the map has an item of that key.");
  library.op("TensorMapLookup")
      .input("input_handle: variant; key: key_dtype")
      .output("value: value_dtype")
      .attr("key_dtype: type; value_dtype: type")
      .shape_fn(shape_unknown)
      .not_differentiable(python)
      .cpu_kernel(lookup)
      .doc("The value of the item of that key.");
  library.op("TensorMapInsert")
      .input("input_handle: variant; key: key_dtype; value: value_dtype")
      .output("output_handle: variant")
      .attr("key_dtype: type; value_dtype: type")
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(insert)
      .doc("The map with the item, instead of one of that key.");
  library.op("TensorMapErase")
      .input("input_handle: variant; key: key_dtype")
      .output("output_handle: variant")
      .attr("key_dtype: type; value_dtype: type")
      .shape_fn(shape_scalar)
      .not_differentiable(python)
      .cpu_kernel(erase)
      .doc("The map without the item of that key.");
  library.op("TensorMapStackKeys")
      .input("input_handle: variant")
      .output("keys: key_dtype")
      .attr("key_dtype: type")
      .shape_fn(shape_unknown)
      .not_differentiable(python)
      .cpu_kernel(stack_keys)
      .doc("The keys along a new first dimension; they have one shape.");
}

} // namespace troupe::list_tensor_map
