// The stretches that runs of one node take from its generator; numbers are those of TensorFlow
// 2.21.
#include "kernels/random/internal/generator.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include <doctest/doctest.h>

namespace troupe::random {
namespace {

std::array<float, 6> uniform(Generator& generator) {
  std::array<float, 6> out{};
  const auto start = generator.reserve(arith::reserved_blocks(6));
  CHECK(arith::fill_uniform(arith::Type::float32, start, out.data(), 0, 6));
  return out;
}

TEST_CASE("generator: consecutive runs give TensorFlow's consecutive numbers") {
  Generator generator(arith::Philox::from_seeds(87654321, 42));
  CHECK(uniform(generator) == std::array<float, 6>{0.95227146F, 0.67740774F, 0.79531825F,
                                                   0.75578177F, 0.4759556F, 0.6310148F});
  CHECK(uniform(generator) == std::array<float, 6>{0.15116918F, 0.9988142F, 0.43071377F, 0.9249908F,
                                                   0.4177097F, 0.9479431F});
}

TEST_CASE("generator: consecutive draws of integers") {
  Generator generator(arith::Philox::from_seeds(5, 10));
  std::array<std::int32_t, 5> out{};
  const auto draw = [&] {
    arith::fill_uniform_int(arith::Type::int32, generator.reserve(arith::reserved_blocks(5)), -3,
                            100, out.data(), 0, 5);
    return out;
  };
  CHECK(draw() == std::array<std::int32_t, 5>{74, 81, 18, 82, 48});
  CHECK(draw() == std::array<std::int32_t, 5>{77, 89, 49, 54, 94});
}

TEST_CASE("generator: consecutive shuffles") {
  Generator generator(arith::Philox::from_seeds(3, 4));
  std::array<std::int64_t, 7> order{};
  const auto shuffle = [&] {
    arith::shuffle_order(generator.reserve(arith::shuffle_blocks(7)), order);
    return order;
  };
  CHECK(shuffle() == std::array<std::int64_t, 7>{1, 5, 3, 0, 2, 4, 6});
  CHECK(shuffle() == std::array<std::int64_t, 7>{3, 6, 0, 1, 2, 5, 4});
}

TEST_CASE("generator: threads get stretches that do not overlap") {
  Generator generator(arith::Philox::from_seeds(1, 2));
  std::array<std::vector<std::uint32_t>, 4> starts;
  std::vector<std::thread> threads;
  for (auto& mine : starts)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i)
        mine.push_back(generator.reserve(3).counter()[0]);
    });
  for (auto& thread : threads)
    thread.join();
  std::vector<std::uint32_t> all;
  for (const auto& mine : starts)
    all.insert(all.end(), mine.begin(), mine.end());
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i)
    REQUIRE(all[i] == 3 * i);
}

} // namespace
} // namespace troupe::random
