#include "net/data/offer_table.hpp"

#include <utility>
#include <vector>

namespace troupe {

OfferTable::~OfferTable() {
  counted_.add(-static_cast<std::int64_t>(offers_.size()));
}

void OfferTable::put(std::uint64_t ticket, Tensor tensor, const OfferReceiver& receiver,
                     std::int64_t now_us) {
  std::scoped_lock guard(lock_);
  if (offers_.insert_or_assign(ticket, Offer{std::move(tensor), receiver, now_us}).second)
    counted_.add(1);
}

std::optional<Tensor> OfferTable::find(std::uint64_t ticket, std::int64_t now_us) {
  std::scoped_lock guard(lock_);
  auto it = offers_.find(ticket);
  if (it == offers_.end())
    return std::nullopt;
  use(it->second, now_us);
  return it->second.tensor;
}

void OfferTable::touch(std::uint64_t ticket, std::int64_t now_us) {
  std::scoped_lock guard(lock_);
  if (auto it = offers_.find(ticket); it != offers_.end())
    use(it->second, now_us);
}

void OfferTable::use(Offer& offer, std::int64_t now_us) {
  offer.last_used_us = now_us;
  if (offer.receiver.node != 0)
    busy_us_[offer.receiver.node] = now_us;
}

// Tensors end outside the lock: their memory may be large.
template <class Pred>
void OfferTable::erase_all(Pred pred) {
  std::vector<Tensor> gone;
  std::function<void()> empty;
  {
    std::scoped_lock guard(lock_);
    for (auto it = offers_.begin(); it != offers_.end();)
      if (pred(*it)) {
        gone.push_back(std::move(it->second.tensor));
        it = offers_.erase(it);
      } else {
        ++it;
      }
    counted_.add(-static_cast<std::int64_t>(gone.size()));
    if (offers_.empty())
      empty = std::exchange(when_empty_, nullptr);
  }
  if (empty)
    empty();
}

void OfferTable::erase(std::uint64_t ticket) {
  Tensor gone;
  std::function<void()> empty;
  {
    std::scoped_lock guard(lock_);
    auto it = offers_.find(ticket);
    if (it == offers_.end())
      return;
    gone = std::move(it->second.tensor);
    offers_.erase(it);
    counted_.add(-1);
    if (offers_.empty())
      empty = std::exchange(when_empty_, nullptr);
  }
  if (empty)
    empty();
}

void OfferTable::erase_unused_since(std::int64_t oldest_us, std::int64_t oldest_waiting_us) {
  erase_all([&](const auto& entry) {
    const Offer& offer = entry.second;
    auto busy = busy_us_.find(offer.receiver.node);
    bool waits = busy != busy_us_.end() && busy->second >= oldest_us;
    return offer.last_used_us < (waits ? oldest_waiting_us : oldest_us);
  });
  std::scoped_lock guard(lock_);
  std::erase_if(busy_us_, [&](const auto& entry) { return entry.second < oldest_us; });
}

void OfferTable::erase_of(std::uint64_t receiver) {
  erase_all([&](const auto& entry) { return entry.second.receiver.actor == receiver; });
}

std::size_t OfferTable::size() const {
  std::scoped_lock guard(lock_);
  return offers_.size();
}

void OfferTable::when_empty(std::function<void()> done) {
  {
    std::scoped_lock guard(lock_);
    if (!offers_.empty()) {
      when_empty_ = std::move(done);
      return;
    }
  }
  done();
}

} // namespace troupe
