// CollectiveInitializeCommunicator, CollectiveAssignGroupV2: which devices compute together.
#include "core/base/strings.hpp"
#include "kernels/collective/internal/call.hpp"
#include "kernels/collective/internal/communicator.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::collective_group {
namespace {

using namespace collective;

// The communicator is there when all its members are.
Result<CollectiveCall> join(KernelContext& c) {
  TROUPE_ASSIGN(const std::int32_t group_key, scalar_input(c, 0, "group_key"));
  TROUPE_ASSIGN(const std::int32_t rank, scalar_input(c, 1, "rank"));
  TROUPE_ASSIGN(const std::int32_t size, scalar_input(c, 2, "group_size"));
  if (size <= 0)
    return invalid_argument(str_cat("group_size must be positive integer but got ", size));
  if (rank < 0 || rank >= size)
    return invalid_argument(
        str_cat("rank must be at least 0 and below group_size (", size, ") but got ", rank));
  const std::string name = str_cat("collective_op_group_", group_key);
  ResourceManager& resources = c.resources();
  const auto make = [&]() -> Result<std::shared_ptr<Communicator>> {
    return std::make_shared<Communicator>(group_key, rank, size);
  };
  TROUPE_ASSIGN(auto communicator, resources.lookup_or_create<Communicator>("", name, make));
  if (communicator->rank != rank || communicator->group_size != size) {
    (void)resources.remove<Communicator>("", name); // of a program before
    TROUPE_TRY(resources.lookup_or_create<Communicator>("", name, make).status());
  }
  CollectiveCall call;
  call.spec.kind = CollectiveKind::barrier;
  call.spec.dtype = DType::int32;
  call.spec.group_key = group_key;
  call.spec.group_size = size;
  call.spec.instance_key = -1; // of its own: clients count from 0
  call.rank = rank;
  call.timeout_us = c.prepared<NodeAttrs>().timeout_us;
  call.output =
      Tensor::scalar(make_handle<Communicator>(c.device(), resources.default_container(), name));
  return call;
}

Status assign(KernelContext& c) {
  const Tensor &assignment = c.input(0), &index = c.input(1), &base = c.input(2);
  if (!index.shape().is_scalar())
    return invalid_argument(
        str_cat("device_index must be a scalar, but received tensor of shape: ", index.shape()));
  if (assignment.shape().rank() != 2)
    return invalid_argument(
        str_cat("group_assignment must be a 2-d Tensor, but received tensor of shape: ",
                assignment.shape()));
  if (!base.shape().is_scalar())
    return invalid_argument(
        str_cat("base_key must be a scalar, but received tensor of shape: ", base.shape()));
  const auto devices = assignment.data<std::int32_t>();
  const auto device = index.value<std::int32_t>();
  const std::int64_t size = assignment.shape()[1];
  for (std::int64_t group = 0; group < assignment.shape()[0]; ++group) {
    const auto key = static_cast<std::int32_t>(
        static_cast<std::uint32_t>(base.value<std::int32_t>()) + static_cast<std::uint32_t>(group));
    if (key == 0)
      return invalid_argument(
          str_cat("Using the reserved group_key = 0 is not allowed: group_id = ", group,
                  ", base_key = ", base.value<std::int32_t>()));
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int32_t named = devices[static_cast<std::size_t>(group * size + i)];
      if (named < 0 || named >= static_cast<std::int64_t>(devices.size()))
        return invalid_argument(str_cat("Not all items in group_assignment ",
                                        assignment.to_string(),
                                        " is within [0, number of devices)"));
      if (named == device) {
        TROUPE_TRY(c.set_output(0, Tensor::scalar(static_cast<std::int32_t>(size))));
        return c.set_output(1, Tensor::scalar(key));
      }
    }
  }
  return invalid_argument(str_cat("device_index ", device, " is not found in group_assignment ",
                                  assignment.to_string()));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("CollectiveInitializeCommunicator")
      .input("group_key: int32; rank: int32; group_size: int32")
      .output("communicator: resource")
      .attr(hint_and_timeout)
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_scalar)
      .not_differentiable("it gives a handle")
      .cpu_kernel_async(run<join>, {.prepare = prepare_node<CollectiveKind::barrier>})
      .doc("A device's place in a group, once all its devices have theirs.");
  library.op("CollectiveAssignGroupV2")
      .input("group_assignment: int32; device_index: int32; base_key: int32")
      .output("group_size: int32; group_key: int32")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable("it gives numbers of devices")
      .cpu_kernel(assign)
      .doc("Size and key of the group that a device is in: the row of the assignment that names "
           "it.");
}

} // namespace troupe::collective_group
