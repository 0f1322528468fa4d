#include "storage/checksum/crc32c.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("crc32c: the values of RFC 3720") {
  CHECK(crc32c("") == 0);
  CHECK(crc32c("123456789") == 0xe3069283);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
}

TEST_CASE("crc32c: parts give what the whole gives, at every length and alignment") {
  std::string text(300, ' ');
  for (std::size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<char>(i * 7 + 1);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const auto bytes = std::as_bytes(std::span(text));
    CHECK(extend_crc32c(crc32c(text.substr(0, cut)), bytes.subspan(cut)) == crc32c(text));
  }
}

TEST_CASE("crc32c: masks are undone, and change the checksum") {
  for (std::uint32_t crc : {0U, 1U, 0xe3069283U, 0xffffffffU}) {
    CHECK(unmask_crc(mask_crc(crc)) == crc);
    CHECK(mask_crc(crc) != crc);
  }
}
