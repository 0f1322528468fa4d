// What the ops that use a queue share: finding it, and the two forms of each op.
#pragma once

#include "devices/resource/queue.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"
#include "kernels/framework/wait.hpp"

namespace troupe::queue {

/// The queue whose handle is input 0.
Result<std::shared_ptr<Queue>> find(KernelContext& c);
/// INVALID_ARGUMENT "Signature mismatch, have: …" unless the dtypes of what the node puts in
/// (inputs from `first_input` on) or takes out (its outputs) are the queue's.
Status check_puts(const KernelContext& c, const Queue& queue);
Status check_takes(const KernelContext& c, const Queue& queue);
/// "elements of queue 'q' (FIFOQueue of float, 0 of 9 elements)"
WaitText waits_for(std::string what, std::shared_ptr<Queue> queue);
/// A PrepareFn: INVALID_ARGUMENT for a timeout.
Result<std::shared_ptr<const void>> check_timeout(PrepareContext& c);

/// Adds the op that takes a reference and, as NAMEV2, the one that takes a resource.
/// `describe(builder)` says the rest.
template <class Describe>
void add_both(OpLibrary& library, const std::string& name, Describe describe) {
  {
    auto old = library.op(name);
    old.input("handle: Ref(string)");
    describe(old);
  }
  auto now = library.op(name + "V2");
  now.input("handle: resource").stateful();
  describe(now);
}

} // namespace troupe::queue
