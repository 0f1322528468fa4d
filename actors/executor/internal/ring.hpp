// Ring: a first-in-first-out queue in one block that grows and never shrinks.
#pragma once

#include <cstddef>
#include <vector>

namespace troupe::program {

template <class T>
class Ring {
public:
  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }
  void clear() { head_ = tail_ = 0; }
  void reserve(std::size_t count) {
    while (items_.size() < count)
      grow();
  }
  [[gnu::always_inline]] void push(T item) {
    if (size() == items_.size()) [[unlikely]]
      grow();
    items_[tail_++ & (items_.size() - 1)] = item;
  }
  T pop() { return items_[head_++ & (items_.size() - 1)]; }
  const T& operator[](std::size_t i) const { return items_[(head_ + i) & (items_.size() - 1)]; }

private:
  [[gnu::noinline]] void grow() {
    std::vector<T> larger(items_.empty() ? 16 : items_.size() * 2);
    std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i)
      larger[i] = (*this)[i];
    items_.swap(larger);
    head_ = 0;
    tail_ = count;
  }

  std::vector<T> items_; // a power of two, or none
  std::size_t head_ = 0, tail_ = 0;
};

} // namespace troupe::program
