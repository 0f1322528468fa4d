#include "kernels/nn/internal/filter_cache.hpp"

#include <algorithm>

namespace troupe {

namespace {

// Whether both are the same elements: as long as the first is held, whoever changes the variable
// that it came from makes a copy.
bool is_same(const Tensor& held, const Tensor& other) {
  return held.raw() == other.raw() && held.buffer() == other.buffer();
}

} // namespace

arith::ConvFilter PackedFilter::view() const {
  const Tensor& plain = scaled.has_value() ? scaled : sources[0];
  arith::ConvFilter out{.plain = plain.data<float>().data()};
  if (memory.has_value()) {
    out.packing = &packing;
    out.packed = memory.raw();
  }
  return out;
}

std::size_t PackedFilter::bytes() const {
  std::size_t out = 0;
  for (const Tensor* made : {&scaled, &memory})
    if (made->has_value())
      out += made->byte_size();
  return out;
}

bool FilterCache::is_of(const FilterSources& sources) const {
  return !kept_.empty() && std::ranges::equal(kept_[0].sources, sources, is_same);
}

std::optional<PackedFilter> FilterCache::find(const FilterSources& sources,
                                              const arith::FilterPacking& packing) {
  std::scoped_lock guard(lock_);
  if (!is_of(sources))
    return std::nullopt;
  const auto found = std::ranges::find_if(
      kept_, [&](const PackedFilter& one) { return arith::is_same_layout(one.packing, packing); });
  if (found == kept_.end())
    return std::nullopt;
  std::rotate(kept_.begin(), found, found + 1);
  PackedFilter out = kept_[0];
  out.packing = packing; // the layout's, and what else the call wants
  return out;
}

bool FilterCache::is_worth_keeping() {
  std::scoped_lock guard(lock_);
  return changes_ < max_changes;
}

void FilterCache::keep(const PackedFilter& packed) {
  std::scoped_lock guard(lock_);
  if (!is_of(packed.sources)) {
    kept_.clear();
    ++changes_;
  }
  if (changes_ >= max_changes)
    return kept_.clear();
  // Two threads may have made the same.
  std::erase_if(kept_, [&](const PackedFilter& one) {
    return arith::is_same_layout(one.packing, packed.packing);
  });
  kept_.insert(kept_.begin(), packed);
  std::size_t bytes = 0;
  for (const PackedFilter& one : kept_)
    bytes += one.bytes();
  for (; kept_.size() > 1 && bytes > most_times * packed.sources[0].byte_size(); kept_.pop_back())
    bytes -= kept_.back().bytes();
}

} // namespace troupe
