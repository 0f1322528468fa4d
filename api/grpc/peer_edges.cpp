#include "api/grpc/peer_edges.hpp"

#include "api/grpc/worker_codec.hpp"
#include "core/base/clock.hpp"
#include "core/base/random.hpp"

namespace troupe {

PeerEdges::PeerEdges(std::shared_ptr<RpcPeers> peers, AddressOf address_of, DecodeLimits limits,
                     std::chrono::milliseconds longest, std::shared_ptr<TransferLog> log)
    : peers_(std::move(peers)), address_of_(std::move(address_of)), limits_(limits),
      longest_(longest), log_(std::move(log)) {}

namespace {

// The value in an answer. A call that was cancelled, here or there, is no cause of anything.
Result<EdgeValue> value_of(const Result<std::string>& answer, const DecodeLimits& limits) {
  if (answer.ok())
    return worker_codec::read_tensor(*answer, limits);
  return answer.status().code() == Code::cancelled ? answer.status().as_derived() : answer.status();
}

} // namespace

void PeerEdges::receive(std::uint64_t step_id, const std::string& task, const std::string& key,
                        std::function<void(Result<EdgeValue>)> done) {
  auto address = address_of_(task);
  if (!address.ok())
    return done(address.status());
  // Its number is known only when it has begun, and by then it may have ended.
  struct OneCall {
    std::mutex lock;
    std::uint64_t number = 0;
    bool has_ended = false;
  };
  auto one = std::make_shared<OneCall>();
  const std::uint64_t number = peers_->start(
      *address, "/tensorflow.WorkerService/RecvTensor",
      worker_codec::write_recv_tensor(static_cast<std::int64_t>(step_id), key,
                                      static_cast<std::int64_t>(random_id() >> 1)),
      longest_,
      [one, step_id, key, limits = limits_, log = log_, began = wall_micros(),
       weak = weak_from_this(), done = std::move(done)](Result<std::string> answer) {
        std::uint64_t number = 0;
        {
          std::scoped_lock guard(one->lock);
          one->has_ended = true;
          number = one->number;
        }
        if (auto self = weak.lock(); self && number != 0) {
          std::scoped_lock guard(self->lock_);
          if (auto calls = self->calls_.find(step_id); calls != self->calls_.end())
            calls->second->erase(number);
        }
        auto value = value_of(answer, limits);
        if (log && value.ok())
          log->took(step_id, key,
                    static_cast<std::int64_t>(value->is_dead ? 0 : value->tensor.byte_size()),
                    began, wall_micros());
        done(std::move(value));
      });
  std::scoped_lock of_all(lock_);
  std::scoped_lock of_one(one->lock);
  one->number = number;
  if (one->has_ended || number == 0)
    return;
  auto& calls = calls_[step_id];
  if (!calls)
    calls = std::make_shared<Calls>();
  calls->insert(number);
}

void PeerEdges::end_step(std::uint64_t step_id) {
  Calls calls;
  {
    std::scoped_lock guard(lock_);
    if (auto found = calls_.extract(step_id); !found.empty())
      calls = std::move(*found.mapped());
  }
  for (std::uint64_t number : calls)
    peers_->cancel(number);
}

} // namespace troupe
