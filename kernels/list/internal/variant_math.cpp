#include "kernels/list/internal/variant_math.hpp"

#include "core/base/strings.hpp"
#include "kernels/arith/lookup.hpp"
#include "kernels/list/internal/number_variant.hpp"
#include "kernels/list/internal/optional.hpp"
#include "kernels/list/internal/ragged.hpp"
#include "kernels/list/internal/tensor_list.hpp"
#include "kernels/list/internal/tensor_map.hpp"

namespace troupe::list {
namespace {

using TensorListPtr = std::shared_ptr<TensorList>;

Status check_alike(const TensorList& a, const TensorList& b) {
  if (a.dtype() != b.dtype())
    return invalid_argument(
        str_cat("Trying to add two lists of tensors of different dtypes. One is ",
                to_string(a.dtype()), " and the other is ", to_string(b.dtype())));
  if (!a.shape().is_compatible_with(b.shape()))
    return invalid_argument(
        str_cat("Trying to add two lists of tensors with incompatible element shapes. One is ",
                text_of(a.shape()), " and the other is ", text_of(b.shape())));
  if (a.size() != b.size())
    return invalid_argument(
        str_cat("Trying to add two lists of tensors with different lengths. One is ", a.size(),
                " and the other is ", b.size()));
  return {};
}

Result<TensorListPtr> add_lists(KernelContext& c, const TensorList& a, const TensorList& b) {
  TROUPE_TRY(check_alike(a, b));
  TROUPE_ASSIGN(PartialShape shape, merge(a.shape(), b.shape()));
  auto sum = std::make_shared<TensorList>(a.dtype(), std::move(shape));
  TROUPE_TRY(sum->resize(a.size(), c.device().host_side_allocator()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    Tensor element = a[i].has_value() ? a[i] : b[i];
    if (a[i].has_value() && b[i].has_value()) {
      TROUPE_ASSIGN(element, add(c, a[i], b[i]));
    }
    TROUPE_TRY(sum->set(i, std::move(element)));
  }
  return sum;
}

Result<TensorListPtr> zeros_like_list(KernelContext& c, const TensorList& like) {
  auto out = std::make_shared<TensorList>(like.dtype(), like.shape());
  out->max_size = like.max_size;
  TROUPE_TRY(out->resize(like.size(), c.device().host_side_allocator()));
  for (std::size_t i = 0; i < like.size(); ++i)
    if (like[i].has_value()) {
      TROUPE_ASSIGN(Tensor element, zeros_like(c, like[i]));
      TROUPE_TRY(out->set(i, std::move(element)));
    }
  return out;
}

Variant variant_of(TensorListPtr value) {
  return {.type_name = TensorList::type_name, .metadata = {}, .value = std::move(value)};
}

// The items of both; values of a key that both have are added.
Result<Variant> add_maps(KernelContext& c, const TensorMap& a, const TensorMap& b) {
  Allocator& account = c.device().host_side_allocator();
  TROUPE_ASSIGN(auto sum, a.copy(account));
  for (const auto& [bytes, item] : b.items()) {
    TROUPE_ASSIGN(const auto* other, a.find(item.key));
    Tensor value = item.value;
    if (other) {
      TROUPE_ASSIGN(value, add(c, other->value, item.value));
    }
    TROUPE_TRY(sum->insert(item.key, std::move(value), account));
  }
  return variant_of(std::move(sum));
}

Result<Variant> add_optionals(KernelContext& c, const Optional& a, const Optional& b) {
  if (a.has_value() != b.has_value())
    return invalid_argument("Cannot add optionals because one has a value and the other doesn't.");
  if (!a.has_value())
    return make_optional(Optional());
  if (a.components().size() != b.components().size())
    return invalid_argument(
        str_cat("Cannot add optionals because they have different numbers of components (",
                a.components().size(), " vs. ", b.components().size(), ")."));
  std::vector<Tensor> sums;
  for (std::size_t i = 0; i < a.components().size(); ++i) {
    TROUPE_ASSIGN(Tensor sum, add(c, a.components()[i], b.components()[i]));
    sums.push_back(std::move(sum));
  }
  return make_optional(Optional(std::move(sums)));
}

Result<Variant> zeros_like_optional(KernelContext& c, const Optional& like) {
  if (!like.has_value())
    return make_optional(Optional());
  std::vector<Tensor> out;
  for (const Tensor& component : like.components()) {
    TROUPE_ASSIGN(Tensor zero, zeros_like(c, component));
    out.push_back(std::move(zero));
  }
  return make_optional(Optional(std::move(out)));
}

std::string name_of(const Variant& variant) {
  return variant.type_name.empty() ? "<empty>" : variant.type_name;
}

} // namespace

Result<Variant> add(KernelContext& c, const Variant& a, const Variant& b) {
  if (a.type_name != b.type_name)
    return internal(str_cat("BinaryOpVariants: Variants a and b have different type ids.  Type "
                            "names: '",
                            name_of(a), "' vs. '", name_of(b), "'"));
  if (a.type_name.empty())
    return a;
  Allocator& account = c.device().host_side_allocator();
  Variant first = a, second = b;
  TROUPE_ASSIGN(const TensorList* left, list_in(first, account));
  TROUPE_ASSIGN(const TensorList* right, list_in(second, account));
  if (left && right) {
    TROUPE_ASSIGN(TensorListPtr sum, add_lists(c, *left, *right));
    return variant_of(std::move(sum));
  }
  TROUPE_ASSIGN(const auto left_map, map_in(first, account));
  TROUPE_ASSIGN(const auto right_map, map_in(second, account));
  if (left_map && right_map)
    return add_maps(c, *left_map, *right_map);
  const auto left_optional = optional_in(first), right_optional = optional_in(second);
  if (left_optional && right_optional)
    return add_optionals(c, *left_optional, *right_optional);
  if (is_ragged(a) && is_ragged(b))
    return add_ragged(c, a, b);
  if (auto sum = add_numbers(a, b))
    return *std::move(sum);
  return internal(str_cat("No binary variant op function found for op ADD Variant type_name: '",
                          name_of(a), "' for device type: CPU"));
}

Result<Tensor> add(KernelContext& c, const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()))
    return invalid_argument(str_cat("Trying to add two tensors with incompatible element shapes. "
                                    "One is ",
                                    a.shape(), " and the other is ", b.shape()));
  if (a.dtype() != b.dtype())
    return invalid_argument(str_cat("Trying to add two tensors of different dtypes. One is ",
                                    to_string(a.dtype()), " and the other is ",
                                    to_string(b.dtype())));
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(a.dtype(), a.shape()));
  if (a.dtype() == DType::variant) {
    for (std::size_t i = 0; i < a.data<Variant>().size(); ++i) {
      TROUPE_ASSIGN(out.mutable_data<Variant>()[i],
                    add(c, a.data<Variant>()[i], b.data<Variant>()[i]));
    }
    return out;
  }
  TROUPE_ASSIGN(const arith::AddNKernel kernel, arith::add_n(a.dtype()));
  const void* inputs[] = {a.raw(), b.raw()};
  void* to = out.mutable_raw();
  c.parallel_for(out.num_elements(), 0.2,
                 [&](std::int64_t begin, std::int64_t end) { kernel(inputs, 2, to, begin, end); });
  return out;
}

