// WrapDatasetVariant and UnwrapDatasetVariant mark a dataset that goes to another device, as
// copy_to_device sends it: TensorFlow copies no dataset between devices unless it is wrapped. Here
// every device of a task may read one, so both hand on what they get.
#include "kernels/data/internal/register.hpp"

namespace troupe::data_wrap_dataset {
namespace {

Status hand_on(KernelContext& c) {
  TROUPE_TRY(data::input_dataset(c, 0).status());
  return c.set_output(0, c.take_input(0));
}

} // namespace

void register_ops(OpLibrary& library) {
  for (std::string_view name : {"WrapDatasetVariant", "UnwrapDatasetVariant"})
    library.op(name)
        .input("input_handle: variant")
        .output("output_handle: variant")
        .shape_fn(shape_scalar)
        .not_differentiable("datasets have no gradients")
        .cpu_kernel(hand_on)
        .doc("The dataset; it marks one that goes to another device.");
}

} // namespace troupe::data_wrap_dataset
