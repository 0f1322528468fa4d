// Stage, Unstage, StagePeek, StageSize, StageClear: tuples that wait between steps, first in, first
// out.
#include "core/base/strings.hpp"
#include "kernels/framework/wait.hpp"
#include "kernels/queue/internal/staging.hpp"

namespace troupe::queue_staging_area {
namespace {

Status begin_put(KernelContext& c, const KernelDone& done) {
  TROUPE_ASSIGN(auto area, staging::find<StagingArea>(c));
  wait_on(c, done, area, [&](Monitor::Ticket ticket, Arrived arrived) {
    area->put(ticket, staging::inputs_from(c, 0), std::move(arrived));
  });
  return {};
}

Status begin_take(KernelContext& c, const KernelDone& done) {
  TROUPE_ASSIGN(auto area, staging::find<StagingArea>(c));
  wait_on(c, done, area, [&](Monitor::Ticket ticket, Arrived arrived) {
    area->take(ticket, c.io().types.outputs, std::move(arrived));
  });
  return {};
}

Status begin_peek(KernelContext& c, const KernelDone& done) {
  if (c.input(0).num_elements() != 1)
    return invalid_argument(str_cat("index must be a scalar, got shape: ", c.input(0).shape()));
  const std::int64_t index = c.input(0).data<std::int32_t>()[0];
  if (index < 0)
    return invalid_argument(str_cat("index must not be negative, but is ", index));
  TROUPE_ASSIGN(auto area, staging::find<StagingArea>(c));
  wait_on(c, done, area, [&](Monitor::Ticket ticket, Arrived arrived) {
    area->peek(ticket, index, c.io().types.outputs, std::move(arrived));
  });
  return {};
}

template <Status (*begin)(KernelContext&, const KernelDone&)>
void compute(KernelContext& c, KernelDone done) {
  if (Status status = begin(c, done); !status.ok())
    done(std::move(status));
}

Status size(KernelContext& c) {
  TROUPE_ASSIGN(auto area, staging::find<StagingArea>(c));
  return c.set_output(0, Tensor::scalar(static_cast<std::int32_t>(area->size())));
}

Status clear(KernelContext& c) {
  TROUPE_ASSIGN(auto area, staging::find<StagingArea>(c));
  area->clear();
  return {};
}

constexpr auto no_gradient = "what is staged comes from other steps";

} // namespace

void register_ops(OpLibrary& library) {
  library.op("Stage")
      .input("values: dtypes")
      .attr(staging::attrs(" >= 1"))
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_unknown)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(compute<begin_put>, {.prepare = staging::prepare})
      .doc("Puts a tuple into a staging area, once there is room.");
  library.op("Unstage")
      .output("values: dtypes")
      .attr(staging::attrs(" >= 1"))
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_unknown)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(compute<begin_take>, {.prepare = staging::prepare})
      .doc("Takes the oldest tuple out of a staging area, once there is one.");
  library.op("StagePeek")
      .input("index: int32")
      .output("values: dtypes")
      .attr(staging::attrs(" >= 1"))
      .stateful()
      .roles({Role::random, Role::blocks})
      .shape_fn(shape_unknown)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(compute<begin_peek>, {.prepare = staging::prepare})
      .doc("The tuple at `index` of a staging area, 0 the oldest, once there is one; it stays.");
  library.op("StageSize")
      .output("size: int32")
      .attr(staging::attrs(""))
      .stateful()
      .roles(Role::random)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(size, {.prepare = staging::prepare})
      .doc("How many tuples a staging area has.");
  library.op("StageClear")
      .attr(staging::attrs(""))
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(no_gradient)
      .cpu_kernel(clear, {.prepare = staging::prepare})
      .doc("Drops all tuples of a staging area.");
}

} // namespace troupe::queue_staging_area
