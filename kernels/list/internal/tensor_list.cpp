#include "kernels/list/internal/tensor_list.hpp"

#include "core/base/strings.hpp"
#include "kernels/framework/glue.hpp"
#include "kernels/list/internal/written_form.hpp"

namespace troupe::list {

Status TensorList::push(Tensor tensor, Allocator& account) {
  TROUPE_TRY(check_nesting(tensor));
  note_held(tensor);
  return tensors_.push(std::move(tensor), account);
}

Status TensorList::set(std::size_t i, Tensor tensor) {
  TROUPE_TRY(check_nesting(tensor));
  note_held(tensor);
  tensors_[i] = std::move(tensor);
  return {};
}

Result<std::shared_ptr<TensorList>> TensorList::copy(Allocator& account) const {
  auto out = std::make_shared<TensorList>(dtype_, shape_);
  out->max_size = max_size;
  TROUPE_TRY(out->resize(size(), account));
  for (std::size_t i = 0; i < size(); ++i)
    TROUPE_TRY(out->set(i, tensors_[i]));
  return out;
}

// TensorFlow's: how many elements have no value and which, the dtype, the bound, all as varints;
// then the shape as a TensorShapeProto. The elements with a value are the tensors.
Result<VariantParts> TensorList::parts() const {
  VariantParts out;
  std::vector<std::uint64_t> unset;
  for (std::size_t i = 0; i < size(); ++i)
    if (tensors_[i].has_value())
      out.tensors.push_back(tensors_[i]);
    else
      unset.push_back(i);
  append_varint(out.metadata, unset.size());
  for (std::uint64_t i : unset)
    append_varint(out.metadata, i);
  append_varint(out.metadata, static_cast<std::uint64_t>(dtype_));
  append_varint(out.metadata, static_cast<std::uint64_t>(static_cast<std::int64_t>(max_size)));
  append_shape(out.metadata, shape_);
  return out;
}

Result<std::shared_ptr<TensorList>> TensorList::read(const VariantParts& parts,
                                                     Allocator& account) {
  const Status broken =
      invalid_argument("the bytes of a variant of type 'tensorflow::TensorList' make no list");
  FormReader form(parts.metadata);
  std::uint64_t count = 0, dtype = 0, bound = 0;
  if (!form.varint(count) || count > parts.metadata.size())
    return broken;
  std::vector<std::uint64_t> unset(count);
  for (std::uint64_t& i : unset)
    if (!form.varint(i))
      return broken;
  PartialShape shape;
  if (!form.varint(dtype) || !form.varint(bound) || !form.shape(shape) || dtype > 100 ||
      !is_known(static_cast<DType>(dtype)))
    return broken;
  auto out = std::make_shared<TensorList>(static_cast<DType>(dtype), std::move(shape));
  out->max_size = static_cast<int>(static_cast<std::int64_t>(bound));
  const std::size_t size = unset.size() + parts.tensors.size();
  TROUPE_TRY(out->resize(size, account));
  std::size_t next_unset = 0, next_tensor = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (next_unset < unset.size() && unset[next_unset] == i) {
      ++next_unset;
      continue;
    }
    if (next_tensor == parts.tensors.size() || parts.tensors[next_tensor].dtype() != out->dtype() ||
        !out->shape().is_compatible_with(parts.tensors[next_tensor].shape()))
      return broken;
    TROUPE_TRY(out->set(i, parts.tensors[next_tensor++]));
  }
  return out;
}

Result<const TensorList*> list_in(Variant& variant, Allocator& account) {
  if (const auto* list = dynamic_cast<const TensorList*>(variant.value.get()))
    return list;
  if (variant.type_name != TensorList::type_name)
    return nullptr;
  TROUPE_ASSIGN(const VariantParts parts, parts_of(variant));
  TROUPE_ASSIGN(std::shared_ptr<TensorList> list, TensorList::read(parts, account));
  const TensorList* out = list.get();
  variant = {.type_name = TensorList::type_name, .metadata = {}, .value = std::move(list)};
  return out;
}

Result<const TensorList*> input_list(KernelContext& c, int i) {
  const Tensor& input = c.input(i);
  if (!input.shape().is_scalar())
    return invalid_argument(str_cat("Input list must be a scalar saw: ", input.shape()));
  const Variant& variant = input.data<Variant>()[0];
  if (const auto* list = dynamic_cast<const TensorList*>(variant.value.get()))
    return list;
  Variant read = variant;
  TROUPE_ASSIGN(const TensorList* list, list_in(read, c.device().host_side_allocator()));
  if (!list)
    return invalid_argument(str_cat("Input handle is not a list. Saw: '",
                                    variant.type_name.empty() ? "<empty>" : variant.type_name,
                                    "'"));
  // The input is this kernel's own reference to a tensor that others may hold.
  c.input_entry(i).tensor = Tensor::scalar(std::move(read));
  return list;
}

Result<const TensorList*> typed_input_list(KernelContext& c, int i) {
  TROUPE_ASSIGN(const TensorList* list, input_list(c, i));
  TROUPE_ASSIGN(const DType wanted, c.attr<DType>("element_dtype"));
  if (wanted != list->dtype())
    return invalid_argument(str_cat("Invalid data types; op elements ", to_string(wanted),
                                    " but list elements ", to_string(list->dtype())));
  return list;
}

Result<OwnList> own_list(KernelContext& c, int i) {
  OwnList out{.handle = c.take_input(i)};
  const Variant& variant = out.handle.data<Variant>()[0];
  if (out.handle.is_unique())
    out.list = sole_value<TensorList>(out.handle.mutable_data<Variant>()[0]);
  if (out.list)
    return out;
  const auto& shared = static_cast<const TensorList&>(*variant.value);
  TROUPE_ASSIGN(std::shared_ptr<TensorList> copy, shared.copy(c.device().host_side_allocator()));
  out.list = copy.get();
  out.handle = handle_of(std::move(copy));
  return out;
}

Tensor handle_of(std::shared_ptr<TensorList> list) {
  return Tensor::scalar(
      Variant{.type_name = TensorList::type_name, .metadata = {}, .value = std::move(list)});
}

Result<PartialShape> input_shape(KernelContext& c, int i) {
  const Tensor& value = c.input(i);
  if (value.shape().rank() > 1)
    return invalid_argument(
        str_cat("Shape must be at most rank 1 but is rank ", value.shape().rank()));
  TROUPE_ASSIGN(const Integers dims, integers(value));
  if (value.shape().is_scalar()) {
    if (dims[0] != -1)
      return invalid_argument("The only valid scalar shape tensor is the fully unknown shape "
                              "specified as -1.");
    return PartialShape();
  }
  std::vector<std::int64_t> known(dims.begin(), dims.end());
  for (std::int64_t& dim : known)
    if (dim < -1)
      return invalid_argument(str_cat("Dimension ", dim, " must be >= -1"));
  PartialShape out(known);
  for (std::int64_t& dim : known) // what is known must make a shape
    dim = dim < 0 ? 1 : dim;
  TROUPE_TRY(Shape::make(known).status());
  return out;
}

Result<PartialShape> element_shape(KernelContext& c, const TensorList& list, int i) {
  TROUPE_ASSIGN(const PartialShape named, input_shape(c, i));
  return merge(named, list.shape());
}

Result<PartialShape> constant_shape(ShapeContext& c, int i) {
  TROUPE_TRY(c.require_rank_at_most(i, 1));
  if (c.input(i).has_rank() && c.input(i).rank() == 0)
    return PartialShape();
  return c.input_as_shape(i);
}

} // namespace troupe::list
