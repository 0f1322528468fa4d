#include "tests/support/cuda/internal/order_checker.hpp"
#include "core/base/strings.hpp"

#include <algorithm>

namespace troupe::testing {

void merge(Clock& into, const Clock& from) {
  into.resize(std::max(into.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

std::size_t OrderChecker::add_stream() {
  clocks_.emplace_back();
  return clocks_.size() - 1;
}

void OrderChecker::next(std::size_t stream, std::string what) {
  stream_ = stream;
  what_ = std::move(what);
  Clock& clock = clocks_[stream];
  merge(clock, host_);
  clock.resize(std::max(clock.size(), clocks_.size()));
  ++clock[stream];
}

bool OrderChecker::comes_before(const Access& access) const {
  const Clock& now = clocks_[stream_];
  return access.stream < now.size() && access.time <= now[access.stream];
}

void OrderChecker::allocated(const void* memory, std::size_t bytes) {
  const auto* begin = static_cast<const char*>(memory);
  for (auto it = blocks_.upper_bound(begin); it != blocks_.begin();) {
    --it;
    if (it->first + it->second.bytes <= begin)
      break;
    it = blocks_.erase(it); // its memory went back to the system
  }
  for (auto it = blocks_.lower_bound(begin); it != blocks_.end() && it->first < begin + bytes;)
    it = blocks_.erase(it);
  Block& block = blocks_[begin];
  block = {.bytes = bytes, .is_free = false, .written = {}, .read = {}};
  block.written = {stream_, clocks_[stream_][stream_], what_};
}

bool OrderChecker::freed(const void* memory) {
  auto found = blocks_.find(static_cast<const char*>(memory));
  if (found == blocks_.end() || found->second.is_free) {
    report(str_cat(what_, " gives back memory that is not there"));
    return false;
  }
  touch(memory, 0, true);
  found->second.is_free = true;
  return true;
}

OrderChecker::Block* OrderChecker::find(const void* memory, std::size_t bytes, const char* does) {
  const auto* begin = static_cast<const char*>(memory);
  auto it = blocks_.upper_bound(begin);
  if (it != blocks_.begin()) {
    --it;
    if (begin + bytes <= it->first + it->second.bytes &&
        (begin < it->first + it->second.bytes || bytes == 0)) {
      if (!it->second.is_free)
        return &it->second;
      report(str_cat(what_, does, "memory after it was given back; it was last written by ",
                     it->second.written.what));
      return nullptr;
    }
  }
  report(str_cat(what_, does, "memory that is none of the device's"));
  return nullptr;
}

bool OrderChecker::touch(const void* memory, std::size_t bytes, bool is_written) {
  Block* block = find(memory, bytes, is_written ? " writes " : " reads ");
  if (!block)
    return false;
  if (!comes_before(block->written))
    report(str_cat(what_, is_written ? " writes" : " reads", " memory that ", block->written.what,
                   " writes, and nothing says which comes first"));
  const Access now{stream_, clocks_[stream_][stream_], what_};
  if (!is_written) {
    block->read[stream_] = now;
    return true;
  }
  for (const auto& [stream, read] : block->read)
    if (!comes_before(read))
      report(str_cat(what_, " writes memory that ", read.what,
                     " reads, and nothing says which comes first"));
  block->read.clear();
  block->written = now;
  return true;
}

} // namespace troupe::testing
