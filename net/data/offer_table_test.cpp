#include "net/data/offer_table.hpp"

#include <doctest/doctest.h>

#include "net/data/testing/data_path.hpp"

using namespace troupe;
using namespace troupe::data;
using namespace troupe::data::testing;

TEST_CASE("offers: those of a lost receiver go, those of others stay") {
  OfferTable offers;
  Tensor a = numbers(10), b = numbers(10);
  offers.put(1, a, {7, 1}, 100);
  offers.put(2, b, {8, 1}, 200);
  int empty = 0;
  offers.when_empty([&] { ++empty; });
  offers.erase_of(7);
  CHECK(a.is_unique());
  CHECK(offers.find(2, 300).has_value());
  CHECK(!offers.find(1, 300).has_value());
  offers.erase_unused_since(250, 250); // it was used at 300
  CHECK(empty == 0);
  offers.erase_unused_since(350, 350);
  CHECK(empty == 1);
  CHECK(b.is_unique());
}

TEST_CASE("offers: what waits while its node is sent another is kept, but not for ever") {
  OfferTable offers;
  for (std::uint64_t ticket : {1, 2, 3})
    offers.put(ticket, numbers(10), {ticket, ticket == 3 ? 9u : 5u}, 100);
  offers.touch(1, 200);
  offers.erase_unused_since(150, 50);
  CHECK(offers.find(2, 100).has_value()); // behind the first one, to the same node
  CHECK(offers.size() == 2);              // to another node nothing is on its way
  offers.touch(1, 300);
  offers.erase_unused_since(250, 150);
  CHECK(!offers.find(2, 300).has_value());
  CHECK(offers.size() == 1);
  offers.erase_unused_since(350, 150);
  CHECK(offers.size() == 0);
}
