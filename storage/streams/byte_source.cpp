#include "storage/streams/byte_source.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

constexpr std::size_t piece = 256 << 10; // bytes that are read at once

class FileSource final : public ByteSource {
public:
  explicit FileSource(std::unique_ptr<StorageReader> file)
      : file_(std::move(file)), left_(file_->size()) {}

  Result<std::size_t> read(std::span<std::byte> out) override {
    std::size_t done = 0;
    while (done < out.size() && left_ > 0) {
      const std::span<std::byte> rest = out.subspan(done);
      std::size_t taken = 0;
      if (at_ == buffer_.size() && rest.size() >= piece) { // no use for the buffer
        taken = static_cast<std::size_t>(std::min<std::uint64_t>(rest.size(), left_));
        TROUPE_TRY(file_->read(file_->size() - left_, rest.first(taken)));
      } else {
        TROUPE_TRY(fill());
        taken = std::min(rest.size(), buffer_.size() - at_);
        std::memcpy(rest.data(), buffer_.data() + at_, taken);
        at_ += taken;
      }
      left_ -= taken;
      done += taken;
    }
    return done;
  }

  Result<std::uint64_t> skip(std::uint64_t count) override {
    count = std::min(count, left_);
    at_ += static_cast<std::size_t>(std::min<std::uint64_t>(count, buffer_.size() - at_));
    left_ -= count;
    if (at_ == buffer_.size())
      drop();
    return count;
  }

  std::optional<std::uint64_t> left() const override { return left_; }

private:
  void drop() {
    buffer_.clear();
    at_ = 0;
  }
  /// At least one byte, of which there is one.
  Status fill() {
    if (at_ < buffer_.size())
      return {};
    drop();
    buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(piece, left_)));
    return file_->read(file_->size() - left_, std::as_writable_bytes(std::span(buffer_)));
  }

  std::unique_ptr<StorageReader> file_;
  std::uint64_t left_; ///< behind what was given, in the buffer and the file
  std::string buffer_; ///< its bytes from at_ on are the next of the file
  std::size_t at_ = 0;
};

class MemorySource final : public ByteSource {
public:
  explicit MemorySource(std::string_view bytes) : rest_(bytes) {}
  Result<std::size_t> read(std::span<std::byte> out) override {
    const std::size_t taken = std::min(out.size(), rest_.size());
    std::memcpy(out.data(), rest_.data(), taken);
    rest_.remove_prefix(taken);
    return taken;
  }
  Result<std::uint64_t> skip(std::uint64_t count) override {
    count = std::min<std::uint64_t>(count, rest_.size());
    rest_.remove_prefix(static_cast<std::size_t>(count));
    return count;
  }
  std::optional<std::uint64_t> left() const override { return rest_.size(); }

private:
  std::string_view rest_;
};

} // namespace

std::unique_ptr<ByteSource> read_in_order(std::string_view bytes) {
  return std::make_unique<MemorySource>(bytes);
}

Result<std::uint64_t> ByteSource::skip(std::uint64_t count) {
  std::string dropped(static_cast<std::size_t>(std::min<std::uint64_t>(count, piece)), '\0');
  std::uint64_t done = 0;
  while (done < count) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count - done, piece));
    TROUPE_ASSIGN(const std::size_t got,
                  read(std::as_writable_bytes(std::span(dropped.data(), wanted))));
    done += got;
    if (got < wanted)
      break;
  }
  return done;
}

Result<Compression> parse_compression(std::string_view name) {
  if (name.empty() || name == "NONE")
    return Compression::none;
  if (name == "ZLIB")
    return Compression::zlib;
  if (name == "GZIP")
    return Compression::gzip;
  return invalid_argument(
      str_cat("Only ZLIB, GZIP or NONE are supported compressions, not '", name, "'"));
}

std::unique_ptr<ByteSource> read_in_order(std::unique_ptr<StorageReader> file) {
  return std::make_unique<FileSource>(std::move(file));
}

std::unique_ptr<ByteSource> read_in_order(std::unique_ptr<StorageReader> file, Compression how) {
  auto bytes = read_in_order(std::move(file));
  return how == Compression::none ? std::move(bytes) : decompressed(std::move(bytes), how);
}

Result<std::uint64_t> append_bytes(ByteSource& from, std::uint64_t count, std::string& to,
                                   Room room) {
  // What is known to be there is read at once; of the rest a piece at a time, each as large as what
  // is there already.
  if (const auto left = from.left())
    count = std::min(count, *left);
  std::size_t step = from.left() ? to.max_size() : piece;
  std::uint64_t done = 0;
  while (done < count) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count - done, step));
    TROUPE_TRY(room(wanted));
    const std::size_t begin = to.size();
    to.resize(begin + wanted);
    TROUPE_ASSIGN(const std::size_t got,
                  from.read(std::as_writable_bytes(std::span(to.data() + begin, wanted))));
    done += got;
    if (got < wanted) {
      to.resize(begin + got);
      break;
    }
    step = std::max<std::size_t>(step, static_cast<std::size_t>(done));
  }
  return done;
}

LineReader::LineReader(std::unique_ptr<ByteSource> bytes, Dropped dropped)
    : bytes_(std::move(bytes)), dropped_(dropped) {}

Result<bool> LineReader::next(std::string& line, Room room) {
  constexpr std::size_t most_read = 64 << 10;
  line.clear();
  bool has_end = false;
  while (!has_end) {
    if (at_ == buffer_.size()) {
      if (is_over_)
        break;
      buffer_.resize(most_read);
      at_ = 0;
      TROUPE_ASSIGN(const std::size_t got,
                    bytes_->read(std::as_writable_bytes(std::span(buffer_))));
      buffer_.resize(got);
      is_over_ = got < most_read;
      continue;
    }
    const std::string_view rest = std::string_view(buffer_).substr(at_);
    const std::string_view part = rest.substr(0, rest.find('\n'));
    has_end = part.size() < rest.size();
    TROUPE_TRY(room(part.size()));
    line += part;
    at_ += part.size() + (has_end ? 1 : 0);
    position_ += part.size() + (has_end ? 1 : 0);
  }
  if (dropped_ == Dropped::everywhere)
    std::erase(line, '\r');
  else if (line.ends_with('\r'))
    line.pop_back();
  return has_end || !line.empty();
}

} // namespace troupe
