// SleepOp and SleepIdentityOp wait for some seconds, or until their step is cancelled; GetDeadline
// says when that must end.
#include <algorithm>
#include <map>
#include <mutex>

#include "core/base/clock.hpp"
#include "core/base/strings.hpp"
#include "devices/device.hpp"
#include "devices/resource/tick_thread.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/tensor_text.hpp"
#include "kernels/framework/wait.hpp"

namespace troupe::control_sleep {
namespace {

using Time = TickThread::Time;

/// Those of a device who sleep: one thread wakes them.
class Sleepers final : public Resource, public std::enable_shared_from_this<Sleepers> {
public:
  /// Once, before others have it.
  void begin() { ticks_ = TickThread::of(shared_from_this()); }

  std::uint64_t ticket() {
    std::scoped_lock guard(lock_);
    return ++last_ticket_;
  }
  void sleep(std::uint64_t ticket, Time until, Tensors values, Arrived done) {
    std::scoped_lock guard(lock_);
    sleeping_.try_emplace(ticket, until, std::move(values), std::move(done));
    ticks_->wake();
  }
  void withdraw(std::uint64_t ticket) {
    std::scoped_lock guard(lock_);
    sleeping_.erase(ticket);
  }
  std::string description() const override { return "nodes that sleep"; }

  Time tick(Time now) {
    std::vector<Sleeper> awake;
    Time next = TickThread::never;
    {
      std::scoped_lock guard(lock_);
      for (auto it = sleeping_.begin(); it != sleeping_.end();) {
        if (it->second.until > now) {
          next = std::min(next, it->second.until);
          ++it;
          continue;
        }
        awake.push_back(std::move(it->second));
        it = sleeping_.erase(it);
      }
    }
    for (Sleeper& one : awake)
      one.done(std::move(one.values));
    return next;
  }

private:
  struct Sleeper {
    Time until;
    Tensors values;
    Arrived done;
  };

  std::unique_ptr<TickThread> ticks_;
  std::mutex lock_; // guards what follows
  std::uint64_t last_ticket_ = 0;
  std::map<std::uint64_t, Sleeper> sleeping_;
};

Result<std::shared_ptr<Sleepers>> sleepers(KernelContext& c) {
  return c.resources().lookup_or_create<Sleepers>("", "",
                                                  []() -> Result<std::shared_ptr<Sleepers>> {
                                                    auto made = std::make_shared<Sleepers>();
                                                    made->begin();
                                                    return made;
                                                  });
}

Status begin(KernelContext& c, const KernelDone& done) {
  const Tensor& wanted = c.input(0);
  if (!wanted.shape().is_scalar())
    return invalid_argument(
        str_cat("Expected argument 0 to be a scalar. Received", debug_string(wanted)));
  const std::int32_t seconds = std::max(wanted.value<std::int32_t>(), 0);
  TROUPE_ASSIGN(auto all, sleepers(c));
  const Time until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  const std::uint64_t ticket = all->ticket();
  Tensors values;
  if (c.num_outputs() > 0)
    values.push_back(c.input(1));
  wait_for(
      c, done,
      [&](Arrived arrived) {
        if (seconds == 0)
          arrived(std::move(values));
        else
          all->sleep(ticket, until, std::move(values), std::move(arrived));
      },
      [all, ticket] { all->withdraw(ticket); },
      [&]() -> WaitText { return [seconds] { return str_cat("a sleep of ", seconds, " s"); }; });
  return {};
}

void compute(KernelContext& c, KernelDone done) {
  if (Status status = begin(c, done); !status.ok())
    done(std::move(status));
}

Status compute_deadline(KernelContext& c) {
  const std::int64_t at = c.cancellation().deadline_us();
  if (at == 0)
    return invalid_argument("Deadline has not ben set.");
  return c.set_output(0, Tensor::scalar<std::int64_t>(wall_micros() + (at - steady_micros())));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("SleepOp")
      .input("sleep_seconds: int32")
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_none)
      .not_differentiable("it has no outputs")
      .cpu_kernel_async(compute)
      .doc("Waits for some seconds; ends at once when its step is cancelled.");
  library.op("SleepIdentityOp")
      .input("sleep_seconds: int32")
      .input("input: T")
      .output("output: T")
      .attr("T: type")
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn([](ShapeContext& c) { return c.output_like(0, 1); })
      .not_differentiable("TensorFlow has no gradient for it")
      .cpu_kernel_async(compute)
      .doc("Its input, some seconds later.");
  library.op("GetDeadline")
      .output("deadline_from_epoch_micros: int64")
      .roles(Role::random)
      .shape_fn(shape_unknown)
      .not_differentiable("it has no inputs")
      .cpu_kernel(compute_deadline)
      .doc("When the step must end, in microseconds since 1970.");
}

} // namespace troupe::control_sleep
