// Barrier and its ops: tuples that are put together under a key, and taken when they are whole.
#include "devices/resource/barrier.hpp"

#include "core/base/strings.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"
#include "kernels/framework/wait.hpp"

namespace troupe::queue_barrier {
namespace {

struct Kept {
  NodeResource resource;
  Barrier::Spec spec;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  Kept kept;
  TROUPE_ASSIGN(kept.resource, private_resource(c));
  TROUPE_ASSIGN(kept.spec.types, c.attr<std::vector<DType>>("component_types"));
  TROUPE_ASSIGN(kept.spec.shapes, c.attr<std::vector<PartialShape>>("shapes"));
  if (c.attrs().get_or("capacity", std::int64_t{-1}) != -1)
    return invalid_argument("Barrier only accepts capacity=-1.  Feed the inputs to your Barrier "
                            "through a queue to enforce a limited capacity.");
  if (kept.spec.shapes.size() != kept.spec.types.size())
    return invalid_argument("All of the component shapes must be specified");
  return prepared(std::move(kept));
}

Status make(KernelContext& c) {
  const auto& kept = c.prepared<Kept>();
  TROUPE_ASSIGN(auto barrier,
                node_resource<Barrier>(c, kept.resource, [&](const std::string& name) {
                  return Result<std::shared_ptr<Barrier>>(
                      std::make_shared<Barrier>(kept.spec, name, c.device().host_side_allocator()));
                }));
  return barrier->check_same(kept.spec);
}

Status insert(KernelContext& c) {
  TROUPE_ASSIGN(auto barrier, input_resource<Barrier>(c, 0));
  return barrier->insert(c.input(1), c.input(2),
                         c.attrs().get_or("component_index", std::int64_t{0}));
}

Status take(KernelContext& c, const KernelDone& done) {
  TROUPE_ASSIGN(auto barrier, input_resource<Barrier>(c, 0));
  if (!c.input(1).shape().is_scalar())
    return invalid_argument("num_elements must be a scalar.");
  TROUPE_ASSIGN(const auto types, c.attr<std::vector<DType>>("component_types"));
  if (types != barrier->spec().types)
    return invalid_argument("the component types of BarrierTakeMany are not those of its barrier");
  const std::int64_t n = c.input(1).value<std::int32_t>();
  const bool small_batch = c.attrs().get_or("allow_small_batch", false);
  wait_on(c, done, barrier, [&](Barrier::Ticket ticket, Arrived arrived) {
    barrier->take(ticket, n, small_batch, std::move(arrived));
  });
  return {};
}

void compute_take(KernelContext& c, KernelDone done) {
  if (Status status = take(c, done); !status.ok())
    done(std::move(status));
}

Status close(KernelContext& c) {
  TROUPE_ASSIGN(auto barrier, input_resource<Barrier>(c, 0));
  return barrier->close(c.attrs().get_or("cancel_pending_enqueues", false));
}

Status ready_size(KernelContext& c) {
  TROUPE_ASSIGN(auto barrier, input_resource<Barrier>(c, 0));
  return c.set_output(0, Tensor::scalar(static_cast<std::int32_t>(barrier->ready_size())));
}

Status incomplete_size(KernelContext& c) {
  TROUPE_ASSIGN(auto barrier, input_resource<Barrier>(c, 0));
  return c.set_output(0, Tensor::scalar(static_cast<std::int32_t>(barrier->incomplete_size())));
}

Result<std::shared_ptr<const void>> check_take(PrepareContext& c) {
  if (c.attrs().get_or("timeout_ms", std::int64_t{-1}) != -1)
    return invalid_argument("Timeout not supported yet.");
  return std::shared_ptr<const void>();
}

constexpr auto no_gradient = "what a barrier holds comes from other steps";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Barrier")
      .output("handle: Ref(string)")
      .attr("component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1")
      .attr("container: string = ''; shared_name: string = ''")
      .stateful()
      .shape_fn(shape_of_handle)
      .not_differentiable(no_gradient)
      .cpu_kernel(make, {.prepare = prepare})
      .doc("A barrier: tuples are put together in it component by component, by key.");
  library.op("BarrierInsertMany")
      .input("handle: Ref(string); keys: string; values: T")
      .attr("T: type; component_index: int")
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(no_gradient)
      .cpu_kernel(insert)
      .doc("Gives the tuples of these keys one component each.");
  library.op("BarrierTakeMany")
      .input("handle: Ref(string); num_elements: int32")
      .output("indices: int64; keys: string; values: component_types")
      .attr("component_types: list(type) >= 1; allow_small_batch: bool = false")
      .attr("wait_for_incomplete: bool = false; timeout_ms: int = -1")
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_unknown)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(compute_take, {.prepare = check_take})
      .doc("Takes whole tuples out of the barrier, once there are as many.");
  library.op("BarrierClose")
      .input("handle: Ref(string)")
      .attr("cancel_pending_enqueues: bool = false")
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(no_gradient)
      .cpu_kernel(close)
      .doc(
          "Lets no new keys into the barrier; with cancel_pending_enqueues drops incomplete ones.");
  library.op("BarrierReadySize")
      .input("handle: Ref(string)")
      .output("size: int32")
      .roles(Role::random)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(ready_size)
      .doc("How many tuples of the barrier are whole.");
  library.op("BarrierIncompleteSize")
      .input("handle: Ref(string)")
      .output("size: int32")
      .roles(Role::random)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(incomplete_size)
      .doc("How many tuples of the barrier are not whole yet.");
}

} // namespace troupe::queue_barrier
