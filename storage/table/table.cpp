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
  place.varint(file_.size()).varint(text.size());
  text += plain;
  const std::uint32_t crc = mask_crc(crc32c(text));
  file_ += text;
  file_.append(reinterpret_cast<const char*>(&crc), sizeof crc);
  return place.take();
}

void TableWriter::end_block() {
  const std::string place = write(block_);
  index_.add(last_index_key_, last_key_, place, index_interval);
  last_index_key_ = last_key_;
}

void TableWriter::add(std::string_view key, std::string_view value) {
  block_.add(last_key_, key, value, data_interval);
  last_key_ = key;
  if (block_.text.size() >= block_size)
    end_block();
}

std::string TableWriter::finish() {
  if (!block_.text.empty())
    end_block();
  Block metaindex;
  std::string handles = write(metaindex);
  handles += write(index_);
  handles.resize(handles_size);
  file_ += handles;
  file_.append(reinterpret_cast<const char*>(&magic), sizeof magic);
  return std::move(file_);
}

Status TableReader::lost(std::string_view what) const {
  return data_loss(str_cat("'", name_, "' is no table, or a damaged one: ", what,
                           "; restore the file from where it came from"));
}

Result<TableReader> TableReader::parse(std::string bytes, std::string name) {
  TableReader out;
  out.bytes_ = std::move(bytes);
  out.name_ = std::move(name);
  const std::size_t size = out.bytes_.size();
  if (size < footer_size)
    return out.lost(str_cat("it has ", size, " bytes, a table has at least ", footer_size));
  const char* footer = out.bytes_.data() + size - footer_size;
  if (load<std::uint64_t>(footer + handles_size) != magic)
    return out.lost("its last 8 bytes are not those of a table");
  std::string_view handles(footer, handles_size);
  if (!take_varint(handles) || !take_varint(handles)) // the metaindex, which is empty
    return out.lost("its footer has no handles");
  const auto offset = take_varint(handles), length = take_varint(handles);
  if (!offset || !length)
    return out.lost("its footer has no handle of the index");
  TROUPE_ASSIGN(const std::string index, out.block(*offset, *length));
  TROUPE_TRY(out.visit_block(index, [&](std::string_view key, std::string_view value) -> Status {
    const auto at = take_varint(value), bytes_of_block = take_varint(value);
    if (!at || !bytes_of_block)
      return out.lost("an entry of its index is not the place of a block");
    out.blocks_.push_back({std::string(key), *at, *bytes_of_block});
    return {};
  }));
  return out;
}

Result<std::string> TableReader::block(std::uint64_t offset, std::uint64_t size) const {
  const std::uint64_t end = bytes_.size() - footer_size;
  if (offset > end || size > end - offset || end - offset - size < trailer_size)
    return lost(str_cat("a block of ", size, " bytes at ", offset, " would lie beyond its end"));
  const std::string_view text(bytes_.data() + offset, static_cast<std::size_t>(size));
  const char* trailer = text.data() + text.size();
  const auto crc = load<std::uint32_t>(trailer + 1);
  if (unmask_crc(crc) != crc32c({text.data(), text.size() + 1}))
    return lost(str_cat("the checksum of the block at ", offset, " does not match"));
  if (*trailer == plain)
    return std::string(text);
  if (*trailer != compressed)
    return lost(str_cat("the block at ", offset, " is compressed in an unknown way, ",
                        static_cast<int>(*trailer)));
  std::size_t length = 0;
  std::string out;
  if (!snappy::GetUncompressedLength(text.data(), text.size(), &length) ||
      length / most_expansion > text.size())
    return lost(str_cat("the block at ", offset, " is not what snappy makes"));
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

Result<std::optional<std::string>> TableReader::find(std::string_view key) const {
  auto place = std::ranges::lower_bound(
      blocks_, key, {}, [](const BlockPlace& b) { return std::string_view(b.last_key); });
  std::optional<std::string> out;
  if (place == blocks_.end())
    return out;
  TROUPE_ASSIGN(const std::string text, block(place->offset, place->size));
  TROUPE_TRY(visit_block(text, [&](std::string_view found, std::string_view value) -> Status {
    if (found == key)
      out = std::string(value);
    return {};
  }));
  return out;
}

} // namespace troupe
