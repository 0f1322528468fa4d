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

/// The peer that will come for a tensor, by a number of its owner's choice; 0: not known.
struct OfferReceiver {
  std::uint64_t actor = 0;
  std::uint64_t node = 0;
};

/// Any thread: actors put tensors in, the threads that send take them out. Counts itself as
/// "transport_offers".
class OfferTable {
public:
  ~OfferTable();
  void put(std::uint64_t ticket, Tensor tensor, const OfferReceiver& receiver, std::int64_t now_us);
  /// The tensor, which was used now; nothing when it is offered no longer.
  std::optional<Tensor> find(std::uint64_t ticket, std::int64_t now_us);
  /// Some of it has been sent.
  void touch(std::uint64_t ticket, std::int64_t now_us);
  void erase(std::uint64_t ticket);
  /// Forgets tensors that have not been fetched since `oldest_us`. While other tensors are on their
  /// way to the same node, which may take long on a slow link, a tensor is kept unless it is older
  /// than `oldest_waiting_us`.
  void erase_unused_since(std::int64_t oldest_us, std::int64_t oldest_waiting_us);
  /// Drops the tensors that wait for that actor: it will not fetch them any more.
  void erase_of(std::uint64_t receiver);
  std::size_t size() const;
  /// Calls `done`, on any thread, when nothing is offered: at once, or later, once.
  void when_empty(std::function<void()> done);

private:
  struct Offer {
    Tensor tensor;
    OfferReceiver receiver;
    std::int64_t last_used_us = 0;
  };
  void use(Offer& offer, std::int64_t now_us);
  template <class Pred>
  void erase_all(Pred pred);

  mutable std::mutex lock_;
  std::unordered_map<std::uint64_t, Offer> offers_;
  std::unordered_map<std::uint64_t, std::int64_t> busy_us_; ///< by node: when one of its was used
  std::function<void()> when_empty_;
  Counter& counted_ = counter("transport_offers");
};

} // namespace troupe
