// The orders in which queues hand out their elements.
#include <map>
#include <random>
#include <utility>

#include "core/base/random.hpp"
#include "devices/resource/queue.hpp"

namespace troupe {
namespace {

using Tuple = QueueElements::Tuple;

class InOrder final : public QueueElements {
public:
  void push(Tuple element) override { elements_.push_back(std::move(element)); }
  Tuple pop() override {
    Tuple first = std::move(elements_.front());
    elements_.pop_front();
    return first;
  }
  void put_back(Tuple element) override { elements_.push_front(std::move(element)); }
  std::int64_t size() const override { return static_cast<std::int64_t>(elements_.size()); }

private:
  std::deque<Tuple> elements_;
};

class AtRandom final : public QueueElements {
public:
  explicit AtRandom(std::function<std::uint32_t()> draw) : draw_(std::move(draw)) {}
  void push(Tuple element) override { elements_.push_back(std::move(element)); }
  Tuple pop() override {
    std::swap(elements_[draw_() % elements_.size()], elements_.back());
    Tuple chosen = std::move(elements_.back());
    elements_.pop_back();
    return chosen;
  }
  void put_back(Tuple element) override { push(std::move(element)); }
  std::int64_t size() const override { return static_cast<std::int64_t>(elements_.size()); }

private:
  std::vector<Tuple> elements_;
  std::function<std::uint32_t()> draw_;
};

/// The smallest number in the first component; equal ones in the order of their arrival.
class ByPriority final : public QueueElements {
public:
  void push(Tuple element) override {
    const auto priority = element[0].value<std::int64_t>();
    elements_.emplace_hint(elements_.upper_bound(priority), priority, std::move(element));
  }
  Tuple pop() override { return std::move(elements_.extract(elements_.begin()).mapped()); }
  void put_back(Tuple element) override {
    const auto priority = element[0].value<std::int64_t>();
    elements_.emplace_hint(elements_.lower_bound(priority), priority, std::move(element));
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(elements_.size()); }

private:
  std::multimap<std::int64_t, Tuple> elements_;
};

} // namespace

std::unique_ptr<QueueElements> make_queue_elements(const QueueSpec& spec) {
  switch (spec.order) {
  case QueueSpec::Order::random:
    if (spec.draw)
      return std::make_unique<AtRandom>(spec.draw);
    return std::make_unique<AtRandom>(
        [random = std::mt19937(static_cast<std::uint32_t>(random_id()))]() mutable {
          return static_cast<std::uint32_t>(random());
        });
  case QueueSpec::Order::priority:
    return std::make_unique<ByPriority>();
  default:
    return std::make_unique<InOrder>();
  }
}

} // namespace troupe
