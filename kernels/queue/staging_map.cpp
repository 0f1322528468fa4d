// MapStage, MapUnstage, MapUnstageNoKey, MapPeek, MapSize, MapIncompleteSize, MapClear, and the
// same of OrderedMap: tuples under keys that wait between steps. The unordered ones take any key;
// here both take the smallest.
#include "devices/resource/staging_map.hpp"
#include "core/base/strings.hpp"
#include "kernels/framework/wait.hpp"
#include "kernels/queue/internal/staging.hpp"

namespace troupe::queue_staging_map {
namespace {

Result<StagingMap::Key> key_of(const KernelContext& c) {
  const Tensor& key = c.input(0);
  if (key.num_elements() == 0)
    return invalid_argument("key must not be empty");
  if (key.num_elements() != 1)
    return invalid_argument(
        str_cat("key must be an int64 scalar, got tensor with shape: ", key.shape()));
  return key.data<std::int64_t>()[0];
}

StagingMap::Places places_in(const KernelContext& c, int input) {
  const auto places = c.input(input).data<std::int32_t>();
  return {places.begin(), places.end()};
}

Status begin_put(KernelContext& c, const KernelDone& done) {
  TROUPE_ASSIGN(auto map, staging::find<StagingMap>(c));
  TROUPE_TRY(map->declare(c.prepared<staging::Node>().types));
  TROUPE_ASSIGN(const auto key, key_of(c));
  wait_on(c, done, map, [&](Monitor::Ticket ticket, Arrived arrived) {
    map->put(ticket, key, places_in(c, 1), staging::inputs_from(c, 2), std::move(arrived));
  });
  return {};
}

Status begin_take(KernelContext& c, const KernelDone& done) {
  TROUPE_ASSIGN(auto map, staging::find<StagingMap>(c));
  TROUPE_ASSIGN(const auto key, key_of(c));
  wait_on(c, done, map, [&](Monitor::Ticket ticket, Arrived arrived) {
    map->take(ticket, key, places_in(c, 1), c.io().types.outputs, std::move(arrived));
  });
  return {};
}

Status begin_peek(KernelContext& c, const KernelDone& done) {
  TROUPE_ASSIGN(auto map, staging::find<StagingMap>(c));
  TROUPE_ASSIGN(const auto key, key_of(c));
  wait_on(c, done, map, [&](Monitor::Ticket ticket, Arrived arrived) {
    map->peek(ticket, key, places_in(c, 1), c.io().types.outputs, std::move(arrived));
  });
  return {};
}

Status begin_take_any(KernelContext& c, const KernelDone& done) {
  TROUPE_ASSIGN(auto map, staging::find<StagingMap>(c));
  wait_on(c, done, map, [&](Monitor::Ticket ticket, Arrived arrived) {
    const auto& types = c.io().types.outputs; // the key first
    map->take_any(ticket, places_in(c, 0), {types.begin() + 1, types.end()}, std::move(arrived));
  });
  return {};
}

template <Status (*begin)(KernelContext&, const KernelDone&)>
void compute(KernelContext& c, KernelDone done) {
  if (Status status = begin(c, done); !status.ok())
    done(std::move(status));
}

template <std::int64_t (StagingMap::*count)() const>
Status size(KernelContext& c) {
  TROUPE_ASSIGN(auto map, staging::find<StagingMap>(c));
  return c.set_output(0, Tensor::scalar(static_cast<std::int32_t>((*map.*count)())));
}

Status clear(KernelContext& c) {
  TROUPE_ASSIGN(auto map, staging::find<StagingMap>(c));
  map->clear();
  return {};
}

void add(OpLibrary& library, const std::string& map, std::string_view which) {
  constexpr auto no_gradient = "what is staged comes from other steps";
  library.op(map + "Stage")
      .input("key: int64; indices: int32; values: fake_dtypes")
      .attr("capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; dtypes: list(type); "
            "fake_dtypes: list(type) >= 1; container: string = ''; shared_name: string = ''")
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_none)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(compute<begin_put>, {.prepare = staging::prepare})
      .doc("Gives the tuple of `key` in a staging map the components at `indices`, once there is "
           "room.");
  library.op(map + "Unstage")
      .input("key: int64; indices: int32")
      .output("values: dtypes")
      .attr(staging::attrs(" >= 1"))
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_unknown)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(compute<begin_take>, {.prepare = staging::prepare})
      .doc("Takes components of the tuple of `key` out of a staging map, once it is whole.");
  library.op(map + "UnstageNoKey")
      .input("indices: int32")
      .output("key: int64; values: dtypes")
      .attr(staging::attrs(" >= 1"))
      .stateful()
      .roles({Role::side_effect, Role::blocks})
      .shape_fn(shape_unknown)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(compute<begin_take_any>, {.prepare = staging::prepare})
      .doc(str_cat("Takes components of the tuple of ", which,
                   " out of a staging map, once there is one."));
  library.op(map + "Peek")
      .input("key: int64; indices: int32")
      .output("values: dtypes")
      .attr(staging::attrs(" >= 1"))
      .stateful()
      .roles({Role::random, Role::blocks})
      .shape_fn(shape_unknown)
      .not_differentiable(no_gradient)
      .cpu_kernel_async(compute<begin_peek>, {.prepare = staging::prepare})
      .doc("Components of the tuple of `key` in a staging map, once it is whole; they stay.");
  library.op(map + "Size")
      .output("size: int32")
      .attr(staging::attrs(""))
      .stateful()
      .roles(Role::random)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(size<&StagingMap::size>, {.prepare = staging::prepare})
      .doc("How many whole tuples a staging map has.");
  library.op(map + "IncompleteSize")
      .output("size: int32")
      .attr(staging::attrs(""))
      .stateful()
      .roles(Role::random)
      .shape_fn(shape_scalar)
      .not_differentiable(no_gradient)
      .cpu_kernel(size<&StagingMap::incomplete_size>, {.prepare = staging::prepare})
      .doc("How many tuples of a staging map lack components.");
  library.op(map + "Clear")
      .attr(staging::attrs(""))
      .stateful()
      .roles(Role::side_effect)
      .shape_fn(shape_none)
      .not_differentiable(no_gradient)
      .cpu_kernel(clear, {.prepare = staging::prepare})
      .doc("Drops all tuples of a staging map.");
}

} // namespace

void register_ops(OpLibrary& library) {
  add(library, "Map", "any key");
  add(library, "OrderedMap", "the smallest key");
}

} // namespace troupe::queue_staging_map
