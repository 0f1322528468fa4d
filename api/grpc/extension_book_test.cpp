#include "api/grpc/extension_book.hpp"

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("extension book: one that comes again while it is made is made once") {
  ExtensionBook<int> book;
  const auto key = ExtensionBook<int>::key_of(3, "graph");
  CHECK(book.begin(key, 1));
  CHECK_FALSE(book.begin(key, 2));
  CHECK(book.begin(ExtensionBook<int>::key_of(3, "other"), 3));
  CHECK(book.begin(ExtensionBook<int>::key_of(4, "graph"), 4));
  CHECK_FALSE(book.known(key));
  CHECK(book.ended(key, 4) == std::vector<int>{1, 2});
  CHECK(book.ended(key, 4).empty());
}

TEST_CASE("extension book: the last that went well is known, and no other") {
  ExtensionBook<int> book;
  const auto first = ExtensionBook<int>::key_of(0, "a"),
             second = ExtensionBook<int>::key_of(1, "b");
  CHECK(book.begin(first, 1));
  (void)book.ended(first, std::nullopt);
  CHECK_FALSE(book.known(first));
  CHECK(book.begin(first, 1));
  (void)book.ended(first, 1);
  CHECK(book.known(first) == 1);
  CHECK_FALSE(book.known(ExtensionBook<int>::key_of(0, "b")));
  CHECK(book.begin(second, 2));
  (void)book.ended(second, 2);
  CHECK(book.known(second) == 2);
  CHECK_FALSE(book.known(first));
}
