// Checkpoints: named tensors in TensorFlow's second format, readable by it and written by it.
//
//   PREFIX.index                 a table: name → where the tensor lies; "" → how many data files
//   PREFIX.data-00000-of-00001   the tensors' bytes, one after the other
//
// A tensor may be there in slices: then its entry lists them, and each has an entry of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "storage/checkpoint/tensor_slice.hpp"
#include "storage/files/storage.hpp"
#include "storage/table/table.hpp"

namespace troupe {

/// What an index says of a tensor.
struct CheckpointEntry {
  DType dtype = DType::invalid;
  Shape shape;
  int shard = 0;
  std::uint64_t offset = 0, size = 0;   ///< bytes in the shard
  std::uint32_t crc = 0;                ///< masked, of those bytes
  std::vector<TensorSlice> slices = {}; ///< not empty: it is there in slices only

  std::string to_message() const;
  /// DATA_LOSS naming the tensor.
  static Result<CheckpointEntry> from_message(std::string_view name, std::string_view message);
};

std::string checkpoint_index_name(std::string_view prefix);
/// "PREFIX.data-00003-of-00008"
std::string checkpoint_data_name(std::string_view prefix, int shard, int shards);

/// Asked between pieces of a megabyte; its failure ends the writing or reading.
using GoOn = std::function<Status()>;

/// Writes one checkpoint with one data file. Nothing is seen of it before `commit`.
class CheckpointWriter {
public:
  /// `storage` outlives it.
  static Result<CheckpointWriter> create(Storage& storage, std::string prefix, GoOn go_on = {});
  /// INVALID_ARGUMENT for a name that is there; UNIMPLEMENTED for resources and for variants that
  /// cannot leave their process.
  Status add(std::string_view name, const Tensor& tensor);
  /// One slice of a tensor of shape `full`. INVALID_ARGUMENT if another one of that name has
  /// another dtype or shape, or overlaps.
  Status add_slice(std::string_view name, const Shape& full, const TensorSlice& slice,
                   const Tensor& tensor);
  /// Both files are on the disk before the first takes its name, so that a full disk leaves a
  /// checkpoint of that prefix as it was.
  Status commit();

private:
  CheckpointWriter() = default;
  Status append(std::string_view key, const Tensor& tensor);
  Status append_text(const Tensor& tensor, CheckpointEntry& entry);
  Status append_variants(const Tensor& tensor, CheckpointEntry& entry);
  Status append_bytes(std::span<const std::byte> bytes, CheckpointEntry& entry);

  Storage* storage_ = nullptr;
  std::string prefix_;
  GoOn go_on_;
  std::unique_ptr<StorageWriter> data_;
  std::uint64_t size_ = 0;
  std::map<std::string, CheckpointEntry, std::less<>> entries_;
};

/// Reads a checkpoint. One thread at a time.
class CheckpointReader {
public:
  /// NOT_FOUND in TensorFlow's words where there is none. `storage` outlives it.
  static Result<CheckpointReader> open(Storage& storage, std::string prefix, GoOn go_on = {});

  bool has(std::string_view name) const;
  /// NOT_FOUND "Key w not found in checkpoint".
  Result<CheckpointEntry> entry(std::string_view name) const;
  /// Names of tensors, sorted; slices are not named.
  Result<std::vector<std::string>> names() const;
  /// A whole tensor, put together if it is there in slices. INVALID_ARGUMENT "Does not have
  /// sufficient slices for …" if they do not cover it, DATA_LOSS for a checksum that does not
  /// match, RESOURCE_EXHAUSTED without room in `allocator`.
  Result<Tensor> read(std::string_view name, Allocator& allocator);
  /// INVALID_ARGUMENT if the tensor has another shape than `full`.
  Result<Tensor> read_slice(std::string_view name, const ShapeAndSlice& wanted,
                            Allocator& allocator);
  int shards() const { return shards_; }
  const TableReader& index() const { return index_; }

private:
  CheckpointReader() = default;
  Result<StorageReader*> data(int shard);
  Result<Tensor> read_entry(std::string_view name, const CheckpointEntry& entry,
                            Allocator& allocator);
  Result<Tensor> assemble(std::string_view name, const CheckpointEntry& entry,
                          const TensorSlice& wanted, const Shape& shape, Allocator& allocator);

  Storage* storage_ = nullptr;
  std::string prefix_;
  GoOn go_on_;
  TableReader index_;
  int shards_ = 0;
  std::map<int, std::unique_ptr<StorageReader>> data_; ///< opened so far
};

/// Makes one checkpoint of several: data files take new names, one index is written, the old ones
/// are removed. With `allow_missing`, prefixes without a checkpoint are passed over.
Status merge_checkpoints(Storage& storage, std::span<const std::string> prefixes,
                         const std::string& to, bool allow_missing);

} // namespace troupe
