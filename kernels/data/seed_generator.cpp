// AnonymousSeedGenerator, AnonymousRandomSeedGenerator, DummySeedGenerator: a generator of seeds
// that several datasets have in common; DeleteSeedGenerator, DeleteRandomSeedGenerator.
#include "kernels/data/internal/seed_generator.hpp"

#include "kernels/data/internal/anonymous.hpp"

namespace troupe::data_seed_generator {

using namespace data;

namespace {

template <bool with_reshuffle>
Status make(KernelContext& c) {
  TROUPE_ASSIGN(const auto seed, scalar_input<std::int64_t>(c, 0));
  TROUPE_ASSIGN(const auto seed2, scalar_input<std::int64_t>(c, 1));
  bool reshuffle = true;
  if constexpr (with_reshuffle) {
    TROUPE_ASSIGN(reshuffle, scalar_input<bool>(c, 2));
  }
  return give_anonymous(c, std::make_shared<SeedGenerator>(Seeds{seed, seed2}, reshuffle));
}

} // namespace

void register_ops(OpLibrary& library) {
  library.op("AnonymousSeedGenerator")
      .input("seed: int64; seed2: int64; reshuffle: bool")
      .output("handle: resource; deleter: variant")
      .stateful()
      .shape_fn(shapes_of_scalars<0, 1, 2>)
      .not_differentiable(no_gradient)
      .cpu_kernel(make<true>)
      .doc("A generator of seeds for shuffles.");
  library.op("AnonymousRandomSeedGenerator")
      .input("seed: int64; seed2: int64")
      .output("handle: resource; deleter: variant")
      .stateful()
      .shape_fn(shapes_of_scalars<0, 1>)
      .not_differentiable(no_gradient)
      .cpu_kernel(make<false>)
      .doc("A generator of seeds for shuffles, other ones each time.");
  library.op("DummySeedGenerator")
      .output("handle: resource")
      .stateful()
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(give_dummy)
      .doc("A handle that names no generator.");
  for (const char* name : {"DeleteSeedGenerator", "DeleteRandomSeedGenerator"})
    library.op(name)
        .input("handle: resource; deleter: variant")
        .stateful()
        .roles(Role::side_effect)
        .shape_fn(shape_none)
        .not_differentiable(no_gradient)
        .cpu_kernel(delete_anonymous<SeedGenerator>)
        .doc("Ends a generator of seeds.");
}

} // namespace troupe::data_seed_generator
