// Kernels that wait for what another step brings: queues, barriers, accumulators, locks.
#pragma once

#include <functional>
#include <vector>

#include "kernels/framework/context.hpp"
#include "kernels/framework/functions.hpp"
#include "kernels/framework/wait_note.hpp"

namespace troupe {

/// What is called, at most once and from any thread, when that which was waited for has come.
using Arrived = std::function<void(Result<Tensors>)>;

/// For an asynchronous kernel: `begin(arrived)` asks for something, `withdraw()` takes the request
/// back. When it has arrived the tensors become the outputs, in order, and `done` is called. When
/// the step is cancelled first, `withdraw` is called, which may come before `begin` has returned
/// and then comes again, and `done` gets the step's status. Neither touches the context, so a
/// request that is answered late does no harm. `what` says what is waited for, for whoever asks why
/// the step does not go on; it is copied only when there is a wait.
void wait_for(KernelContext& c, KernelDone done, FunctionView<void(Arrived)> begin,
              std::function<void()> withdraw, FunctionView<WaitText()> what);
/// … for a kernel whose op says enough.
void wait_for(KernelContext& c, KernelDone done, FunctionView<void(Arrived)> begin,
              std::function<void()> withdraw);

/// The same for a resource that names requests by tickets: `ask(ticket, arrived)`.
template <class R, class Ask>
void wait_on(KernelContext& c, KernelDone done, std::shared_ptr<R> resource, Ask&& ask) {
  const auto ticket = resource->ticket();
  wait_for(
      c, std::move(done), [&](Arrived arrived) { ask(ticket, std::move(arrived)); },
      [resource, ticket] { resource->withdraw(ticket); });
}

} // namespace troupe
