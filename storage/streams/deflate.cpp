#include "storage/streams/deflate.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <zlib.h>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

constexpr std::size_t part = 256 << 10;

int window_bits(Compression how) {
  return how == Compression::gzip ? MAX_WBITS + 16 : MAX_WBITS;
}

Status failed(std::string_view what, int error, const z_stream& stream) {
  std::string text = str_cat(what, " failed with error ", error);
  if (stream.msg)
    str_append(text, ": ", stream.msg);
  return data_loss(std::move(text));
}

class InflatedSource final : public ByteSource {
public:
  InflatedSource(std::unique_ptr<ByteSource> bytes, Compression how)
      : bytes_(std::move(bytes)), how_(how) {}
  InflatedSource(const InflatedSource&) = delete;
  InflatedSource& operator=(const InflatedSource&) = delete;
  ~InflatedSource() override {
    if (is_open_)
      ::inflateEnd(&stream_);
  }

  Result<std::size_t> read(std::span<std::byte> out) override {
    if (!is_open_) {
      if (::inflateInit2(&stream_, window_bits(how_)) != Z_OK)
        return resource_exhausted("there is no memory to decompress with");
      is_open_ = true;
    }
    std::size_t done = 0;
    while (done < out.size() && !is_over_) {
      TROUPE_TRY(fill());
      const std::size_t wanted = std::min<std::size_t>(out.size() - done, most);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + done);
      stream_.avail_out = static_cast<uInt>(wanted);
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = wanted - stream_.avail_out;
      done += made;
      if (result == Z_STREAM_END) {
        if (how_ == Compression::gzip)
          ::inflateReset(&stream_);
        else
          is_over_ = true;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return failed("inflate()", result, stream_);
      }
      // Without input and without progress there is no more to come.
      if (made == 0 && stream_.avail_in == 0 && is_input_over_)
        is_over_ = true;
    }
    return done;
  }

private:
  static constexpr std::size_t most = std::numeric_limits<int>::max();

  Status fill() {
    if (stream_.avail_in > 0 || is_input_over_)
      return {};
    input_.resize(part);
    TROUPE_ASSIGN(const std::size_t got, bytes_->read(std::as_writable_bytes(std::span(input_))));
    is_input_over_ = got < part;
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
    return {};
  }

  std::unique_ptr<ByteSource> bytes_;
  const Compression how_;
  z_stream stream_{};
  std::string input_;
  bool is_open_ = false, is_input_over_ = false, is_over_ = false;
};

} // namespace

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> bytes, Compression how) {
  return std::make_unique<InflatedSource>(std::move(bytes), how);
}

struct Deflater::State {
  Append to;
  z_stream stream{};
  std::string output;
  bool is_open = false;
  ~State() {
    if (is_open)
      ::deflateEnd(&stream);
  }
};

Deflater::Deflater(Append to, Compression how, int level) : state_(std::make_unique<State>()) {
  constexpr int memory = 9; // zlib's largest, as TensorFlow has it
  state_->to = std::move(to);
  state_->output.resize(part);
  state_->is_open = ::deflateInit2(&state_->stream, level, Z_DEFLATED, window_bits(how), memory,
                                   Z_DEFAULT_STRATEGY) == Z_OK;
}
Deflater::~Deflater() = default;
Deflater::Deflater(Deflater&&) noexcept = default;
Deflater& Deflater::operator=(Deflater&&) noexcept = default;

/// Takes all input, and hands on what there is of output.
Status Deflater::run(int mode) {
  if (!state_->is_open)
    return resource_exhausted("there is no memory to compress with");
  z_stream& stream = state_->stream;
  for (;;) {
    stream.next_out = reinterpret_cast<Bytef*>(state_->output.data());
    stream.avail_out = static_cast<uInt>(part);
    const int result = ::deflate(&stream, mode);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      return failed("deflate()", result, stream);
    const std::size_t made = part - stream.avail_out;
    if (made > 0)
      TROUPE_TRY(state_->to(std::as_bytes(std::span(state_->output.data(), made))));
    if (stream.avail_out > 0)
      return {};
  }
}

Status Deflater::append(std::span<const std::byte> bytes) {
  constexpr std::size_t most = 1 << 30; // zlib counts in 32 bits
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), most));
    // The library takes a pointer to what it may write, and only reads.
    state_->stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(part.data()));
    state_->stream.avail_in = static_cast<uInt>(part.size());
    TROUPE_TRY(run(Z_NO_FLUSH));
    bytes = bytes.subspan(part.size());
  }
  return {};
}

Status Deflater::flush() {
  return run(Z_SYNC_FLUSH);
}

Status Deflater::finish() {
  return run(Z_FINISH);
}

} // namespace troupe
