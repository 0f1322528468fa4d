#include "kernels/list/internal/tensor_map.hpp"

#include "core/base/strings.hpp"
#include "kernels/list/internal/written_form.hpp"

namespace troupe::list {
namespace {

/// What a place takes beside its key's bytes: the node of the tree and two tensors.
constexpr std::size_t place_bytes = sizeof(TensorMap::Item) + 96;

Result<std::string> bytes_of(const Tensor& key) {
  std::string out;
  append_varint(out, static_cast<std::uint64_t>(key.dtype()));
  append_varint(out, static_cast<std::uint64_t>(key.shape().rank()));
  for (std::int64_t dim : key.shape().dims())
    append_varint(out, static_cast<std::uint64_t>(dim));
  if (key.dtype() == DType::string) {
    for (const std::string& text : key.data<std::string>()) {
      append_varint(out, text.size());
      out += text;
    }
    return out;
  }
  if (is_object(key.dtype()))
    return invalid_argument(
        str_cat("a ", to_string(key.dtype()), " tensor cannot be the key of a map"));
  out.append(static_cast<const char*>(key.raw()), key.byte_size());
  return out;
}

} // namespace

Result<const TensorMap::Item*> TensorMap::find(const Tensor& key) const {
  TROUPE_ASSIGN(const std::string bytes, bytes_of(key));
  const auto found = items_.find(bytes);
  return found == items_.end() ? nullptr : &found->second;
}

Status TensorMap::insert(Tensor key, Tensor value, Allocator& account) {
  TROUPE_ASSIGN(std::string bytes, bytes_of(key));
  TROUPE_TRY(check_nesting(value));
  const auto found = items_.find(bytes);
  if (found == items_.end()) {
    const std::size_t total = bytes_ + bytes.size() + place_bytes;
    TROUPE_TRY(charge_.raise_to(total, account));
    bytes_ = total;
  }
  note_held(value);
  items_.insert_or_assign(std::move(bytes), Item{std::move(key), std::move(value)});
  return {};
}

Status TensorMap::erase(const Tensor& key) {
  TROUPE_ASSIGN(const std::string bytes, bytes_of(key));
  if (items_.erase(bytes))
    bytes_ -= bytes.size() + place_bytes;
  return {};
}

Result<std::shared_ptr<TensorMap>> TensorMap::copy(Allocator& account) const {
  auto out = std::make_shared<TensorMap>();
  for (const auto& [bytes, item] : items_)
    TROUPE_TRY(out->insert(item.key, item.value, account));
  return out;
}

Result<VariantParts> TensorMap::parts() const {
  VariantParts out;
  for (const auto& [bytes, item] : items_) {
    out.tensors.push_back(item.key);
    out.tensors.push_back(item.value);
  }
  return out;
}

Result<std::shared_ptr<TensorMap>> TensorMap::read(const VariantParts& parts, Allocator& account) {
  if (parts.tensors.size() % 2 != 0)
    return invalid_argument("a variant of type 'tensorflow::TensorMap' has a key without a value");
  auto out = std::make_shared<TensorMap>();
  for (std::size_t i = 0; i < parts.tensors.size(); i += 2)
    TROUPE_TRY(out->insert(parts.tensors[i], parts.tensors[i + 1], account));
  return out;
}

Result<std::shared_ptr<const TensorMap>> map_in(const Variant& variant, Allocator& account) {
  if (auto map = std::dynamic_pointer_cast<const TensorMap>(variant.value))
    return map;
  if (variant.type_name != TensorMap::type_name)
    return std::shared_ptr<const TensorMap>();
  TROUPE_ASSIGN(const VariantParts parts, parts_of(variant));
  TROUPE_ASSIGN(auto made, TensorMap::read(parts, account));
  return std::shared_ptr<const TensorMap>(std::move(made));
}

Variant variant_of(std::shared_ptr<TensorMap> map) {
  return {.type_name = TensorMap::type_name, .metadata = {}, .value = std::move(map)};
}

} // namespace troupe::list
