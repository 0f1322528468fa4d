// Files that graphs read. The first byte says which kind the rest is: records in three kinds of
// compression, lines, a checkpoint of the first format, the index of one of the second, a tensor as
// a message.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.hpp"
#include "storage/checkpoint/checkpoint.hpp"
#include "storage/checkpoint/checkpoint_v1.hpp"
#include "storage/files/testing/simulated_disk.hpp"
#include "storage/message/tensor_message.hpp"
#include "storage/records/records.hpp"

namespace {

using namespace troupe;

constexpr std::size_t most_memory = 64 << 20;

/// Refuses what no file of the fuzzer's size needs.
class Bounded final : public Allocator {
public:
  const char* name() const override { return "bounded"; }
  void* allocate(std::size_t bytes) override {
    return bytes > most_memory ? nullptr : host_allocator().allocate(bytes);
  }
  void deallocate(void* memory, std::size_t bytes) override {
    host_allocator().deallocate(memory, bytes);
  }
  bool charge(std::size_t bytes) override { return bytes <= most_memory; }
};

void read_records(std::unique_ptr<StorageReader> file, Compression how) {
  RecordReader reader(read_in_order(std::move(file), how));
  std::string record;
  std::size_t taken = 0;
  const auto room = [&](std::size_t bytes) -> Status {
    taken += bytes;
    return taken > most_memory ? resource_exhausted("too much") : Status{};
  };
  for (;;) {
    const auto more = reader.next(record, room);
    if (!more.ok() || !*more)
      return;
    TROUPE_CHECK(record.size() <= taken, "a record has room");
  }
}

void read_lines(std::unique_ptr<StorageReader> file) {
  const std::uint64_t size = file->size();
  LineReader reader(read_in_order(std::move(file)));
  std::string line;
  for (;;) {
    const auto more = reader.next(line);
    TROUPE_CHECK(more.ok() && line.size() <= size, "lines are parts of the file");
    if (!*more)
      return;
  }
}

void read_v1(Storage& storage, Allocator& memory) {
  auto reader = CheckpointReaderV1::open(storage, {"f"}, "f");
  if (!reader.ok())
    return;
  for (const std::string& name : reader->names()) {
    const auto found = reader->find(name);
    if (!found.ok() || !*found)
      continue;
    TensorSlice whole;
    whole.extents.resize(static_cast<std::size_t>((*found)->shape.rank()));
    const Shape shape = (*found)->shape;
    const auto value = reader->read(name, whole, memory);
    TROUPE_CHECK(!value.ok() || value->shape() == shape, "a tensor has its shape");
  }
}

void read_index(Storage& storage, Allocator& memory) {
  auto reader = CheckpointReader::open(storage, "f");
  if (!reader.ok())
    return;
  const auto names = reader->names();
  for (std::size_t i = 0; names.ok() && i < names->size(); ++i)
    (void)reader->read((*names)[i], memory);
}

void read_message(std::string_view message, Allocator& memory) {
  const auto tensor = tensor_from_message(message, memory);
  if (!tensor.ok())
    return;
  const auto written = tensor_message(*tensor);
  TROUPE_CHECK(written.ok(), "what was read is written");
  const auto again = tensor_from_message(*written, memory);
  TROUPE_CHECK(again.ok() && again->shape() == tensor->shape(), "and read again");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  Bounded memory;
  if (data[0] == '6') {
    read_message(rest, memory);
    return 0;
  }
  testing::SimulatedDisk disk;
  auto storage = make_local_storage("/disk", disk);
  TROUPE_CHECK(storage->put(data[0] == '5' ? "f.index" : "f", rest).ok(), "the disk works");
  TROUPE_CHECK(storage->put("f.data-00000-of-00001", std::string(4096, 'x')).ok(), "still");
  if (data[0] == '5') {
    read_index(*storage, memory);
    return 0;
  }
  if (data[0] == '4') {
    read_v1(*storage, memory);
    return 0;
  }
  auto file = storage->open("f");
  TROUPE_CHECK(file.ok(), "and still");
  if (data[0] == '3')
    read_lines(*std::move(file));
  else
    read_records(*std::move(file), data[0] == '1'   ? Compression::zlib
                                   : data[0] == '2' ? Compression::gzip
                                                    : Compression::none);
  return 0;
}
