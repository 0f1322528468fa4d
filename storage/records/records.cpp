#include "storage/records/records.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "core/base/strings.hpp"
#include "storage/checksum/crc32c.hpp"

namespace troupe {
namespace {

static_assert(std::endian::native == std::endian::little, "records are little-endian");

template <class T>
T load(const char* from) {
  T out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

std::array<char, record_header_bytes> header_of(std::string_view text) {
  const std::uint64_t length = text.size();
  std::array<char, record_header_bytes> out;
  std::memcpy(out.data(), &length, sizeof length);
  const std::uint32_t crc = mask_crc(crc32c({out.data(), sizeof length}));
  std::memcpy(out.data() + sizeof length, &crc, sizeof crc);
  return out;
}

} // namespace

Status RecordReader::truncated() const {
  return data_loss(
      str_cat("truncated record at ", offset_, "' failed with Read less bytes than requested"));
}

Result<std::optional<std::uint64_t>> RecordReader::read_length() {
  std::array<char, record_header_bytes> header;
  TROUPE_ASSIGN(const std::size_t got, bytes_->read(std::as_writable_bytes(std::span(header))));
  if (got < header.size())
    return std::optional<std::uint64_t>();
  const auto length = load<std::uint64_t>(header.data());
  if (unmask_crc(load<std::uint32_t>(header.data() + sizeof length)) !=
      crc32c({header.data(), sizeof length}))
    return data_loss(str_cat("corrupted record at ", offset_,
                             offset_ == 0 ? " (Is this even a TFRecord file?)" : ""));
  if (length > std::uint64_t{1} << 62)
    return data_loss(str_cat("record size too large, ", length, " bytes at ", offset_));
  if (const auto left = bytes_->left(); left && length + record_footer_bytes > *left)
    return truncated();
  return std::optional(length);
}

Result<bool> RecordReader::next(std::string& record, Room room) {
  record.clear();
  TROUPE_ASSIGN(const auto length, read_length());
  if (!length)
    return false;
  const std::uint64_t wanted = *length + record_footer_bytes;
  TROUPE_ASSIGN(const std::uint64_t got, append_bytes(*bytes_, wanted, record, room));
  if (got < wanted)
    return truncated();
  const auto crc = load<std::uint32_t>(record.data() + *length);
  record.resize(static_cast<std::size_t>(*length));
  if (unmask_crc(crc) != crc32c(record))
    return data_loss(str_cat("corrupted record at ", offset_ + record_header_bytes));
  offset_ += record_header_bytes + wanted;
  return true;
}

Result<std::uint64_t> RecordReader::skip(std::uint64_t count) {
  for (std::uint64_t done = 0; done < count; ++done) {
    TROUPE_ASSIGN(const auto length, read_length());
    if (!length)
      return done;
    const std::uint64_t wanted = *length + record_footer_bytes;
    TROUPE_ASSIGN(const std::uint64_t got, bytes_->skip(wanted));
    if (got < wanted)
      return truncated();
    offset_ += record_header_bytes + wanted;
  }
  return count;
}

void append_record(std::string& to, std::string_view text) {
  const auto header = header_of(text);
  const std::uint32_t crc = mask_crc(crc32c(text));
  to.append(header.data(), header.size());
  to += text;
  to.append(reinterpret_cast<const char*>(&crc), sizeof crc);
}

RecordWriter::RecordWriter(Append to, Compression how, int level) : to_(std::move(to)) {
  if (how == Compression::none)
    return;
  deflater_ = std::make_unique<Deflater>(to_, how, level);
  to_ = [deflater = deflater_.get()](std::span<const std::byte> bytes) {
    return deflater->append(bytes);
  };
}

Status RecordWriter::write(std::string_view text) {
  const auto header = header_of(text);
  const std::uint32_t crc = mask_crc(crc32c(text));
  TROUPE_TRY(to_(std::as_bytes(std::span(header))));
  TROUPE_TRY(to_(std::as_bytes(std::span(text))));
  return to_(std::as_bytes(std::span(&crc, 1)));
}

Status RecordWriter::flush() {
  return deflater_ ? deflater_->flush() : Status{};
}

Status RecordWriter::finish() {
  return deflater_ ? deflater_->finish() : Status{};
}

} // namespace troupe
