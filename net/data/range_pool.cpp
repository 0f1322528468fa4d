#include "net/data/range_pool.hpp"

#include <algorithm>

namespace troupe {

namespace {

std::uint64_t in_pages(std::uint64_t bytes) {
  return (bytes + RangePool::page - 1) / RangePool::page * RangePool::page;
}

} // namespace

RangePool::RangePool(std::uint64_t size) {
  if (std::uint64_t whole = size / page * page)
    free_.emplace(0, Free{whole, false});
}

void RangePool::add(std::uint64_t offset, std::uint64_t length) {
  add_free(offset, {length, false});
}

bool RangePool::remove(std::uint64_t offset, std::uint64_t length) {
  const auto first = free_.lower_bound(offset), end = free_.lower_bound(offset + length);
  std::uint64_t found = 0;
  for (auto it = first; it != end; ++it)
    found += it->second.length;
  if (found != length)
    return false;
  for (auto it = first; it != end; it = free_.erase(it))
    if (it->second.is_warm)
      warm_ -= it->second.length;
  return true;
}

std::optional<std::uint64_t> RangePool::take(std::uint64_t bytes) {
  std::uint64_t length = in_pages(bytes);
  if (length < bytes || length == 0)
    return std::nullopt;
  // Neighbours of different warmth may serve together.
  auto first = free_.begin(), it = first;
  std::uint64_t run = 0;
  for (; it != free_.end() && run < length; ++it) {
    if (run == 0 || first->first + run != it->first) {
      first = it;
      run = 0;
    }
    run += it->second.length;
  }
  if (run < length)
    return std::nullopt;
  std::uint64_t offset = first->first;
  Free last;
  for (auto part = first; part != it; part = free_.erase(part)) {
    last = part->second;
    if (last.is_warm)
      warm_ -= last.length;
  }
  if (run > length)
    add_free(offset + length, {run - length, last.is_warm});
  in_use_ += length;
  peak_ = std::max(peak_, in_use_);
  return offset;
}

void RangePool::give_back(std::uint64_t offset, std::uint64_t bytes) {
  std::uint64_t length = in_pages(bytes);
  in_use_ -= length;
  add_free(offset, {length, true});
}

// Joins neighbours of the same warmth: what is cold above what is warm stays apart, or the whole
// rest of the region would count as warm.
void RangePool::add_free(std::uint64_t offset, Free range) {
  if (range.is_warm)
    warm_ += range.length;
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + range.length == next->first &&
      next->second.is_warm == range.is_warm) {
    range.length += next->second.length;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second.length == offset &&
        before->second.is_warm == range.is_warm) {
      before->second.length += range.length;
      return;
    }
  }
  free_.emplace(offset, range);
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> RangePool::cool(std::uint64_t keep) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
  for (auto it = free_.end(); it != free_.begin() && warm_ > keep;) {
    --it;
    if (!it->second.is_warm)
      continue;
    std::uint64_t offset = it->first;
    std::uint64_t length = it->second.length;
    warm_ -= length;
    out.emplace_back(offset, length);
    it = free_.erase(it);
    if (it != free_.end() && !it->second.is_warm && offset + length == it->first) {
      length += it->second.length;
      it = free_.erase(it);
    }
    if (it != free_.begin()) {
      auto before = std::prev(it);
      if (!before->second.is_warm && before->first + before->second.length == offset) {
        before->second.length += length;
        continue; // `it` is behind it
      }
    }
    it = free_.emplace(offset, Free{length, false}).first;
  }
  return out;
}

std::uint64_t RangePool::take_peak() {
  return std::exchange(peak_, in_use_);
}

} // namespace troupe
