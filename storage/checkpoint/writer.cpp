#include "core/base/strings.hpp"
#include "storage/checkpoint/checkpoint.hpp"
#include "storage/checkpoint/internal/header.hpp"
#include "storage/checksum/crc32c.hpp"
#include "storage/message/tensor_message.hpp"

namespace troupe {

Result<CheckpointWriter> CheckpointWriter::create(Storage& storage, std::string prefix,
                                                  GoOn go_on) {
  CheckpointWriter out;
  out.go_on_ = std::move(go_on);
  out.storage_ = &storage;
  out.prefix_ = std::move(prefix);
  TROUPE_ASSIGN(out.data_, storage.write(checkpoint_data_name(out.prefix_, 0, 1)));
  return out;
}

Status CheckpointWriter::append_bytes(std::span<const std::byte> bytes, CheckpointEntry& entry) {
  // The checksum of a piece is taken while the piece is in a cache.
  constexpr std::size_t piece = 1 << 20;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), piece));
    if (go_on_ && part.size() == piece)
      TROUPE_TRY(go_on_());
    entry.crc = extend_crc32c(entry.crc, part);
    TROUPE_TRY(data_->append(part));
    bytes = bytes.subspan(part.size());
    entry.size += part.size();
  }
  return {};
}

// Lengths as varints, their masked checksum, the text. The checksum of all counts lengths as fixed
// numbers.
Status CheckpointWriter::append_text(const Tensor& tensor, CheckpointEntry& entry) {
  MessageWriter lengths;
  std::string fixed;
  for (const std::string& text : tensor.data<std::string>()) {
    lengths.varint(text.size());
    checkpoint::append_length(fixed, text.size());
  }
  const std::uint32_t crc_of_lengths = crc32c(fixed), masked = mask_crc(crc_of_lengths);
  lengths.raw(&masked, sizeof masked);
  TROUPE_TRY(append_bytes(std::as_bytes(std::span(lengths.text())), entry));
  entry.crc = extend_crc32c(crc_of_lengths, std::as_bytes(std::span(&masked, 1)));
  for (const std::string& text : tensor.data<std::string>())
    TROUPE_TRY(append_bytes(std::as_bytes(std::span(text)), entry));
  return {};
}

// Each variant's length as a varint, its message, and the masked checksum of all so far, in which
// lengths are fixed numbers.
Status CheckpointWriter::append_variants(const Tensor& tensor, CheckpointEntry& entry) {
  for (const Variant& variant : tensor.data<Variant>()) {
    TROUPE_ASSIGN(const std::string message, variant_message(variant));
    const std::uint64_t length = message.size();
    MessageWriter varint;
    varint.varint(length);
    const std::uint32_t before = entry.crc;
    TROUPE_TRY(append_bytes(std::as_bytes(std::span(varint.text())), entry));
    entry.crc = extend_crc32c(before, std::as_bytes(std::span(&length, 1)));
    TROUPE_TRY(append_bytes(std::as_bytes(std::span(message)), entry));
    const std::uint32_t masked = mask_crc(entry.crc);
    TROUPE_TRY(append_bytes(std::as_bytes(std::span(&masked, 1)), entry));
  }
  return {};
}

Status CheckpointWriter::append(std::string_view key, const Tensor& tensor) {
  CheckpointEntry entry{.dtype = tensor.dtype(), .shape = tensor.shape(), .offset = size_};
  if (tensor.dtype() == DType::string)
    TROUPE_TRY(append_text(tensor, entry));
  else if (tensor.dtype() == DType::variant)
    TROUPE_TRY(append_variants(tensor, entry));
  else if (is_object(tensor.dtype()))
    return unimplemented(str_cat("a checkpoint cannot hold tensor '", key, "' of dtype ",
                                 to_string(tensor.dtype())));
  else
    TROUPE_TRY(append_bytes(tensor.bytes(), entry));
  entry.crc = mask_crc(entry.crc);
  size_ += entry.size;
  entries_.emplace(key, std::move(entry));
  return {};
}

Status CheckpointWriter::add(std::string_view name, const Tensor& tensor) {
  if (name.empty())
    return invalid_argument(
        "a tensor without a name cannot be saved: \"\" is the checkpoint's own");
  if (entries_.contains(name))
    return invalid_argument(str_cat("Adding duplicate key: ", name));
  return append(name, tensor);
}

Status CheckpointWriter::add_slice(std::string_view name, const Shape& full,
                                   const TensorSlice& slice, const Tensor& tensor) {
  if (slice.is_whole(full))
    return add(name, tensor);
  auto found = entries_.find(name);
  if (found == entries_.end())
    found = entries_.emplace(name, CheckpointEntry{.dtype = tensor.dtype(), .shape = full}).first;
  CheckpointEntry& whole = found->second;
  if (whole.dtype != tensor.dtype() || whole.shape != full ||
      (whole.slices.empty() && whole.size > 0))
    return invalid_argument(str_cat("a slice of '", name, "' is ", to_string(tensor.dtype()),
                                    " of ", full, ", another one of it ", to_string(whole.dtype),
                                    " of ", whole.shape));
  const std::string key = slice_key(name, slice);
  if (entries_.contains(key))
    return invalid_argument(str_cat("Adding duplicate key: ", name, " ", slice));
  whole.slices.push_back(slice);
  return append(key, tensor);
}

Status CheckpointWriter::commit() {
  TableWriter table;
  table.add("", checkpoint::header_message(1));
  for (const auto& [key, entry] : entries_)
    table.add(key, entry.to_message());
  TROUPE_ASSIGN(auto index, storage_->write(checkpoint_index_name(prefix_)));
  const std::string text = table.finish();
  TROUPE_TRY(index->append(std::as_bytes(std::span(text))));
  TROUPE_TRY(index->prepare());
  TROUPE_TRY(data_->prepare());
  TROUPE_TRY(data_->commit());
  return index->commit();
}

} // namespace troupe
