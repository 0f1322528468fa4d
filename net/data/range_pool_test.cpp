#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "net/data/range_pool.hpp"

using namespace troupe;

constexpr std::uint64_t page = RangePool::page;

TEST_CASE("range pool: the same sizes get the same places, step after step") {
  RangePool pool(100 * page);
  for (int step = 0; step < 3; ++step) {
    CHECK(pool.take(3 * page) == 0);
    CHECK(pool.take(1) == 3 * page);
    CHECK(pool.in_use() == 4 * page);
    pool.give_back(0, 3 * page);
    pool.give_back(3 * page, 1);
    CHECK(pool.in_use() == 0);
    CHECK(pool.warm() == 4 * page);
  }
}

TEST_CASE("range pool: a larger size takes warm pages and goes on into cold ones") {
  RangePool pool(10 * page);
  pool.give_back(*pool.take(4 * page), 4 * page);
  CHECK(pool.take(6 * page) == 0);
  CHECK(pool.warm() == 0);
  CHECK(pool.take(5 * page) == std::nullopt);
  CHECK(pool.take(4 * page) == 6 * page);
  CHECK(pool.take(1) == std::nullopt);
}

TEST_CASE("range pool: no size, or one that overflows, is refused") {
  RangePool pool(10 * page);
  CHECK(pool.take(0) == std::nullopt);
  CHECK(pool.take(~std::uint64_t{0}) == std::nullopt);
}

TEST_CASE("range pool: cooling drops from the top and keeps what it is told to") {
  RangePool pool(100 * page);
  auto a = *pool.take(10 * page), b = *pool.take(page), c = *pool.take(20 * page);
  pool.give_back(a, 10 * page);
  pool.give_back(c, 20 * page);
  CHECK(pool.warm() == 30 * page);
  auto dropped = pool.cool(15 * page);
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0] == std::pair(c, 20 * page));
  CHECK(pool.warm() == 10 * page);
  CHECK(pool.cool(0).size() == 1);
  CHECK(pool.warm() == 0);
  pool.give_back(b, page);
  CHECK(pool.take(100 * page) == 0);
}

TEST_CASE("range pool: what is added apart is taken apart, and goes when it is free") {
  RangePool pool(4 * page);
  pool.add(5 * page, 4 * page);
  CHECK_FALSE(pool.take(5 * page));
  CHECK(pool.take(3 * page) == 0);
  CHECK(pool.take(4 * page) == 5 * page);
  CHECK_FALSE(pool.remove(5 * page, 4 * page));
  pool.give_back(5 * page, 4 * page);
  CHECK(pool.warm() == 4 * page);
  CHECK(pool.remove(5 * page, 4 * page));
  CHECK(pool.warm() == 0);
  CHECK_FALSE(pool.take(2 * page));
  CHECK(pool.take(page) == 3 * page);
}

TEST_CASE("range pool: what is in use never overlaps, whatever the order") {
  constexpr std::uint64_t pages = 64;
  RangePool pool(pages * page);
  std::mt19937 random(7);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  std::vector<int> owner(pages, -1);
  for (int round = 0; round < 20000; ++round) {
    if (random() % 3 != 0 || taken.empty()) {
      std::uint64_t bytes = 1 + random() % (8 * page);
      auto offset = pool.take(bytes);
      if (!offset)
        continue;
      for (std::uint64_t p = *offset / page; p * page < *offset + bytes; ++p) {
        REQUIRE(owner.at(p) == -1);
        owner.at(p) = round;
      }
      taken.emplace_back(*offset, bytes);
    } else {
      std::size_t which = random() % taken.size();
      auto [offset, bytes] = taken[which];
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
      for (std::uint64_t p = offset / page; p * page < offset + bytes; ++p)
        owner.at(p) = -1;
      pool.give_back(offset, bytes);
    }
    if (random() % 50 == 0)
      pool.cool(random() % (pages * page));
    auto used = static_cast<std::uint64_t>(
        std::count_if(owner.begin(), owner.end(), [](int o) { return o >= 0; }));
    REQUIRE(pool.in_use() == used * page);
    REQUIRE(pool.warm() <= (pages - used) * page);
  }
  for (auto [offset, bytes] : taken)
    pool.give_back(offset, bytes);
  CHECK(pool.take(pages * page) == 0);
}
