// OfferTable: the tensors that a node holds for its peers, by ticket.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/tensor/tensor.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

/// Any thread: actors put tensors in, the threads that send take them out. Counts itself as
/// "transport_offers".
class OfferTable {
public:
  ~OfferTable();
  /// `receiver` names the node that will come for it.
  void put(std::uint64_t ticket, Tensor tensor, std::uint64_t receiver, std::int64_t now_us);
  /// The tensor, which was used now; nothing when it is offered no longer.
  std::optional<Tensor> find(std::uint64_t ticket, std::int64_t now_us);
  void erase(std::uint64_t ticket);
  /// Forgets what nobody has come for since `oldest_us`.
  void erase_unused_since(std::int64_t oldest_us);
  /// The node will not come any more.
  void erase_of(std::uint64_t receiver);
  std::size_t size() const;
  /// Calls `done`, on any thread, when nothing is offered: at once, or later, once.
  void when_empty(std::function<void()> done);

private:
  struct Offer {
    Tensor tensor;
    std::uint64_t receiver = 0;
    std::int64_t last_used_us = 0;
  };
  template <class Pred>
  void erase_all(Pred pred);

  mutable std::mutex lock_;
  std::unordered_map<std::uint64_t, Offer> offers_;
  std::function<void()> when_empty_;
  Counter& counted_ = counter("transport_offers");
};

} // namespace troupe
