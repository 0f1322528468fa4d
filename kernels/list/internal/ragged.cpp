#include "kernels/list/internal/ragged.hpp"

#include "core/base/strings.hpp"
#include "kernels/list/internal/variant_math.hpp"

namespace troupe::list {

Variant make_ragged(Ragged ragged) {
  VariantParts parts;
  parts.tensors = std::move(ragged.splits);
  parts.tensors.push_back(std::move(ragged.values));
  return make_variant(Ragged::type_name, std::move(parts));
}

bool is_ragged(const Variant& variant) {
  return variant.type_name == Ragged::type_name;
}

Result<Ragged> ragged_in(const Variant& variant) {
  TROUPE_ASSIGN(VariantParts parts, parts_of(variant));
  if (parts.tensors.empty())
    return invalid_argument("a RaggedTensorVariant without tensors is none");
  Ragged out;
  out.values = std::move(parts.tensors.back());
  parts.tensors.pop_back();
  out.splits = std::move(parts.tensors);
  return out;
}

Result<Variant> add_ragged(KernelContext& c, const Variant& a, const Variant& b) {
  TROUPE_ASSIGN(Ragged first, ragged_in(a));
  TROUPE_ASSIGN(const Ragged second, ragged_in(b));
  if (first.values.dtype() != second.values.dtype())
    return invalid_argument(str_cat("Can't add RaggedTensorVariants of different dtypes. One is ",
                                    to_string(first.values.dtype()), " and the other is ",
                                    to_string(second.values.dtype())));
  if (first.splits.size() != second.splits.size())
    return invalid_argument(
        str_cat("Can't add RaggedTensorVariants of different ragged rank. One is ",
                first.splits.size(), " and the other is ", second.splits.size()));
  for (std::size_t i = 0; i < first.splits.size(); ++i)
    if (!equal(first.splits[i], second.splits[i]))
      return invalid_argument("Can't add RaggedTensorVariants with different row_splits.");
  TROUPE_ASSIGN(first.values, add(c, first.values, second.values));
  return make_ragged(std::move(first));
}

Result<Variant> zeros_like_ragged(KernelContext& c, const Variant& like) {
  TROUPE_ASSIGN(Ragged out, ragged_in(like));
  TROUPE_ASSIGN(out.values, zeros_like(c, out.values));
  return make_ragged(std::move(out));
}

} // namespace troupe::list
