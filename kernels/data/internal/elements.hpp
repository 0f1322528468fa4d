// Elements that an iterator holds: a queue that counts what holding them takes.
#pragma once

#include <deque>
#include <utility>

#include "kernels/data/internal/dataset.hpp"

namespace troupe::data {

/// Bytes charged to an allocator for as long as it lives.
class Charge {
public:
  explicit Charge(Allocator& account) : account_(&account) {}
  Charge(Charge&& other) noexcept
      : account_(other.account_), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&&) = delete;
  ~Charge() { release(bytes_); }
  /// RESOURCE_EXHAUSTED when there is no room.
  Status add(std::size_t bytes);
  /// Of those that were added.
  void release(std::size_t bytes) {
    if (bytes)
      account_->discharge(bytes);
    bytes_ -= bytes;
  }

private:
  Allocator* account_;
  std::size_t bytes_ = 0;
};

/// What holding an element takes besides what its tensors' buffers count themselves.
inline std::size_t bytes_of_holding(const Element& element) {
  return 64 + element.size() * 192;
}

/// The order is the owner's business.
class Elements {
public:
  explicit Elements(Allocator& account) : charge_(account) {}
  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  Element& operator[](std::size_t i) { return all_[i]; }
  const Element& operator[](std::size_t i) const { return all_[i]; }
  /// RESOURCE_EXHAUSTED, and nothing changed, when there is no room.
  Status push(Element element) {
    TROUPE_TRY(charge_.add(bytes_of_holding(element)));
    all_.push_back(std::move(element));
    return {};
  }
  /// Requires that there is one.
  Element pop() {
    Element out = std::move(all_.front());
    all_.pop_front();
    charge_.release(bytes_of_holding(out));
    return out;
  }
  void clear() {
    while (!all_.empty())
      pop();
  }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  void save(StateWriter to) const;
  Status restore(StateReader from);

private:
  Charge charge_;
  std::deque<Element> all_;
};

} // namespace troupe::data
