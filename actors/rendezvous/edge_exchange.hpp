// EdgeExchange: routes one step's values on one task: to the kernel that waits, to the receiving
// peer, or into store. It decides which peers are asked, and which error ends a wait. Events in,
// effects out; knows no actors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/rendezvous/edge_table.hpp"
#include "actors/rendezvous/edge_tasks.hpp"
#include "core/base/strings.hpp"

namespace troupe {

/// How a value came that was in its message, for people.
inline constexpr const char* inside_message = "inside the message";

/// A value that another task sends, by its key:
///
///             take (the peer sends unasked)                     small, or pulled and here
///   (nothing) ───────────────▶ waited for ──────────────────────────────────────▶ answered
///      │                          │   ▲ offered and begun: pulled │ refused
///      │ take (it does not yet)   │   └───────────────────────────┼────▶ answered with the reason
///      └──────▶ asked ────────────┘                               │
///                 │ "sent before", or no answer                   │ its connection is gone
///                 └──────────▶ answered ABORTED, or why           └────▶ membership's words, or those after a second
///
/// A value may also come before it is waited for; it is then kept. Large values stay with their
/// sender until the first kernel here sends or receives, so that a step that never begins takes no
/// memory.
///
/// `Peers` is EdgePeers: the receiving peers by task (`receivers`), and the peers that send unasked
/// (`senders`). `Offer` is a large value that is yet to be pulled.
template <class Peers, class Waiter, class Offer>
class EdgeExchange {
public:
  using Peer = typename decltype(Peers::receivers)::mapped_type;

  /// What to do. Called during an event; may hand in further ones.
  class Effects {
  public:
    virtual ~Effects() = default;
    virtual void answer(Waiter& waiter, const std::string& key, const Status& status,
                        EdgeValue value, std::string transfer) = 0;
    /// Sends the value to `peer` at the next flush, in one message with the peer's other values.
    virtual void send(const Peer& peer, const std::string& key, EdgeValue value) = 0;
    /// Leads to `pulled` or `pull_failed`.
    virtual void pull(const std::string& key, Offer offer) = 0;
    /// Leads to `peer_answered` or `asking_failed`.
    virtual void ask(const std::string& task, const std::vector<std::string>& keys) = 0;
    /// `flush` is to be called when the other events that wait have been handled.
    virtual void flush_soon() = 0;
    /// Sends what was to be sent.
    virtual void send_now() = 0;
    /// `edges_lost` is to be called with these in a moment: membership is about to say why the task
    /// is lost, in better words.
    virtual void lose_later(const std::string& task, const Status& told) = 0;
  };

  /// `tasks` and `effects` live longer.
  EdgeExchange(std::uint64_t step_id, std::string task, std::shared_ptr<const Peers> peers,
               EdgeTasks& tasks, Effects& effects)
      : step_id_(step_id), task_(std::move(task)), peers_(std::move(peers)), tasks_(tasks),
        effects_(effects) {}

  // Events from kernels of this task.
  void put(const std::string& key, EdgeValue value);
  void take(const std::string& key, Waiter waiter);

  // Events from other tasks.
  void arrived(const std::string& key, EdgeValue value) {
    put_arrived(key, std::move(value), inside_message);
  }
  void offered(const std::string& key, Offer offer);
  /// `task` asks for values: each value that it receives in this step is sent to `peer` from now
  /// on. Returns those of `keys` that were sent before.
  std::vector<std::string> peer_asks(const std::string& task, const Peer& peer,
                                     const std::vector<std::string>& keys);

  // What became of effects.
  void pulled(const std::string& key, EdgeValue value, std::string transfer);
  void pull_failed(const std::string& key, const Status& why);
  /// `task` has sent `keys` before: they are here, or were lost with a connection.
  void peer_answered(const std::string& task, const std::vector<std::string>& keys);
  void asking_failed(const std::string& task, const std::vector<std::string>& keys,
                     const Status& why);
  void flush();

  // Other events.
  /// Asks for every awaited value that was not asked for, and pulls what was offered. A peer that
  /// has forgotten this task answers, so the step goes on or fails with a reason.
  void late();
  void peer_lost(const std::string& task, const std::string& sentence);
  void edges_lost(const std::string& task, const Status& status);
  /// Every waiter, now and later. The first abort's status stays.
  void abort(const Status& why);

