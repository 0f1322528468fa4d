#include <cstring>

#include "core/base/strings.hpp"
#include "storage/checkpoint/checkpoint.hpp"
#include "storage/checkpoint/internal/charge.hpp"
#include "storage/checkpoint/internal/header.hpp"
#include "storage/checksum/crc32c.hpp"
#include "storage/message/tensor_message.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t largest_index = std::uint64_t{1} << 30; // bytes
constexpr std::size_t piece = 1 << 20; // its checksum is taken while it is in a cache

Status damaged(std::string_view name, std::string_view what) {
  return data_loss(str_cat("tensor '", name, "' of the checkpoint is damaged: ", what,
                           "; restore an older checkpoint"));
}

Status check_crc(std::string_view name, std::uint32_t crc, std::uint32_t stored) {
  if (crc == unmask_crc(stored))
    return {};
  return damaged(name, str_cat("Checksum does not match: stored ", unmask_crc(stored),
                               " vs. calculated on the restored bytes ", crc));
}

/// Lengths, then text: see CheckpointWriter.
Status decode_text(std::string_view name, std::string_view bytes, std::uint32_t stored,
                   Tensor& out) {
  auto elements = out.mutable_data<std::string>();
  std::string fixed;
  std::vector<std::uint64_t> lengths;
  std::string_view rest = bytes;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto length = take_varint(rest);
    if (!length || *length > bytes.size())
      return damaged(name, "a string's length is not there");
    lengths.push_back(*length);
    checkpoint::append_length(fixed, *length);
  }
  std::uint32_t masked = 0;
  if (rest.size() < sizeof masked)
    return damaged(name, "it ends within its strings' lengths");
  std::memcpy(&masked, rest.data(), sizeof masked);
  const std::uint32_t crc_of_lengths = crc32c(fixed);
  TROUPE_TRY(check_crc(name, crc_of_lengths, masked));
  std::uint32_t crc =
      extend_crc32c(crc_of_lengths, std::as_bytes(std::span(rest.substr(0, sizeof masked))));
  rest.remove_prefix(sizeof masked);
  TROUPE_TRY(check_crc(name, extend_crc32c(crc, std::as_bytes(std::span(rest))), stored));
  TROUPE_TRY(out.charge(rest.size()));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (lengths[i] > rest.size())
      return damaged(name, "its strings are shorter than their lengths");
    elements[i] = rest.substr(0, lengths[i]);
    rest.remove_prefix(lengths[i]);
  }
  return {};
}

/// Each variant's length, message and checksum: see CheckpointWriter.
Status decode_variants(std::string_view name, std::string_view bytes, std::uint32_t stored,
                       Allocator& allocator, Tensor& out) {
  std::uint32_t crc = 0;
  for (Variant& variant : out.mutable_data<Variant>()) {
    const auto length = take_varint(bytes);
    std::uint32_t masked = 0;
    if (!length || bytes.size() < sizeof masked || *length > bytes.size() - sizeof masked)
      return damaged(name, "it ends within a variant");
    const std::string_view message = bytes.substr(0, static_cast<std::size_t>(*length));
    crc = extend_crc32c(crc, std::as_bytes(std::span(&*length, 1)));
    crc = extend_crc32c(crc, std::as_bytes(std::span(message)));
    bytes.remove_prefix(message.size());
    std::memcpy(&masked, bytes.data(), sizeof masked);
    TROUPE_TRY(check_crc(name, crc, masked));
    crc = extend_crc32c(crc, std::as_bytes(std::span(&masked, 1)));
    bytes.remove_prefix(sizeof masked);
    auto read = variant_from_message(message, allocator);
    if (read.status().code() == Code::invalid_argument)
      return damaged(name, read.status().message());
    TROUPE_ASSIGN(variant, std::move(read));
  }
  return check_crc(name, crc, stored);
}

} // namespace

Result<CheckpointReader> CheckpointReader::open(Storage& storage, std::string prefix, GoOn go_on) {
  CheckpointReader out;
  out.go_on_ = std::move(go_on);
  out.storage_ = &storage;
  const std::string name = checkpoint_index_name(prefix);
  auto bytes = storage.get(name, largest_index);
  if (bytes.status().code() == Code::not_found)
    return not_found(str_cat("Unsuccessful TensorSliceReader constructor: Failed to find any "
                             "matching files for ",
                             prefix));
  TROUPE_TRY(bytes.status());
  TROUPE_ASSIGN(out.index_, TableReader::parse(*std::move(bytes), name));
  TROUPE_ASSIGN(auto header, out.index_.find(""));
  const auto shards = header ? checkpoint::shards_of_header(*header) : std::nullopt;
  if (!shards)
    return data_loss(str_cat("'", name, "' is not the index of a little-endian checkpoint"));
  out.shards_ = *shards;
  out.prefix_ = std::move(prefix);
  return out;
}

bool CheckpointReader::has(std::string_view name) const {
  auto found = index_.find(name);
  return found.ok() && found->has_value() && !name.empty();
}

Result<CheckpointEntry> CheckpointReader::entry(std::string_view name) const {
  TROUPE_ASSIGN(auto message, index_.find(name));
  if (!message || name.empty())
    return not_found(str_cat("Key ", name, " not found in checkpoint"));
  return CheckpointEntry::from_message(name, *message);
}

Result<std::vector<std::string>> CheckpointReader::names() const {
  std::vector<std::string> out;
  TROUPE_TRY(index_.for_each([&](std::string_view key, std::string_view) -> Status {
    if (!key.empty() && !is_slice_key(key))
      out.emplace_back(key);
    return {};
  }));
  return out;
}

