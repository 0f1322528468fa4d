#include "core/base/murmur_hash.hpp"

#include <doctest/doctest.h>

using namespace troupe;

// Numbers of TensorFlow 2.21's StringToHashBucket with 2^62 buckets.
TEST_CASE("murmur_hash gives TensorFlow's numbers for words and rests") {
  constexpr std::uint64_t buckets = std::uint64_t{1} << 62;
  CHECK(murmur_hash("") % buckets == 105434511174508091u);
  CHECK(murmur_hash("a") % buckets == 2996632905371535868u);
  CHECK(murmur_hash("while_context") % buckets == 4236991208062533243u);
  CHECK(murmur_hash("12345678") % buckets == 421129128932463287u);
}
