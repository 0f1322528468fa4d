#include "actors/worker/session_book.hpp"

#include <doctest/doctest.h>

using namespace troupe;

using Book = SessionBook<int>;
using Answer = Book::Answer;

TEST_CASE("session book: a handle is made once, and its master may ask again") {
  Book book;
  CHECK(book.asked("s", "/job:ps/task:0") == Answer::make);
  book.made("s", "/job:ps/task:0", 7);
  CHECK(book.asked("s", "/job:ps/task:0") == Answer::known);
  CHECK(book.asked("s", "/job:worker/task:0") == Answer::exists);
  CHECK(book.asked("s", "") == Answer::exists);
  REQUIRE(book.find("s"));
  CHECK(*book.find("s") == 7);
  CHECK(book.find("other") == nullptr);
}

TEST_CASE("session book: masters that do not say their task are never the same") {
  Book book;
  book.made("s", "", 7);
  CHECK(book.asked("s", "") == Answer::exists);
}

TEST_CASE("session book: what has ended may be made again") {
  Book book;
  book.made("a", "m", 1);
  book.made("b", "m", 2);
  book.ended(1);
  CHECK(book.size() == 1);
  CHECK(book.asked("a", "m") == Answer::make);
  CHECK(book.all() == std::vector{2});
  book.ended(3);
  CHECK(book.size() == 1);
}

TEST_CASE("session book: one that takes nothing new keeps what it has") {
  Book book;
  book.made("a", "m", 1);
  book.refuse(unavailable("about to end"));
  CHECK(book.asked("b", "m") == Answer::refuse);
  CHECK(book.asked("a", "m") == Answer::refuse);
  CHECK(book.refusal().message() == "about to end");
  CHECK(book.find("a") != nullptr);
}
