#include "storage/table/table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <snappy.h>

#include "core/base/strings.hpp"
#include "storage/checksum/crc32c.hpp"
#include "storage/message/message.hpp"

namespace troupe {
namespace {

static_assert(std::endian::native == std::endian::little, "tables are little-endian");

constexpr std::size_t block_size = 262'144; // of data, before a new block begins
constexpr int data_interval = 16, index_interval = 1;
constexpr std::size_t footer_size = 48, handles_size = 40, trailer_size = 5;
constexpr std::uint64_t magic = 0xdb4775248b80fb57ULL;
constexpr char plain = 0, compressed = 1;
/// Snappy makes at most 64 bytes of three.
constexpr std::size_t most_expansion = 64;

template <class T>
T load(const char* from) {
  T out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

} // namespace

void TableWriter::Block::add(std::string_view last, std::string_view key, std::string_view value,
                             int interval) {
  std::size_t shared = 0;
  if (restarts.empty() || since_restart == interval) {
    restarts.push_back(static_cast<std::uint32_t>(text.size()));
    since_restart = 0;
  } else {
    shared = static_cast<std::size_t>(std::ranges::mismatch(last, key).in1 - last.begin());
  }
  ++since_restart;
  MessageWriter entry;
  entry.varint(shared).varint(key.size() - shared).varint(value.size());
  text += entry.text();
  text += key.substr(shared);
  text += value;
}

std::string TableWriter::write(Block& block) {
  if (block.restarts.empty())
    block.restarts.push_back(0);
  MessageWriter out;
  for (std::uint32_t restart : block.restarts)
    out.raw(&restart, sizeof restart);
  const auto count = static_cast<std::uint32_t>(block.restarts.size());
  out.raw(&count, sizeof count);
  std::string text = std::move(block.text) + out.text();
  block = {};
  MessageWriter place;
  place.varint(size_).varint(text.size());
  text += plain;
  const std::uint32_t crc = mask_crc(crc32c(text));
  text.append(reinterpret_cast<const char*>(&crc), sizeof crc);
  put(text);
  return place.take();
}

void TableWriter::put(std::string_view text) {
  size_ += text.size();
  if (!to_)
    file_ += text;
  else if (status_.ok())
    status_ = to_(std::as_bytes(std::span(text)));
}

/// The shortest key from `last` on that is below `next`, or, without one, a short one.
static std::string key_between(std::string last, const std::string_view* next) {
  std::size_t at = 0;
  if (next) {
    at = static_cast<std::size_t>(std::ranges::mismatch(last, *next).in1 - last.begin());
    if (at == last.size() || at == next->size())
      return last;
    const auto byte = static_cast<unsigned char>(last[at]);
    if (byte + 1 >= static_cast<unsigned char>((*next)[at]))
      return last;
  } else {
    while (at < last.size() && last[at] == '\xff')
      ++at;
    if (at == last.size())
      return last;
  }
  ++last[at];
  last.resize(at + 1);
  return last;
}

void TableWriter::end_block(const std::string_view* next_key) {
  const std::string key = key_between(last_key_, next_key);
  const std::string place = write(block_);
  index_.add(last_index_key_, key, place, index_interval);
  last_index_key_ = key;
}

void TableWriter::add(std::string_view key, std::string_view value) {
  if (block_.text.size() + 4 * (block_.restarts.size() + 1) >= block_size)
    end_block(&key);
  block_.add(last_key_, key, value, data_interval);
  last_key_ = key;
}

std::string TableWriter::finish() {
  if (!block_.text.empty())
    end_block(nullptr);
  Block metaindex;
  std::string handles = write(metaindex);
  handles += write(index_);
  handles.resize(handles_size);
  handles.append(reinterpret_cast<const char*>(&magic), sizeof magic);
  put(handles);
  return std::move(file_);
}

Status TableReader::lost(std::string_view what) const {
  return data_loss(str_cat("'", name_, "' is no table, or a damaged one: ", what,
                           "; restore the file from where it came from"));
}

Result<TableReader> TableReader::parse(std::string bytes, std::string name) {
  TableReader out;
  out.size_ = bytes.size();
  out.bytes_ = std::move(bytes);
  out.name_ = std::move(name);
  TROUPE_TRY(out.read_index());
  return out;
}

Result<TableReader> TableReader::open(std::shared_ptr<StorageReader> file, std::string name) {
  TableReader out;
  out.size_ = file->size();
  out.file_ = std::move(file);
  out.name_ = std::move(name);
  TROUPE_TRY(out.read_index());
  return out;
}

Result<std::string> TableReader::bytes_at(std::uint64_t offset, std::uint64_t size) const {
  const auto count = static_cast<std::size_t>(size);
  if (!file_)
    return bytes_.substr(static_cast<std::size_t>(offset), count);
  std::string out(count, '\0');
  TROUPE_TRY(file_->read(offset, std::as_writable_bytes(std::span(out))));
  return out;
}

Status TableReader::read_index() {
  if (size_ < footer_size)
    return lost(str_cat("file is too short to be an sstable: it has ", size_, " bytes of at least ",
                        footer_size));
  TROUPE_ASSIGN(const std::string footer, bytes_at(size_ - footer_size, footer_size));
  if (load<std::uint64_t>(footer.data() + handles_size) != magic)
    return lost("not an sstable (bad magic number)");
  std::string_view handles(footer.data(), handles_size);
  if (!take_varint(handles) || !take_varint(handles)) // the metaindex, which is empty
    return lost("its footer has no handles");
  const auto offset = take_varint(handles), length = take_varint(handles);
  if (!offset || !length)
    return lost("its footer has no handle of the index");
  TROUPE_ASSIGN(const std::string index, block(*offset, *length));
  return visit_block(index, [&](std::string_view key, std::string_view value) -> Status {
    const auto at = take_varint(value), bytes_of_block = take_varint(value);
    if (!at || !bytes_of_block)
      return lost("an entry of its index is not the place of a block");
    blocks_.push_back({std::string(key), *at, *bytes_of_block});
    return {};
  });
}

Result<std::string> TableReader::block(std::uint64_t offset, std::uint64_t size, Room room) const {
  const std::uint64_t end = size_ - footer_size;
  if (offset > end || size > end - offset || end - offset - size < trailer_size)
    return lost(str_cat("a block of ", size, " bytes at ", offset, " would lie beyond its end"));
  TROUPE_TRY(room(static_cast<std::size_t>(size + trailer_size)));
  TROUPE_ASSIGN(std::string text, bytes_at(offset, size + trailer_size));
  const auto crc = load<std::uint32_t>(text.data() + size + 1);
  if (unmask_crc(crc) != crc32c({text.data(), static_cast<std::size_t>(size) + 1}))
    return lost(str_cat("the checksum of the block at ", offset, " does not match"));
  const char kind = text[static_cast<std::size_t>(size)];
  text.resize(static_cast<std::size_t>(size));
  if (kind == plain)
    return text;
  if (kind != compressed)
    return lost(str_cat("the block at ", offset, " is compressed in an unknown way, ",
                        static_cast<int>(kind)));
  std::size_t length = 0;
  std::string out;
  if (!snappy::GetUncompressedLength(text.data(), text.size(), &length) ||
      length / most_expansion > text.size())
    return lost(str_cat("the block at ", offset, " is not what snappy makes"));
  TROUPE_TRY(room(length));
  if (!snappy::Uncompress(text.data(), text.size(), &out))
    return lost(str_cat("the block at ", offset, " cannot be decompressed"));
  return out;
}

Status TableReader::visit_block(std::string_view block, Visit visit) const {
  if (block.size() < sizeof(std::uint32_t))
    return lost("a block has no end");
  const std::uint64_t restarts = load<std::uint32_t>(block.data() + block.size() - 4);
  if (restarts > block.size() / 4 - 1)
    return lost("a block has more restart points than bytes");
  std::string_view rest = block.substr(0, block.size() - 4 * (restarts + 1));
  std::string key;
  while (!rest.empty()) {
    const auto shared = take_varint(rest), unshared = take_varint(rest), size = take_varint(rest);
    if (!shared || !unshared || !size || *shared > key.size() || *unshared > rest.size() ||
        *size > rest.size() - *unshared)
      return lost("an entry of a block is longer than the block");
    key.resize(*shared);
    key += rest.substr(0, *unshared);
    TROUPE_TRY(visit(key, rest.substr(*unshared, *size)));
    rest.remove_prefix(*unshared + *size);
  }
  return {};
}

Status TableReader::for_each_from(std::string_view key, Visit visit) const {
  auto first = std::ranges::lower_bound(
      blocks_, key, {}, [](const BlockPlace& b) { return std::string_view(b.last_key); });
  for (auto at = first; at != blocks_.end(); ++at) {
    TROUPE_ASSIGN(const std::string text, block(at->offset, at->size));
    TROUPE_TRY(visit_block(text, [&](std::string_view found, std::string_view value) -> Status {
      return found < key ? Status{} : visit(found, value);
    }));
  }
  return {};
}

Result<std::optional<std::string>> TableReader::find(std::string_view key, Room room) const {
  auto place = std::ranges::lower_bound(
      blocks_, key, {}, [](const BlockPlace& b) { return std::string_view(b.last_key); });
  std::optional<std::string> out;
  if (place == blocks_.end())
    return out;
  TROUPE_ASSIGN(const std::string text, block(place->offset, place->size, room));
  TROUPE_TRY(visit_block(text, [&](std::string_view found, std::string_view value) -> Status {
    if (found == key)
      out = std::string(value);
    return {};
  }));
  return out;
}

} // namespace troupe
