// Which filters a convolution keeps laid out.
#include <doctest/doctest.h>
#include <vector>

#include "kernels/nn/internal/filter_cache.hpp"

namespace troupe {
namespace {

constexpr std::int64_t filter_size = 3 * 3 * 2 * 4; // of the filter

FilterSources a_filter() {
  return {Tensor::vector<float>(std::vector<float>(filter_size))};
}

// Layouts differ by `kind`.
arith::FilterPacking layout_of_kind(std::int64_t kind, std::int64_t images = 1) {
  arith::FilterPacking out;
  out.bytes = filter_size * sizeof(float);
  out.winograd = {.size = 3, .in_c = kind, .out_c = 4};
  out.images = images;
  return out;
}

PackedFilter packed_as(const FilterSources& sources, std::int64_t kind) {
  PackedFilter out;
  out.sources = sources;
  out.packing = layout_of_kind(kind);
  out.memory = Tensor::vector<float>(std::vector<float>(filter_size));
  return out;
}

} // namespace

TEST_CASE("filter cache: batches of many sizes find theirs, whatever else they want") {
  FilterCache cache;
  const FilterSources one = a_filter();
  for (std::int64_t kind = 1; kind <= 6; ++kind) {
    CHECK(cache.is_worth_keeping());
    CHECK_FALSE(cache.find(one, layout_of_kind(kind)));
    cache.keep(packed_as(one, kind));
  }
  CHECK(cache.is_worth_keeping()); // it is the same filter
  for (int round = 0; round < 3; ++round)
    for (std::int64_t kind = 1; kind <= 6; ++kind) {
      auto found = cache.find(one, layout_of_kind(kind, 10 + round));
      REQUIRE(found);
      CHECK(found->packing == layout_of_kind(kind, 10 + round));
      CHECK(found->view().packed == found->memory.raw());
    }
}

TEST_CASE("filter cache: layouts that nobody has asked for lately make room") {
  FilterCache cache;
  const FilterSources one = a_filter();
  const auto most = static_cast<std::int64_t>(FilterCache::most_times);
  for (std::int64_t kind = 1; kind <= most; ++kind)
    cache.keep(packed_as(one, kind));
  CHECK(cache.find(one, layout_of_kind(1)));
  cache.keep(packed_as(one, most + 1));
  CHECK(cache.find(one, layout_of_kind(1)));
  CHECK_FALSE(cache.find(one, layout_of_kind(2)));
  CHECK(cache.find(one, layout_of_kind(most + 1)));
}

TEST_CASE("filter cache: a filter that changes is soon not kept, and its old values never") {
  FilterCache cache;
  FilterSources last;
  for (int change = 0; change < FilterCache::max_changes; ++change) {
    CHECK(cache.is_worth_keeping());
    const FilterSources now = a_filter();
    CHECK_FALSE(cache.find(now, layout_of_kind(1)));
    cache.keep(packed_as(now, 1));
    if (change > 0)
      CHECK_FALSE(cache.find(last, layout_of_kind(1)));
    last = now;
  }
  CHECK_FALSE(cache.is_worth_keeping());
  CHECK_FALSE(cache.find(last, layout_of_kind(1)));
}

} // namespace troupe
