#include "kernels/collective/internal/subgroup.hpp"

#include <vector>

#include "core/base/strings.hpp"
#include "kernels/collective/internal/communicator.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::collective {
namespace {

/// Keys of groups are 32 bits; parts of a communicator have numbers above.
constexpr int key_bits = 32;

struct Place {
  std::int64_t group = 0;
  int rank = 0;
};

Result<Place> place_in(const Tensor& assignment, int rank, int size) {
  const Shape& shape = assignment.shape();
  if (shape.rank() != 2)
    return invalid_argument(
        str_cat("group_assignment must be a 2-d Tensor, but received tensor of shape: ", shape));
  const auto ranks = assignment.data<std::int32_t>();
  std::vector<bool> seen(static_cast<std::size_t>(size));
  Place out{-1, 0};
  if (assignment.num_elements() != size)
    return invalid_argument(str_cat("group_assignment of shape ", shape, " names ",
                                    assignment.num_elements(), " ranks, but the communicator has ",
                                    size, "; name each rank once"));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] < 0 || ranks[i] >= size || seen[static_cast<std::size_t>(ranks[i])])
      return invalid_argument(str_cat("group_assignment names rank ", ranks[i],
                                      " twice, or it is not one of the communicator's ", size));
    seen[static_cast<std::size_t>(ranks[i])] = true;
    if (ranks[i] == rank)
      out = {static_cast<std::int64_t>(i) / shape[1],
             static_cast<int>(static_cast<std::int64_t>(i) % shape[1])};
  }
  return out;
}

} // namespace

Result<CollectiveCall> call_in_communicator(KernelContext& c) {
  TROUPE_ASSIGN(auto communicator, input_resource<Communicator>(c, 1));
  const auto& attrs = c.prepared<NodeAttrs>();
  CollectiveCall call;
  call.input = c.input(0);
  call.spec.kind = attrs.kind;
  call.spec.dtype = attrs.dtype;
  call.spec.merge = attrs.merge;
  call.spec.shape = call.input.shape();
  call.spec.group_key = communicator->group_key;
  call.spec.group_size = communicator->group_size;
  call.spec.instance_key = communicator->next_instance(c.step().step_id);
  call.rank = communicator->rank;
  call.timeout_us = attrs.timeout_us;
  call.math = attrs.math;
  if (c.input(2).num_elements() > 0) {
    TROUPE_ASSIGN(const Place place,
                  place_in(c.input(2), communicator->rank, communicator->group_size));
    call.spec.group_key = (communicator->group_key & 0xffffffff) | ((place.group + 1) << key_bits);
    call.spec.group_size = static_cast<std::int32_t>(c.input(2).shape()[1]);
    call.rank = place.rank;
  }
  return call;
}

} // namespace troupe::collective