Result<Variant> zeros_like(KernelContext& c, const Variant& like) {
  if (like.type_name.empty())
    return like;
  Variant given = like;
  TROUPE_ASSIGN(const TensorList* list, list_in(given, c.device().host_side_allocator()));
  if (list) {
    TROUPE_ASSIGN(TensorListPtr out, zeros_like_list(c, *list));
    return variant_of(std::move(out));
  }
  if (like.type_name == TensorMap::type_name) // the zero of maps has no items
    return variant_of(std::make_shared<TensorMap>());
  if (const auto optional = optional_in(given))
    return zeros_like_optional(c, *optional);
  if (is_ragged(like))
    return zeros_like_ragged(c, like);
  if (auto zero = zero_like_number(like))
    return *std::move(zero);
  return internal(str_cat("No unary variant unary_op function found for op ZEROS_LIKE Variant "
                          "type_name: ",
                          name_of(like), " for device type: CPU"));
}

Result<Tensor> zeros_like(KernelContext& c, const Tensor& like) {
  if (like.dtype() != DType::variant)
    return zeros(c, like.dtype(), like.shape());
  TROUPE_ASSIGN(Tensor out, c.allocate_temp(DType::variant, like.shape()));
  for (std::size_t i = 0; i < like.data<Variant>().size(); ++i) {
    TROUPE_ASSIGN(out.mutable_data<Variant>()[i], zeros_like(c, like.data<Variant>()[i]));
  }
  return out;
}

} // namespace troupe::list
