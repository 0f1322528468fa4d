// Monitor: a resource whose users wait, without a thread, until its state lets them go on.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

#include "core/base/function_view.hpp"
#include "devices/resource/resource_manager.hpp"

namespace troupe {

/// Requests are tried in the order of their arrival whenever the state has changed. In one lane a
/// request that has to wait lets no later one pass; without a lane it stops nobody. A request's
/// `Done` is called once, before `submit` returns or later from any thread, never with the lock
/// held.
class Monitor : public Resource {
public:
  using Tensors = std::vector<Tensor>;
  using Done = std::function<void(Result<Tensors>)>;
  using Ticket = std::uint64_t;

  /// Names a request; it can be withdrawn by it.
  Ticket ticket();
  /// The request will not be answered. Nothing if it was answered already.
  void withdraw(Ticket ticket);

protected:
  static constexpr int no_lane = -1;
  /// The answer, or nothing while the state does not allow one. Runs with the lock held.
  using Attempt = std::function<std::optional<Result<Tensors>>()>;

  void submit(Ticket ticket, int lane, Attempt attempt, Done done);
  /// Changes or reads the state with the lock held; then whoever may go on does.
  template <class Change>
  auto locked(Change&& change) {
    std::vector<Answer> answers;
    std::unique_lock guard(lock_);
    struct Finish {
      Monitor& monitor;
      std::vector<Answer>& answers;
      std::unique_lock<std::mutex>& guard;
      ~Finish() {
        monitor.serve(answers);
        guard.unlock();
        tell(answers);
      }
    } finish{*this, answers, guard};
    return change();
  }
  /// Reads the state with the lock held.
  template <class Read>
  auto read(Read&& read) const {
    std::scoped_lock guard(lock_);
    return read();
  }

private:
  struct Request {
    Ticket ticket;
    int lane;
    Attempt attempt;
    Done done;
  };
  struct Answer {
    Done done;
    Result<Tensors> result;
  };
  void serve(std::vector<Answer>& answers);
  static void tell(std::vector<Answer>& answers);

  mutable std::mutex lock_;
  std::list<Request> waiting_;
  Ticket last_ticket_ = 0;
};

} // namespace troupe
