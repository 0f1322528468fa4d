// AsString of variants: their type, and what of their value can be told. The op itself is in
// strings/.
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/list/internal/number_variant.hpp"
#include "kernels/list/internal/tensor_list.hpp"
#include "kernels/list/internal/tensor_map.hpp"

namespace troupe::list_variant_text {
namespace {

std::string value_text(const Variant& variant) {
  if (variant.type_name.empty())
    return "[empty]";
  if (variant.type_name == list::TensorList::type_name)
    return "TensorList";
  if (variant.type_name == list::TensorMap::type_name)
    return "TensorMap";
  return list::text_of_number(variant).value_or("?");
}

Status as_string(KernelContext& c) {
  const Tensor& in = c.input(0);
  TROUPE_ASSIGN(Tensor out, c.allocate_output(0, in.shape()));
  const auto from = in.data<Variant>();
  const auto to = out.mutable_data<std::string>();
  for (std::size_t i = 0; i < from.size(); ++i)
    to[i] = str_cat("Variant<type: ", from[i].type_name, " value: ", value_text(from[i]), ">");
  return {};
}

} // namespace

void register_ops(OpLibrary& library) {
  library.kernels.add(
      {.op = "AsString",
       .device_type = "CPU",
       .compute = as_string,
       .options = {.types = {TypeConstraint{.attr = "T", .dtypes = {DType::variant}}}}});
}

} // namespace troupe::list_variant_text
