#include "api/grpc/request_book.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace troupe;

namespace {

using Book = RequestBook<int, std::string>;
using Place = Book::Place;

} // namespace

TEST_CASE("request book: a request that comes again gets the answer of the first") {
  Book book;
  CHECK(book.begin(7, 1).place == Place::fresh);
  CHECK(book.end(7, "seven", 5).empty());
  auto again = book.begin(7, 2);
  CHECK(again.place == Place::answered);
  REQUIRE(again.answer);
  CHECK(*again.answer == "seven");
  CHECK(book.begin(8, 3).place == Place::fresh);
}

TEST_CASE("request book: a request that comes while its step runs waits for it") {
  Book book;
  CHECK(book.begin(7, 1).place == Place::fresh);
  CHECK(book.begin(7, 2).place == Place::here);
  CHECK(book.begin(7, 3).place == Place::here);
  CHECK(book.begin(8, 4).place == Place::fresh);
  CHECK(book.end(7, "seven", 5) == std::vector<int>{2, 3});
  CHECK(book.end(8, "eight", 5).empty());
}

TEST_CASE("request book: a request that the actors had once is theirs for good") {
  Book book;
  CHECK(book.begin(7, 1).place == Place::fresh);
  CHECK(book.begin(7, 2).place == Place::here);
  CHECK(book.hand_over(7) == std::vector<int>{2});
  CHECK(book.begin(7, 3).place == Place::actors);
  book.ended(7);
  book.ended(7);
  CHECK(book.begin(7, 4).place == Place::actors);
}

TEST_CASE("request book: one that runs with the actors is known however many come after it") {
  Book book;
  const std::uint64_t many = 10'000;
  book.begin(1, 1);
  book.hand_over(1);
  for (std::uint64_t id = 2; id <= many + 3; ++id) {
    REQUIRE(book.begin(id, 1).place == Place::fresh);
    book.hand_over(id);
    book.ended(id);
  }
  CHECK(book.begin(1, 2).place == Place::actors);
  CHECK(book.begin(2, 2).place ==
        Place::fresh); // of those that have ended, the oldest is forgotten
  CHECK(book.begin(4, 2).place == Place::actors);
}

TEST_CASE("request book: one that the actors have answered before it was handed over is forgotten "
          "in its turn") {
  Book book;
  const std::uint64_t many = 10'000;
  for (std::uint64_t id = 1; id <= many + 1; ++id) {
    REQUIRE(book.begin(id, 1).place == Place::fresh);
    book.ended(id);
    CHECK(book.begin(id, 2).place == Place::here);
    CHECK(book.hand_over(id) == std::vector<int>{2});
    REQUIRE(book.begin(id, 3).place == Place::actors);
  }
  CHECK(book.begin(1, 2).place == Place::fresh);
  CHECK(book.begin(2, 2).place == Place::actors);
}

TEST_CASE(
    "request book: of a large answer nothing is kept but that it was given, once others come") {
  Book book;
  const std::size_t large = (64 << 10) + 1;
  book.begin(7, 1);
  book.end(7, "seven", large);
  CHECK(book.begin(7, 2).place == Place::answered);
  book.begin(8, 3);
  CHECK(book.begin(7, 4).place == Place::dropped);
}

TEST_CASE("request book: requests without an id do not know each other") {
  Book book;
  CHECK(book.begin(0, 1).place == Place::fresh);
  CHECK(book.begin(0, 2).place == Place::fresh);
  CHECK(book.end(0, "none", 4).empty());
  CHECK(book.hand_over(0).empty());
  CHECK(book.begin(0, 3).place == Place::fresh);
}
