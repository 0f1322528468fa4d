// PeerCalls: calls of an actor to other tasks' gRPC servers; each answer comes back as a message to
// the actor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/send.hpp>

#include "actors/family/ask.hpp"
#include "api/grpc/rpc_peers.hpp"
#include "core/base/strings.hpp"
#include "net/cluster/cluster.hpp"

namespace troupe {

/// To the actor that has called.
struct PeerAnswered {
  std::uint64_t call = 0;
  std::shared_ptr<Result<std::string>> answer; ///< never null
};

/// The last part of an actor's state, which hands each PeerAnswered to `answered`. What is under
/// way when it is destroyed is cancelled, and `done` told ABORTED, derived.
class PeerCalls {
public:
  using Done = std::function<void(Result<std::string>&)>;

  PeerCalls() = default;
  PeerCalls(std::shared_ptr<RpcPeers> peers, Address address)
      : peers_(std::move(peers)), address_(std::move(address)) {}
  PeerCalls(PeerCalls&&) = default;
  PeerCalls& operator=(PeerCalls&&) = default;
  ~PeerCalls() {
    for (auto& [call, one] : calls_) {
      peers_->cancel(one.number);
      Result<std::string> ended =
          aborted(str_cat("the server at ", address_, " is given up")).as_derived();
      one.done(ended);
    }
  }

  /// `done` is called on the actor's thread. The number is for cancel().
  template <class Self>
  std::uint64_t start(Self* self, const std::string& method, const std::string& request,
                      std::chrono::milliseconds budget, Done done) {
    const std::uint64_t call = ++last_;
    auto address = caf::actor_cast<caf::actor_addr>(self);
    const std::uint64_t number = peers_->start(
        address_, "/tensorflow.WorkerService/" + method, request, budget,
        [address, call](Result<std::string> answer) {
          if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address))
            caf::anon_send(
                caf::actor_cast<caf::actor>(actor),
                PeerAnswered{call, std::make_shared<Result<std::string>>(std::move(answer))});
        });
    calls_[call] = {number, std::move(done)};
    return call;
  }
  void cancel(std::uint64_t call) {
    if (auto it = calls_.find(call); it != calls_.end())
      peers_->cancel(it->second.number);
  }
  void answered(PeerAnswered& m) {
    if (auto one = calls_.extract(m.call); !one.empty())
      one.mapped().done(*m.answer);
  }
  const Address& address() const { return address_; }

private:
  struct Call {
    std::uint64_t number = 0; ///< of peers_
    Done done;
  };
  std::shared_ptr<RpcPeers> peers_;
  Address address_;
  std::map<std::uint64_t, Call> calls_; ///< under way
  std::uint64_t last_ = 0;
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::PeerAnswered)
