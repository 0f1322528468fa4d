#include "storage/streams/byte_source.hpp"

#include <cstring>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "storage/streams/deflate.hpp"

using namespace troupe;

namespace {

/// A file in memory that counts how often it is read.
class Text final : public StorageReader {
public:
  explicit Text(std::string text, int* reads = nullptr) : text_(std::move(text)), reads_(reads) {}
  std::uint64_t size() const override { return text_.size(); }
  Status read(std::uint64_t offset, std::span<std::byte> out) override {
    if (reads_)
      ++*reads_;
    if (offset + out.size() > text_.size())
      return data_loss("behind the end");
    std::memcpy(out.data(), text_.data() + offset, out.size());
    return {};
  }

private:
  std::string text_;
  int* reads_;
};

std::unique_ptr<ByteSource> source(std::string text, Compression how = Compression::none) {
  return read_in_order(std::make_unique<Text>(std::move(text)), how);
}

std::string some_text(std::size_t size) {
  std::string out(size, ' ');
  for (std::size_t i = 0; i < size; ++i)
    out[i] = static_cast<char>(i * 31 + i / 250);
  return out;
}

std::string compressed(std::string_view text, Compression how, std::size_t part) {
  std::string out;
  Deflater deflater(
      [&](std::span<const std::byte> bytes) {
        out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return Status{};
      },
      how);
  for (std::size_t at = 0; at < text.size(); at += part)
    REQUIRE(deflater.append(std::as_bytes(std::span(text.substr(at, part)))).ok());
  REQUIRE(deflater.finish().ok());
  return out;
}

/// All that a source gives, `part` bytes at a time.
std::string drain(ByteSource& from, std::size_t part) {
  std::string out;
  for (;;) {
    std::string bytes(part, '\0');
    auto got = from.read(std::as_writable_bytes(std::span(bytes)));
    if (!got.ok())
      return got.status().to_string();
    out.append(bytes, 0, *got);
    if (*got < part)
      return out;
  }
}

std::vector<std::string> lines_of(std::string text,
                                  LineReader::Dropped dropped = LineReader::Dropped::at_end) {
  LineReader reader(source(std::move(text)), dropped);
  std::vector<std::string> out;
  std::string line;
  for (;;) {
    auto more = reader.next(line);
    REQUIRE(more.ok());
    if (!*more)
      return out;
    out.push_back(line);
  }
}

} // namespace

TEST_CASE("streams: a file is read in pieces of any size, few of them from the disk") {
  const std::string text = some_text(1'000'003);
  for (std::size_t part : {1UL, 7UL, 4096UL, 262'144UL, 300'000UL, 2'000'000UL}) {
    CAPTURE(part);
    int reads = 0;
    auto from = read_in_order(std::make_unique<Text>(text, &reads));
    CHECK(from->left() == text.size());
    CHECK(drain(*from, part) == text);
    CHECK(from->left() == 0);
    CHECK(reads <= 4);
  }
}

