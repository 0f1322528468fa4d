#include "storage/checkpoint/checkpoint_v1.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "storage/checkpoint/internal/charge.hpp"
#include "storage/checkpoint/internal/shape_message.hpp"
#include "storage/message/tensor_message.hpp"

namespace troupe {
namespace {

constexpr std::int64_t version = 1;                          // of this format
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 31; // of one slice, as a message

/// Bytes of an element in a message, at most.
std::uint64_t most_bytes_of(DType dtype) {
  switch (dtype) {
  case DType::float32:
    return 4;
  case DType::float64:
  case DType::complex64:
    return 8;
  case DType::complex128:
    return 16;
  case DType::bool_:
    return 1;
  case DType::uint8:
  case DType::quint8:
    return 2;
  case DType::uint16:
  case DType::quint16:
  case DType::float16:
    return 3;
  default:
    return 10;
  }
}

/// Of the message of a slice, at most.
std::uint64_t most_bytes_of(const Tensor& tensor) {
  constexpr std::uint64_t header = 1 << 10;
  std::uint64_t out =
      header + static_cast<std::uint64_t>(tensor.num_elements()) * most_bytes_of(tensor.dtype());
  if (tensor.dtype() == DType::string)
    for (const std::string& text : tensor.data<std::string>())
      out += text.size();
  return out;
}

} // namespace

bool is_saved_in_v1(DType dtype) {
  switch (dtype) {
  case DType::float16:
  case DType::float32:
  case DType::float64:
  case DType::int8:
  case DType::int16:
  case DType::int32:
  case DType::int64:
  case DType::uint8:
  case DType::uint16:
  case DType::uint32:
  case DType::uint64:
  case DType::bool_:
  case DType::complex64:
  case DType::complex128:
  case DType::qint8:
  case DType::quint8:
  case DType::qint32:
  case DType::string:
    return true;
  default:
    return false;
  }
}

Status CheckpointWriterV1::add(std::string_view name, const Shape& full, const TensorSlice& slice,
                               Tensor tensor) {
  if (!is_saved_in_v1(tensor.dtype()))
    return unimplemented(
        str_cat("Saving data type ", to_string(tensor.dtype()), " not yet supported"));
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) {
    const Saved& there = saved_[found->second];
    if (there.shape != full)
      return internal(str_cat("Mismatching shapes: existing tensor = ", there.shape,
                              ", trying to add name ", name, ", shape = ", full));
    if (there.dtype != tensor.dtype())
      return internal(str_cat("Mismatching types: existing type = ", to_string(there.dtype),
                              ", trying to add name ", name,
                              ", type = ", to_string(tensor.dtype())));
  }
  if (const std::uint64_t size = most_bytes_of(tensor); size > most_bytes)
    return invalid_argument(str_cat(
        "Tensor slice is too large to serialize (conservative estimate: ", size, " bytes)"));
  std::string key = slice_key(name, slice);
  if (parts_.contains(key)) // TensorFlow writes a file that nobody can read
    return already_exists(str_cat("Adding duplicate key: ", name, " ", slice));
  if (found == by_name_.end()) {
    by_name_.emplace(name, saved_.size());
    saved_.push_back({std::string(name), tensor.dtype(), full, {slice}});
  } else {
    saved_[found->second].slices.push_back(slice);
  }
  parts_.emplace(std::move(key), Part{std::string(name), slice, std::move(tensor)});
  return {};
}

std::string CheckpointWriterV1::meta_message() const {
  MessageWriter meta;
  for (const Saved& saved : saved_) {
    MessageWriter tensor;
    if (!saved.name.empty())
      tensor.bytes(1, saved.name);
    tensor.bytes(2, checkpoint::shape_message(saved.shape));
    tensor.signed_integer(3, static_cast<std::int64_t>(saved.dtype));
    for (const TensorSlice& slice : saved.slices)
      tensor.bytes(4, slice.to_message());
    meta.message(1, tensor);
  }
  MessageWriter versions;
  versions.signed_integer(1, version);
  meta.message(2, versions);
  MessageWriter out;
  out.message(1, meta);
  return out.take();
}

