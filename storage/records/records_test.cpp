#include "storage/records/records.hpp"

#include <cstring>

#include <doctest/doctest.h>

#include "core/base/strings.hpp"

using namespace troupe;

namespace {

class Text final : public StorageReader {
public:
  explicit Text(std::string text) : text_(std::move(text)) {}
  std::uint64_t size() const override { return text_.size(); }
  Status read(std::uint64_t offset, std::span<std::byte> out) override {
    std::memcpy(out.data(), text_.data() + offset, out.size());
    return {};
  }

private:
  std::string text_;
};

std::string from_hex(std::string_view hex) {
  auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  return out;
}

// "hello" and 30 times "x", as TensorFlow 2.21 writes them.
const std::string plain = from_hex("0500000000000000eab2043e68656c6c6fbb1f1c19"
                                   "1e00000000000000d9dc1232") +
                          std::string(30, 'x') + from_hex("3069a188");
const std::string zlib =
    from_hex("789c63658080579b58ec32527372f277cbcb48ca41056fde1132aac00b0c3217760000758216f0"
             "1f");
const std::string gzip = from_hex(
    "1f8b080000000000000363658080579b58ec32527372f277cbcb48ca41056fde1132aac00b0c32177600000b8d7739"
    "43000000");

RecordReader reader(std::string text, Compression how = Compression::none) {
  return RecordReader(read_in_order(std::make_unique<Text>(std::move(text)), how));
}

/// The records with bars between, and the error if there is one.
std::string all(std::string text, Compression how = Compression::none) {
  RecordReader in = reader(std::move(text), how);
  std::string out, record;
  for (;;) {
    auto more = in.next(record);
    if (!more.ok())
      return out + more.status().to_string();
    if (!*more)
      return out;
    out += record + "|";
  }
}

std::string written(const std::vector<std::string>& texts, Compression how) {
  std::string out;
  RecordWriter writer(
      [&](std::span<const std::byte> bytes) {
        out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return Status{};
      },
      how);
  for (const std::string& text : texts)
    REQUIRE(writer.write(text).ok());
  REQUIRE(writer.finish().ok());
  return out;
}

const std::string first = "hello", second(30, 'x');

} // namespace

TEST_CASE("records: what TensorFlow wrote is read, and we write the same bytes") {
  CHECK(all(plain) == first + "|" + second + "|");
  CHECK(all(zlib, Compression::zlib) == first + "|" + second + "|");
  CHECK(all(gzip, Compression::gzip) == first + "|" + second + "|");
  CHECK(written({first, second}, Compression::none) == plain);
  std::string appended;
  append_record(appended, first);
  append_record(appended, second);
  CHECK(appended == plain);
}

TEST_CASE("records: offsets are those of the next record") {
  RecordReader in = reader(plain);
  std::string record;
  CHECK(in.offset() == 0);
  REQUIRE(in.next(record).ok());
  CHECK(in.offset() == 21);
  REQUIRE(in.next(record).ok());
  CHECK(in.offset() == 67);
  CHECK_FALSE(*in.next(record));
  CHECK_FALSE(*in.next(record));
}

TEST_CASE("records: every kind of compression, and records of every size") {
  const std::vector<std::string> texts = {"", "a", std::string(300'000, 'b'), "",
                                          std::string(3'000'000, 'c')};
  std::string expected;
  for (const std::string& text : texts)
    expected += text + "|";
  for (Compression how : {Compression::none, Compression::zlib, Compression::gzip})
    CHECK(all(written(texts, how), how) == expected);
  for (Compression how : {Compression::none, Compression::zlib, Compression::gzip})
    CHECK(all(written({}, how), how).empty());
}

TEST_CASE("records: a file that is cut off is DATA_LOSS behind a header, and ends within one") {
  for (std::size_t size = 0; size < plain.size(); ++size) {
    CAPTURE(size);
    const std::string got = all(plain.substr(0, size));
    if (size < 12)
      CHECK(got.empty());
    else if (size < 21)
      CHECK(got == "DATA_LOSS: truncated record at 0' failed with Read less bytes than requested");
    else if (size < 33)
      CHECK(got == "hello|");
    else
      CHECK(got == "hello|DATA_LOSS: truncated record at 21' failed with Read less bytes than "
                   "requested");
  }
  const std::string gzip = written({first, std::string(100'000, 'x')}, Compression::gzip);
  CHECK(all(gzip.substr(0, gzip.size() - 20), Compression::gzip) ==
        "hello|DATA_LOSS: truncated record at 21' failed with Read less bytes than requested");
}

TEST_CASE("records: any bit that changes is found") {
  for (std::size_t at = 0; at < plain.size(); ++at) {
    CAPTURE(at);
    std::string damaged = plain;
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << at % 8);
    const std::string got = all(damaged);
    if (at < 12)
      CHECK(got == "DATA_LOSS: corrupted record at 0 (Is this even a TFRecord file?)");
    else if (at < 21)
      CHECK(got == "DATA_LOSS: corrupted record at 12");
    else if (at < 33)
      CHECK(got == "hello|DATA_LOSS: corrupted record at 21");
    else
      CHECK(got == "hello|DATA_LOSS: corrupted record at 33");
  }
}

TEST_CASE("records: a length that nothing stands behind takes no memory") {
  for (std::uint64_t length : {std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{0} - 3}) {
    CAPTURE(length);
    std::string header(reinterpret_cast<const char*>(&length), sizeof length);
    const std::uint32_t crc = [&] {
      std::string record;
      append_record(record, header);
      std::uint32_t out = 0; // of those 8 bytes: behind them
      std::memcpy(&out, record.data() + 20, sizeof out);
      return out;
    }();
    header.append(reinterpret_cast<const char*>(&crc), sizeof crc);
    RecordReader in = reader(header + "text");
    std::size_t taken = 0;
    std::string record;
    auto got = in.next(record, [&](std::size_t bytes) {
      taken += bytes;
      return Status{};
    });
    CHECK(got.status().code() == Code::data_loss);
    CHECK(taken == 0);
  }
}

TEST_CASE("records: without room for a record the reader says so") {
  RecordReader in = reader(plain);
  std::string record;
  auto got = in.next(record, [](std::size_t) { return resource_exhausted("no room"); });
  CHECK(got.status().code() == Code::resource_exhausted);
}

TEST_CASE("records: those that are passed over are counted, up to the last one") {
  RecordReader one = reader(plain);
  CHECK(*one.skip(1) == 1);
  std::string record;
  CHECK(*one.next(record));
  CHECK(record == second);
  RecordReader three = reader(plain);
  CHECK(*three.skip(3) == 2);
  RecordReader cut = reader(plain.substr(0, 40));
  CHECK(cut.skip(2).status().code() == Code::data_loss);
}

TEST_CASE("records: an error of the file ends the writing") {
  RecordWriter writer([](std::span<const std::byte>) { return resource_exhausted("full"); });
  CHECK(writer.write("a").code() == Code::resource_exhausted);
}
