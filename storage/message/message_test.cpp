#include "storage/message/message.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("message: what is written is read, field by field") {
  MessageWriter inner;
  inner.signed_integer(1, -1);
  MessageWriter out;
  out.integer(1, 300).fixed32(2, 0xDEADBEEF).real(3, 1.5F).real(4, -2.0).bytes(500, "ab");
  out.message(6, inner);
  MessageReader in(out.text());
  REQUIRE(in.next());
  CHECK(in.field() == 1);
  CHECK(in.integer() == 300);
  CHECK(in.bytes().empty());
  REQUIRE(in.next());
  CHECK(in.fixed32() == 0xDEADBEEF);
  CHECK(in.integer() == 0);
  REQUIRE(in.next());
  CHECK(std::bit_cast<float>(in.fixed32()) == 1.5F);
  REQUIRE(in.next());
  CHECK(std::bit_cast<double>(in.fixed64()) == -2.0);
  REQUIRE(in.next());
  CHECK(in.field() == 500);
  CHECK(in.bytes() == "ab");
  REQUIRE(in.next());
  MessageReader in_inner(in.bytes());
  REQUIRE(in_inner.next());
  CHECK(in_inner.signed_integer() == -1);
  CHECK_FALSE(in.next());
  CHECK(in.ok());
}

TEST_CASE("message: every text that is cut short is refused") {
  MessageWriter out;
  out.integer(1, 1U << 20).fixed32(2, 7).real(3, 1.0).bytes(4, "text");
  std::size_t whole = 0;
  for (std::size_t size = 0; size < out.text().size(); ++size) {
    MessageReader in(std::string_view(out.text()).substr(0, size));
    while (in.next()) {
    }
    whole += in.ok();
  }
  CHECK(whole == 4); // before each field
}

TEST_CASE("message: what is no message is refused") {
  using namespace std::string_view_literals;
  for (std::string_view text :
       {"\x00"sv, "\x0b"sv, "\x0f"sv, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv,
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"sv}) {
    MessageReader in(text);
    CHECK_FALSE(in.next());
    CHECK_FALSE(in.ok());
    CHECK_FALSE(in.next());
  }
}