Status CheckpointWriterV1::commit(Room room) {
  TROUPE_ASSIGN(auto file, storage_.write(file_));
  TableWriter table([&](std::span<const std::byte> bytes) { return file->append(bytes); });
  table.add("", meta_message());
  for (const auto& [key, part] : parts_) {
    // The elements, the messages around them, and the table's block.
    TROUPE_TRY(room(static_cast<std::size_t>(3 * most_bytes_of(part.tensor))));
    TROUPE_ASSIGN(const std::string elements, elements_message(part.tensor));
    MessageWriter data, out;
    if (!part.name.empty())
      data.bytes(1, part.name);
    data.bytes(2, part.slice.to_message()).bytes(3, elements);
    out.message(2, data);
    table.add(key, out.text());
    TROUPE_TRY(table.status());
  }
  (void)table.finish();
  TROUPE_TRY(table.status());
  return file->commit();
}

Result<CheckpointReaderV1> CheckpointReaderV1::open(Storage& storage,
                                                    std::vector<std::string> files,
                                                    std::string_view pattern, int preferred) {
  if (files.empty())
    return not_found(str_cat("Unsuccessful TensorSliceReader constructor: Failed to find any "
                             "matching files for ",
                             pattern));
  CheckpointReaderV1 out(storage);
  out.files_ = std::move(files);
  out.tables_.resize(out.files_.size());
  const bool one = preferred >= 0 && preferred < static_cast<int>(out.files_.size());
  TROUPE_TRY(one ? out.load(static_cast<std::size_t>(preferred)) : out.load_all());
  return out;
}

Status CheckpointReaderV1::load_all() {
  for (std::size_t i = 0; i < files_.size(); ++i)
    TROUPE_TRY(load(i));
  return {};
}

Status CheckpointReaderV1::load(std::size_t file) {
  if (tables_[file])
    return {};
  const std::string& name = files_[file];
  const auto cannot_open = [&](const Status& why, std::string_view advice) {
    return data_loss(str_cat("Unable to open table file ", name, ": ", why.to_string(), advice));
  };
  auto opened = storage_->open(name);
  if (!opened.ok())
    return cannot_open(opened.status(), "");
  auto table = TableReader::open(*std::move(opened), name);
  if (!table.ok())
    return cannot_open(table.status(),
                       ": perhaps your file is in a different file format and you need to use a "
                       "different restore operator?");
  TROUPE_ASSIGN(const auto first, table->find(""));
  std::optional<std::string_view> meta;
  if (first) {
    MessageReader in(*first);
    while (in.next())
      if (in.field() == 1)
        meta = in.bytes();
    if (!in.ok())
      meta.reset();
  }
  if (!meta)
    return internal(str_cat("Failed to find the saved tensor slices at the beginning of the "
                            "checkpoint file: ",
                            name));
  TROUPE_TRY(add_meta(*meta, file));
  tables_[file] = *std::move(table);
  return {};
}

Status CheckpointReaderV1::add_meta(std::string_view message, std::size_t file) {
  MessageReader in(message);
  while (in.next()) {
    if (in.field() == 1)
      TROUPE_TRY(add_tensor(in.bytes(), file));
    if (in.field() != 2)
      continue;
    MessageReader versions(in.bytes());
    while (versions.next())
      if (versions.field() == 2 && versions.signed_integer() > version)
        return invalid_argument(str_cat("Checkpoint min consumer version ",
                                        versions.signed_integer(), " above current version ",
                                        version, " for '", files_[file],
                                        "'; it was written by a newer TensorFlow"));
  }
  return in.ok() ? Status{}
                 : data_loss(str_cat("the contents of '", files_[file], "' are damaged"));
}

Status CheckpointReaderV1::add_tensor(std::string_view message, std::size_t file) {
  std::string name;
  Saved now;
  bool good = true;
  MessageReader in(message);
  while (good && in.next()) {
    if (in.field() == 1)
      name = in.bytes();
    else if (in.field() == 2)
      good = checkpoint::read_shape(in.bytes(), now.shape);
    else if (in.field() == 3)
      now.dtype = static_cast<DType>(in.signed_integer());
    else if (in.field() == 4) {
      auto slice = TensorSlice::from_message(in.bytes());
      good = slice && slice->shape_in(now.shape).ok();
      if (good)
        now.slices.push_back(*std::move(slice));
    }
  }
  if (!in.ok() || !good || !is_known(now.dtype) || is_ref(now.dtype))
    return data_loss(str_cat("what '", files_[file], "' says of tensor '", name, "' is damaged"));
  now.files.assign(now.slices.size(), file);
  const auto [found, is_new] = saved_.try_emplace(name, now);
  Saved& there = found->second;
  if (is_new)
    return check_disjoint(there.slices, there.shape);
  if (there.shape != now.shape)
    return internal(str_cat("Incompatible tensor shapes detected for tensor ", name,
                            ": existing = ", there.shape, ", new = ", now.shape));
  if (there.dtype != now.dtype)
    return internal(str_cat("Incompatible tensor types detected for tensor ", name, ": existing = ",
                            to_string(there.dtype), ", new = ", to_string(now.dtype)));
  there.slices.insert(there.slices.end(), now.slices.begin(), now.slices.end());
  there.files.insert(there.files.end(), now.files.begin(), now.files.end());
  return check_disjoint(there.slices, there.shape, there.slices.size() - now.slices.size());
}

