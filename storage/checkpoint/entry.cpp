// What an index holds: messages of entries and of the header, names of files.
#include <cstdio>

#include "core/base/strings.hpp"
#include "storage/checkpoint/checkpoint.hpp"
#include "storage/checkpoint/internal/shape_message.hpp"
#include "storage/message/message.hpp"

namespace troupe {
std::string CheckpointEntry::to_message() const {
  MessageWriter out;
  out.signed_integer(1, static_cast<std::int64_t>(dtype));
  out.bytes(2, checkpoint::shape_message(shape));
  if (shard != 0)
    out.signed_integer(3, shard);
  if (offset != 0)
    out.integer(4, offset);
  if (size != 0)
    out.integer(5, size);
  if (crc != 0)
    out.fixed32(6, crc);
  for (const TensorSlice& slice : slices)
    out.bytes(7, slice.to_message());
  return out.take();
}

Result<CheckpointEntry> CheckpointEntry::from_message(std::string_view name,
                                                      std::string_view message) {
  CheckpointEntry out;
  bool good = true;
  MessageReader in(message);
  while (in.next()) {
    if (in.field() == 1)
      out.dtype = static_cast<DType>(in.signed_integer());
    else if (in.field() == 2)
      good = good && checkpoint::read_shape(in.bytes(), out.shape);
    else if (in.field() == 3)
      out.shard = static_cast<int>(in.signed_integer());
    else if (in.field() == 4)
      out.offset = in.integer();
    else if (in.field() == 5)
      out.size = in.integer();
    else if (in.field() == 6)
      out.crc = in.fixed32();
    else if (in.field() == 7) {
      auto slice = TensorSlice::from_message(in.bytes());
      good = good && slice && slice->shape_in(out.shape).ok();
      if (good)
        out.slices.push_back(*std::move(slice));
    }
  }
  if (!in.ok() || !good || !is_known(out.dtype) || is_ref(out.dtype) || out.shard < 0)
    return data_loss(
        str_cat("the entry of tensor '", name, "' in the checkpoint's index is damaged"));
  return out;
}

std::string checkpoint_index_name(std::string_view prefix) {
  return str_cat(prefix, ".index");
}

std::string checkpoint_data_name(std::string_view prefix, int shard, int shards) {
  char ending[48];
  std::snprintf(ending, sizeof ending, ".data-%05d-of-%05d", shard, shards);
  return str_cat(prefix, ending);
}

} // namespace troupe
