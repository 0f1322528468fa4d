// MutexV2, MutexLock, ConsumeMutexLock: a lock that a step holds as long as somebody has the tensor
// with it.
#include "devices/resource/mutex.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"
#include "kernels/framework/wait.hpp"

namespace troupe::queue_mutex {
namespace {

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(NodeResource resource, named_resource(c));
  return prepared(std::move(resource));
}

Status make(KernelContext& c) {
  return node_resource<Mutex>(c, c.prepared<NodeResource>(),
                              [](const std::string& name) -> Result<std::shared_ptr<Mutex>> {
                                return std::make_shared<Mutex>(name);
                              })
      .status();
}

Status begin_lock(KernelContext& c, const KernelDone& done) {
  TROUPE_ASSIGN(auto mutex, input_resource<Mutex>(c, 0));
  wait_on(c, done, mutex, [&](Monitor::Ticket ticket, Arrived arrived) {
    Mutex::acquire(mutex, ticket, std::move(arrived));
  });
  return {};
}

void lock(KernelContext& c, KernelDone done) {
  if (Status status = begin_lock(c, done); !status.ok())
    done(std::move(status));
}

/// Its input goes after it, and the lock with that.
Status consume(KernelContext& c) {
  if (!c.input(0).shape().is_scalar())
    return invalid_argument(
        str_cat("Expected input to be a scalar, saw shape: ", c.input(0).shape()));
  const auto& variant = c.input(0).value<Variant>();
  if (!std::dynamic_pointer_cast<const Mutex::Lock>(variant.value))
    return invalid_argument(
        str_cat("Expected input to contain a SharedLockReleaser object, but saw variant: '",
                variant.type_name, "'"));
  if (const auto users = variant.value.use_count(); users != 1)
    return invalid_argument(str_cat("Expected use count of lock to be 1, but saw: ", users));
  return {};
}

constexpr auto no_gradient = "locks have none";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("MutexV2")
      .output("resource: resource")
      .attr("container: string = ''; shared_name: string = ''")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(make, {.prepare = prepare})
      .doc("A mutex, which MutexLock locks.");
  library.op("MutexLock")
      .input("mutex: resource")
      .output("mutex_lock: variant")
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(lock)
      .doc("The lock of a mutex, once nobody else has it; it is given back when the tensor goes.");
  library.op("ConsumeMutexLock")
      .input("mutex_lock: variant")
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(no_gradient)
      .cpu_kernel(consume)
      .doc("Holds a lock until here, so that what this node runs after is within it.");
}

} // namespace troupe::queue_mutex
