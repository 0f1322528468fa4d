// Checkpoints in TensorFlow's first format: named tensors, whole or in slices, in one file or
// several, each of which is a table (storage/table/table.hpp).
//
//   ""                → SavedTensorSlices { meta { tensor { name shape type slice… }…, versions } }
//   slice_key(name,…) → SavedTensorSlices { data { name slice data } }
//
// where `data` is a TensorProto of typed elements alone: elements_message of
// storage/message/tensor_message.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "storage/checkpoint/tensor_slice.hpp"
#include "storage/files/storage.hpp"
#include "storage/table/table.hpp"

namespace troupe {

/// Dtypes that such files have.
bool is_saved_in_v1(DType dtype);

/// Writes one file. Nothing is seen of it before `commit`, which takes one tensor's memory twice.
class CheckpointWriterV1 {
public:
  /// `storage` outlives it.
  CheckpointWriterV1(Storage& storage, std::string file)
      : storage_(storage), file_(std::move(file)) {}
  /// A slice of a tensor of shape `full`, or all of it. In TensorFlow's words: UNIMPLEMENTED
  /// "Saving data type variant not yet supported", INTERNAL "Mismatching shapes: …" or "Mismatching
  /// types: …" if another slice has others, INVALID_ARGUMENT "Tensor slice is too large to
  /// serialize …" above 2 GiB. ALREADY_EXISTS for a slice that is there.
  Status add(std::string_view name, const Shape& full, const TensorSlice& slice, Tensor tensor);
  /// `room` is asked before memory is taken.
  Status commit(Room room = any_room);

private:
  struct Saved {
    std::string name;
    DType dtype = DType::invalid;
    Shape shape;
    std::vector<TensorSlice> slices;
  };
  struct Part {
    std::string name;
    TensorSlice slice;
    Tensor tensor;
  };
  std::string meta_message() const;

  Storage& storage_;
  std::string file_;
  std::vector<Saved> saved_; ///< in the order in which they were added
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::map<std::string, Part> parts_; ///< by key
};

/// Reads the files of a checkpoint. One thread at a time.
class CheckpointReaderV1 {
public:
  static constexpr int all_files = -1;
  /// Opens `preferred` alone at first, if it is one of several files. NOT_FOUND in TensorFlow's
  /// words if there are none; `pattern` is what matched them. DATA_LOSS "Unable to open table file
  /// …", INTERNAL "Overlapping slices: …". `storage` outlives it.
  static Result<CheckpointReaderV1> open(Storage& storage, std::vector<std::string> files,
                                         std::string_view pattern, int preferred = all_files);

  struct Saved {
    DType dtype = DType::invalid;
    Shape shape;
    std::vector<TensorSlice> slices = {};
    std::vector<std::size_t> files = {}; ///< of each slice
  };
  /// Null if none of the files has it. The pointer is valid until the next call.
  Result<const Saved*> find(std::string_view name);
  std::vector<std::string> names() const;
  /// A slice of a tensor that is there, put together of those in the files. INVALID_ARGUMENT "Error
  /// copying slice data" if they do not cover it, DATA_LOSS for damaged ones, RESOURCE_EXHAUSTED
  /// without room in `allocator`.
  Result<Tensor> read(std::string_view name, const TensorSlice& wanted, Allocator& allocator);

private:
  explicit CheckpointReaderV1(Storage& storage) : storage_(&storage) {}
  Status load(std::size_t file);
  Status load_all();
  Status add_meta(std::string_view message, std::size_t file);
  Status add_tensor(std::string_view message, std::size_t file);
  Result<Tensor> read_part(std::string_view name, const Saved& saved, std::size_t slice,
                           Allocator& allocator);

  Storage* storage_;
  std::vector<std::string> files_;
  std::vector<std::optional<TableReader>> tables_; ///< those that were opened
  std::map<std::string, Saved, std::less<>> saved_;
};

} // namespace troupe