Result<StorageReader*> CheckpointReader::data(int shard) {
  auto found = data_.find(shard);
  if (found == data_.end()) {
    TROUPE_ASSIGN(auto reader, storage_->open(checkpoint_data_name(prefix_, shard, shards_)));
    found = data_.emplace(shard, std::move(reader)).first;
  }
  return found->second.get();
}

Result<Tensor> CheckpointReader::read_entry(std::string_view name, const CheckpointEntry& entry,
                                            Allocator& allocator) {
  if (entry.dtype == DType::resource)
    return unimplemented(str_cat("tensor '", name, "' of the checkpoint is of dtype ",
                                 to_string(entry.dtype), ", which cannot be read"));
  TROUPE_ASSIGN(StorageReader * file, data(entry.shard));
  if (entry.offset > file->size() || entry.size > file->size() - entry.offset)
    return out_of_range(str_cat("Read less bytes than requested: the ", entry.size, " bytes at ",
                                entry.offset, " of tensor '", name,
                                "' lie beyond the end of the checkpoint's data file; restore an "
                                "older checkpoint"));
  if (is_object(entry.dtype)) {
    if (static_cast<std::uint64_t>(entry.shape.num_elements()) > entry.size)
      return damaged(name, "it has more elements than bytes");
    checkpoint::Charge charge(allocator, name);
    TROUPE_TRY(charge.add(static_cast<std::size_t>(entry.size)));
    std::string bytes(static_cast<std::size_t>(entry.size), '\0');
    TROUPE_TRY(file->read(entry.offset, std::as_writable_bytes(std::span(bytes))));
    TROUPE_ASSIGN(Tensor out, Tensor::allocate(allocator, entry.dtype, entry.shape));
    if (entry.dtype == DType::string)
      TROUPE_TRY(decode_text(name, bytes, entry.crc, out));
    else
      TROUPE_TRY(decode_variants(name, bytes, entry.crc, allocator, out));
    TROUPE_TRY(out.settle(allocator));
    return out;
  }
  std::uint64_t wanted = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(entry.shape.num_elements()),
                             dtype_size(entry.dtype), &wanted) ||
      wanted != entry.size)
    return damaged(name, str_cat("it has ", entry.size, " bytes, its shape ", entry.shape,
                                 " wants another number"));
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(allocator, entry.dtype, entry.shape));
  auto* to = static_cast<std::byte*>(out.mutable_raw());
  std::uint32_t crc = 0;
  for (std::size_t at = 0; at < wanted; at += piece) {
    const std::span part(to + at, std::min<std::size_t>(piece, wanted - at));
    if (go_on_ && part.size() == piece)
      TROUPE_TRY(go_on_());
    TROUPE_TRY(file->read(entry.offset + at, part));
    crc = extend_crc32c(crc, part);
  }
  TROUPE_TRY(check_crc(name, crc, entry.crc));
  return out;
}

Result<Tensor> CheckpointReader::assemble(std::string_view name, const CheckpointEntry& entry,
                                          const TensorSlice& wanted, const Shape& shape,
                                          Allocator& allocator) {
  TROUPE_TRY(check_disjoint(entry.slices, entry.shape));
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(allocator, entry.dtype, shape));
  std::int64_t filled = 0;
  for (const TensorSlice& slice : entry.slices) {
    TROUPE_ASSIGN(auto message, index_.find(slice_key(name, slice)));
    if (!message)
      return damaged(name, str_cat("its slice ", slice, " has no entry"));
    TROUPE_ASSIGN(const CheckpointEntry part, CheckpointEntry::from_message(name, *message));
    TROUPE_ASSIGN(const Shape part_shape, slice.shape_in(entry.shape));
    if (part.dtype != entry.dtype || part.shape != part_shape)
      return damaged(name, str_cat("its slice ", slice, " has another shape or dtype"));
    TROUPE_ASSIGN(const Tensor read, read_entry(name, part, allocator));
    filled += copy_common(entry.shape, slice, read, wanted, out);
  }
  if (filled != shape.num_elements())
    return invalid_argument(str_cat("Does not have sufficient slices for partitioned tensor ", name,
                                    " to restore in slice_spec: ", wanted));
  return out;
}

Result<Tensor> CheckpointReader::read(std::string_view name, Allocator& allocator) {
  TROUPE_ASSIGN(const CheckpointEntry found, entry(name));
  if (found.slices.empty())
    return read_entry(name, found, allocator);
  TensorSlice whole;
  whole.extents.resize(static_cast<std::size_t>(found.shape.rank()));
  return assemble(name, found, whole, found.shape, allocator);
}

Result<Tensor> CheckpointReader::read_slice(std::string_view name, const ShapeAndSlice& wanted,
                                            Allocator& allocator) {
  TROUPE_ASSIGN(const CheckpointEntry found, entry(name));
  if (found.shape != wanted.full)
    return invalid_argument(
        str_cat("tensor_name = ", name, "; shape in shape_and_slice spec ", wanted.full,
                " does not match the shape stored in checkpoint: ", found.shape));
  if (!found.slices.empty())
    return assemble(name, found, wanted.slice, wanted.shape, allocator);
  TROUPE_ASSIGN(Tensor whole, read_entry(name, found, allocator));
  if (wanted.shape == found.shape)
    return whole;
  TensorSlice all;
  all.extents.resize(static_cast<std::size_t>(found.shape.rank()));
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(allocator, found.dtype, wanted.shape));
  copy_common(found.shape, all, whole, wanted.slice, out);
  return out;
}

} // namespace troupe