TEST_CASE("streams: what is passed over is not given, within and beyond what was read ahead") {
  const std::string text = some_text(600'000);
  for (std::uint64_t first : {0UL, 3UL, 262'143UL, 262'144UL, 500'000UL, 599'999UL, 600'000UL}) {
    CAPTURE(first);
    for (Compression how : {Compression::none, Compression::gzip}) {
      auto from = source(how == Compression::none ? text : compressed(text, how, 1000), how);
      char byte = 0;
      REQUIRE(from->read(std::as_writable_bytes(std::span(&byte, 1))).ok());
      auto got = from->skip(first);
      REQUIRE(got.ok());
      CHECK(*got == std::min<std::uint64_t>(first, text.size() - 1));
      CHECK(drain(*from, 1000) == text.substr(std::min<std::size_t>(1 + first, text.size())));
    }
  }
  auto from = source("abc");
  CHECK(*from->skip(~std::uint64_t{0}) == 3);
}

TEST_CASE("streams: what was compressed is given back, whatever the pieces") {
  for (Compression how : {Compression::zlib, Compression::gzip})
    for (std::size_t size : {0UL, 1UL, 100'000UL, 1'000'000UL})
      for (std::size_t part : {13UL, 65'536UL, 2'000'000UL}) {
        CAPTURE(size);
        CAPTURE(part);
        const std::string text = some_text(size);
        auto from = source(compressed(text, how, part), how);
        CHECK(drain(*from, part) == text);
      }
}

TEST_CASE("streams: members of GZIP follow one another, ZLIB's data end at their end") {
  const std::string gzip = compressed("one", Compression::gzip, 9);
  auto two = source(gzip + gzip, Compression::gzip);
  CHECK(drain(*two, 100) == "oneone");
  const std::string zlib = compressed("one", Compression::zlib, 9);
  auto one = source(zlib + zlib, Compression::zlib);
  CHECK(drain(*one, 100) == "one");
}

TEST_CASE("streams: what is flushed can be read at once") {
  std::string out;
  Deflater deflater(
      [&](std::span<const std::byte> bytes) {
        out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return Status{};
      },
      Compression::zlib);
  REQUIRE(deflater.append(std::as_bytes(std::span("text", 4))).ok());
  REQUIRE(deflater.flush().ok());
  auto from = source(out, Compression::zlib);
  CHECK(drain(*from, 100) == "text");
}

TEST_CASE("streams: what is not compressed is DATA_LOSS, what is cut off ends") {
  auto plain = source("no such thing", Compression::zlib);
  CHECK(drain(*plain, 9) == "DATA_LOSS: inflate() failed with error -3: incorrect header check");
  const std::string text = some_text(100'000);
  const std::string whole = compressed(text, Compression::gzip, 1000);
  for (std::size_t size : {0UL, 1UL, 10UL, whole.size() / 2, whole.size() - 1}) {
    CAPTURE(size);
    auto from = source(whole.substr(0, size), Compression::gzip);
    CHECK(text.starts_with(drain(*from, 4096)));
  }
  std::string damaged = whole;
  damaged[damaged.size() - 6] ^= 1; // its checksum
  auto from = source(damaged, Compression::gzip);
  CHECK(drain(*from, 4096).starts_with("DATA_LOSS: inflate() failed with error -3"));
}

TEST_CASE("streams: a compressed text grows only while there is room for it") {
  const std::string bomb =
      compressed(std::string(std::size_t{50} << 20, '\0'), Compression::gzip, std::size_t{1} << 20);
  CHECK(bomb.size() < 100'000);
  auto from = source(bomb, Compression::gzip);
  std::size_t taken = 0;
  auto room = [&](std::size_t bytes) -> Status {
    if (taken + bytes > 1'000'000)
      return resource_exhausted("no room");
    taken += bytes;
    return {};
  };
  std::string text;
  CHECK(append_bytes(*from, ~std::uint64_t{0} >> 1, text, room).status().code() ==
        Code::resource_exhausted);
  CHECK(text.size() <= taken);
  LineReader lines(source(bomb, Compression::gzip));
  taken = 0;
  CHECK(lines.next(text, room).status().code() == Code::resource_exhausted);
  CHECK(text.size() <= taken);
}

TEST_CASE("streams: a length that nothing stands behind takes no memory") {
  auto from = source("abc");
  std::size_t taken = 0;
  std::string text = "x";
  auto got = append_bytes(*from, std::uint64_t{1} << 60, text, [&](std::size_t bytes) {
    taken += bytes;
    return Status{};
  });
  CHECK(*got == 3);
  CHECK(text == "xabc");
  CHECK(taken == 3);
}

TEST_CASE("streams: lines end as on any system, the last one may have no end") {
  using Lines = std::vector<std::string>;
  CHECK(lines_of("") == Lines{});
  CHECK(lines_of("\n") == Lines{""});
  CHECK(lines_of("a") == Lines{"a"});
  CHECK(lines_of("a\nb\r\n\n\r\nc\r\rd\n") == Lines{"a", "b", "", "", "c\r\rd"});
  CHECK(lines_of("a\r") == Lines{"a"});
  const auto everywhere = LineReader::Dropped::everywhere;
  CHECK(lines_of("a\r\nb\rc\n\r\r\nd\r\re\n\r\r", everywhere) == Lines{"a", "bc", "", "de"});
  CHECK(lines_of("\r") == Lines{}); // as TensorFlow has it
  const std::string long_line = some_text(200'000);
  std::string text;
  for (char c : long_line)
    text += c == '\n' || c == '\r' ? ' ' : c;
  CHECK(lines_of(text + "\r\n" + text) == Lines{text, text});
  // A line's end that lies where one piece ends and the next begins.
  for (std::size_t size = 65'533; size < 65'539; ++size)
    CHECK(lines_of(std::string(size, 'a') + "\r\nb") == Lines{std::string(size, 'a'), "b"});
}

TEST_CASE("streams: bytes in memory") {
  auto from = read_in_order("abcdef");
  CHECK(from->left() == 6);
  CHECK(*from->skip(2) == 2);
  CHECK(drain(*from, 3) == "cdef");
  CHECK(*from->skip(1) == 0);
  const std::string gzip = compressed("text", Compression::gzip, 9);
  auto unpacked = decompressed(read_in_order(gzip), Compression::gzip);
  CHECK(drain(*unpacked, 3) == "text");
}

TEST_CASE("streams: names of compression") {
  CHECK(*parse_compression("") == Compression::none);
  CHECK(*parse_compression("NONE") == Compression::none);
  CHECK(*parse_compression("ZLIB") == Compression::zlib);
  CHECK(*parse_compression("GZIP") == Compression::gzip);
  CHECK(parse_compression("zip").status().code() == Code::invalid_argument);
}