Result<const CheckpointReaderV1::Saved*> CheckpointReaderV1::find(std::string_view name) {
  auto found = saved_.find(name);
  if (found == saved_.end()) {
    TROUPE_TRY(load_all());
    found = saved_.find(name);
  }
  return found == saved_.end() ? nullptr : &found->second;
}

std::vector<std::string> CheckpointReaderV1::names() const {
  std::vector<std::string> out;
  for (const auto& [name, saved] : saved_)
    out.push_back(name);
  return out;
}

Result<Tensor> CheckpointReaderV1::read_part(std::string_view name, const Saved& saved,
                                             std::size_t slice, Allocator& allocator) {
  const TensorSlice& which = saved.slices[slice];
  const auto damaged = [&](std::string_view what) {
    return data_loss(str_cat("slice ", which, " of tensor '", name, "' in '",
                             files_[saved.files[slice]], "' is damaged: ", what));
  };
  checkpoint::Charge charge(allocator, name);
  const auto room = [&](std::size_t bytes) { return charge.add(2 * bytes); }; // block and value
  TROUPE_ASSIGN(const auto message,
                tables_[saved.files[slice]]->find(slice_key(name, which), room));
  if (!message)
    return damaged("it has no entry");
  TROUPE_ASSIGN(const Shape shape, which.shape_in(saved.shape));
  std::string_view elements;
  bool good = true;
  MessageReader in(*message);
  while (in.next()) {
    if (in.field() != 2)
      continue;
    MessageReader data(in.bytes());
    while (data.next())
      if (data.field() == 3)
        elements = data.bytes();
    good = good && data.ok();
  }
  if (!in.ok() || !good)
    return damaged("its entry is no message");
  auto tensor = tensor_from_elements(elements, saved.dtype, shape, allocator);
  if (tensor.status().code() == Code::invalid_argument)
    return damaged(tensor.status().message());
  return tensor;
}

Result<Tensor> CheckpointReaderV1::read(std::string_view name, const TensorSlice& wanted,
                                        Allocator& allocator) {
  TROUPE_ASSIGN(const Saved* found, find(name));
  if (!found)
    return not_found(str_cat(name, " not found in checkpoint file"));
  TROUPE_TRY(load_all()); // another file may have more slices of it
  const Saved& saved = *found;
  TROUPE_ASSIGN(const Shape shape, wanted.shape_in(saved.shape));
  if (!is_saved_in_v1(saved.dtype))
    return unimplemented(
        str_cat("Restoring data type ", to_string(saved.dtype), " not yet supported"));
  for (std::size_t i = 0; i < saved.slices.size(); ++i)
    if (saved.slices[i] == wanted)
      return read_part(name, saved, i, allocator);
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(allocator, saved.dtype, shape));
  std::int64_t filled = 0;
  for (std::size_t i = 0; filled < shape.num_elements() && i < saved.slices.size(); ++i) {
    if (!have_common(saved.shape, saved.slices[i], wanted))
      continue;
    TROUPE_ASSIGN(const Tensor part, read_part(name, saved, i, allocator));
    filled += copy_common(saved.shape, saved.slices[i], part, wanted, out);
  }
  if (filled != shape.num_elements())
    return invalid_argument(str_cat("Error copying slice data: the slices of '", name,
                                    "' in the checkpoint do not cover ", wanted, " of its shape ",
                                    saved.shape));
  TROUPE_TRY(out.settle(allocator));
  return out;
}

} // namespace troupe