  const EdgeTable<Waiter>& edges() const { return edges_; }
  /// The peers that may still wait for values of this step.
  std::map<std::string, Peer> receivers() const;

private:
  void begin();
  void put_arrived(const std::string& key, EdgeValue value, std::string transfer);
  void send_to(const Peer& peer, const std::string& key, EdgeValue value);
  const Peer* receiver_of(const std::string& key);
  void give_up(const std::string& key, const Status& why);
  void give_up_from(const std::string& task, const Status& why, bool also_pulled);
  void wish(const std::string& task, const std::string& key);
  void pull(const std::string& key, Offer offer);
  std::string came_by(const std::string& key);

  const std::uint64_t step_id_;
  const std::string task_;
  const std::shared_ptr<const Peers> peers_; // as they were known when the step began
  EdgeTasks& tasks_;
  Effects& effects_;
  EdgeTable<Waiter> edges_;
  bool begun_ = false;                    // a kernel here has sent or received
  std::map<std::string, Peer> receivers_; // that asked since the step began
  std::map<std::string, std::vector<std::string>>
      wishes_;                                        // keys to ask for at the next flush, by task
  std::set<std::string> sent_, asked_;                // keys
  std::vector<std::pair<std::string, Offer>> offers_; // that came before the step began here
  std::set<std::string> pulled_;                      // keys that are being pulled
  std::unordered_map<std::string, std::string>
      transfers_;                        // how large values came that nobody took yet
  std::map<std::string, Status> failed_; // keys whose pull did not succeed
  std::set<std::string> lost_;           // tasks that send nothing unasked any more
  std::map<std::string, Status> gone_;   // by task: why its rendezvous ended before the step
};

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::give_up(const std::string& key, const Status& why) {
  for (Waiter& waiter : edges_.give_up(key))
    effects_.answer(waiter, key, why, {}, {});
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::give_up_from(const std::string& task, const Status& why,
                                                      bool also_pulled) {
  for (const std::string& key : edges_.waiting_keys())
    if (tasks_.source(key) == task && (also_pulled || !pulled_.count(key)))
      give_up(key, why);
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::send_to(const Peer& peer, const std::string& key,
                                                 EdgeValue value) {
  sent_.insert(key);
  effects_.send(peer, key, std::move(value));
  effects_.flush_soon();
}

// The peer that receives a value for which no kernel here waits; null if the value stays here.
template <class Peers, class Waiter, class Offer>
auto EdgeExchange<Peers, Waiter, Offer>::receiver_of(const std::string& key) -> const Peer* {
  const auto& known = peers_->receivers;
  if (known.empty() && receivers_.empty())
    return nullptr;
  auto ends = tasks_.of(key);
  if (!ends.ok())
    return nullptr;
  if (auto it = receivers_.find((*ends)->target); it != receivers_.end())
    return &it->second;
  auto it = known.find((*ends)->target);
  return it == known.end() ? nullptr : &it->second;
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::put(const std::string& key, EdgeValue value) {
  if (!edges_.status().ok())
    return;
  begin();
  if (!edges_.is_wanted(key))
    if (const Peer* peer = receiver_of(key))
      return send_to(*peer, key, std::move(value));
  if (auto served = edges_.put(key, std::move(value)))
    effects_.answer(served->first, key, Status{}, std::move(served->second), {});
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::put_arrived(const std::string& key, EdgeValue value,
                                                     std::string transfer) {
  if (auto served = edges_.put(key, std::move(value)))
    effects_.answer(served->first, key, Status{}, std::move(served->second), std::move(transfer));
  else if (transfer != inside_message)
    transfers_[key] = std::move(transfer);
}

template <class Peers, class Waiter, class Offer>
std::string EdgeExchange<Peers, Waiter, Offer>::came_by(const std::string& key) {
  auto transfer = transfers_.extract(key);
  return transfer.empty() ? inside_message : std::move(transfer.mapped());
}

// Asks the value's task, unless it sends unasked. One question carries all keys that running
// kernels want from that task.
template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::take(const std::string& key, Waiter waiter) {
  auto ends = tasks_.of(key);
  if (!ends.ok())
    return effects_.answer(waiter, key, ends.status(), {}, {});
  if (!edges_.status().ok())
    return effects_.answer(waiter, key, edges_.status(), {}, {});
  const std::string sender = (*ends)->source; // effects may ask for other keys' tasks
  begin();
  const bool is_remote = sender != task_;
  Waiter kept = waiter;
  if (auto value = edges_.take(key, std::move(kept)))
    return effects_.answer(waiter, key, Status{}, *std::move(value), is_remote ? came_by(key) : "");
  if (!is_remote || pulled_.count(key))
    return;
  if (auto failed = failed_.find(key); failed != failed_.end())
    return give_up(key, failed->second);
  if (auto gone = gone_.find(sender); gone != gone_.end())
    return give_up(key, gone->second);
  if (!peers_->senders.count(sender) || lost_.count(sender))
    wish(sender, key);
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::wish(const std::string& task, const std::string& key) {
  if (!asked_.insert(key).second)
    return;
  wishes_[task].push_back(key);
  effects_.flush_soon();
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::begin() {
  if (std::exchange(begun_, true))
    return;
  for (auto& [key, offer] : std::exchange(offers_, {}))
    pull(key, std::move(offer));
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::pull(const std::string& key, Offer offer) {
  pulled_.insert(key);
  effects_.pull(key, std::move(offer));
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::offered(const std::string& key, Offer offer) {
  if (!edges_.status().ok())
    return;
  if (begun_)
    pull(key, std::move(offer));
  else
    offers_.emplace_back(key, std::move(offer));
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::pulled(const std::string& key, EdgeValue value,
                                                std::string transfer) {
  pulled_.erase(key);
  put_arrived(key, std::move(value), std::move(transfer));
}

// A broken connection is not yet the reason for the loss: membership knows that, in a moment.
template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::pull_failed(const std::string& key, const Status& why) {
  pulled_.erase(key);
  const std::string task(tasks_.source(key));
  const Status told = why.with_context(str_cat("a value of ", task));
  if (why.code() == Code::unavailable && why.derived())
    return effects_.lose_later(task, told);
  give_up(key, told);
  failed_.emplace(key, told); // for whoever wants it later
}

template <class Peers, class Waiter, class Offer>
std::vector<std::string>
EdgeExchange<Peers, Waiter, Offer>::peer_asks(const std::string& task, const Peer& peer,
                                              const std::vector<std::string>& keys) {
  std::vector<std::string> out;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(out),
               [&](const std::string& key) { return sent_.count(key) > 0; });
  receivers_[task] = peer;
  auto is_for_it = [&](const std::string& key) {
    auto ends = tasks_.of(key);
    return ends.ok() && (*ends)->target == task;
  };
  for (auto& [key, value] : edges_.take_if(is_for_it))
    send_to(peer, key, std::move(value));
  effects_.send_now(); // what is sent goes in front of the answer that says so
  return out;
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::peer_answered(const std::string& task,
                                                       const std::vector<std::string>& keys) {
  for (const std::string& key : keys)
    if (!pulled_.count(key))
      give_up(key, aborted(str_cat("a value of ", task,
                                   " was lost with the connection to it; run the step again"))
                       .with_origin({"", "", task, step_id_}));
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::asking_failed(const std::string& task,
                                                       const std::vector<std::string>& keys,
                                                       const Status& why) {
  for (const std::string& key : keys)
    give_up(key, why.with_origin({"", "", task, step_id_}));
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::flush() {
  effects_.send_now();
  for (auto& [task, keys] : std::exchange(wishes_, {})) {
    std::vector<std::string> wanted;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(wanted),
                 [&](const std::string& key) { return edges_.is_wanted(key); });
    if (!wanted.empty())
      effects_.ask(task, wanted);
  }
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::late() {
  begin();
  for (const std::string& key : edges_.waiting_keys())
    if (std::string sender(tasks_.source(key));
        !sender.empty() && sender != task_ && !pulled_.count(key))
      wish(sender, key);
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::peer_lost(const std::string& task,
                                                   const std::string& sentence) {
  lost_.insert(task);
  std::erase_if(offers_, [&](const auto& offer) { return tasks_.source(offer.first) == task; });
  give_up_from(task, unavailable(sentence).with_origin({"", "", task, step_id_}), true);
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::edges_lost(const std::string& task, const Status& status) {
  gone_[task] = status;
  give_up_from(task, status, false);
}

template <class Peers, class Waiter, class Offer>
void EdgeExchange<Peers, Waiter, Offer>::abort(const Status& why) {
  offers_.clear();
  for (auto& [key, waiter] : edges_.abort(why))
    effects_.answer(waiter, key, why, {}, {});
}

template <class Peers, class Waiter, class Offer>
auto EdgeExchange<Peers, Waiter, Offer>::receivers() const -> std::map<std::string, Peer> {
  auto out = peers_->receivers;
  for (const auto& [task, peer] : receivers_)
    out[task] = peer;
  return out;
}

} // namespace troupe
