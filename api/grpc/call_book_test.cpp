#include "api/grpc/call_book.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("call book: a request is abandoned when the last client of it has gone") {
  CallBook book;
  std::uint64_t first = book.begin(7), again = book.begin(7), other = book.begin(8);
  CHECK(book.size() == 3);
  CHECK_FALSE(book.gone(first).has_value());
  CHECK(book.is_waited_for(7));
  CHECK(book.gone(again) == std::optional<std::uint64_t>(7));
  CHECK_FALSE(book.is_waited_for(7));
  CHECK(book.is_waited_for(8));
  book.end(other);
  CHECK(book.size() == 0);
}

TEST_CASE("call book: a client that comes back is waited for again") {
  CallBook book;
  CHECK(book.gone(book.begin(7)) == std::optional<std::uint64_t>(7));
  std::uint64_t back = book.begin(7);
  CHECK(book.is_waited_for(7));
  book.end(back);
  CHECK_FALSE(book.is_waited_for(7));
}

TEST_CASE("call book: a call that has ended, or never was, is not abandoned") {
  CallBook book;
  std::uint64_t call = book.begin(7);
  book.end(call);
  CHECK_FALSE(book.gone(call).has_value());
  CHECK_FALSE(book.gone(99).has_value());
}
