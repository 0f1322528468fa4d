// AddSparseToTensorsMap, AddManySparseToTensorsMap and TakeManySparseFromTensorsMap: sparse tensors
// that a node of the cluster keeps, by number, until they are taken.
#include <mutex>
#include <set>
#include <unordered_map>

#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"
#include "kernels/framework/shape_rules.hpp"
#include "kernels/sparse/internal/parts.hpp"

namespace troupe::sparse_tensors_map {
namespace {

using sparse::Dims;
using sparse::Part;

class SparseTensors final : public Resource {
public:
  std::int64_t add(Part part) {
    std::scoped_lock guard(lock_);
    parts_.emplace(next_, std::move(part));
    return next_++;
  }
  /// All of them or none.
  Result<std::vector<Part>> take(std::span<const std::int64_t> handles, std::string_view name) {
    std::scoped_lock guard(lock_);
    std::set<std::int64_t> seen;
    for (std::int64_t handle : handles)
      if (!parts_.contains(handle) || !seen.insert(handle).second)
        return invalid_argument(
            str_cat("Unable to find SparseTensor: ", handle, " in map: ", name));
    std::vector<Part> out;
    for (std::int64_t handle : handles)
      out.push_back(std::move(parts_.extract(handle).mapped()));
    return out;
  }
  std::string description() const override {
    std::scoped_lock guard(lock_);
    return str_cat("a map of ", parts_.size(), " sparse tensors");
  }

private:
  mutable std::mutex lock_;
  std::int64_t next_ = 0;
  std::unordered_map<std::int64_t, Part> parts_;
};

Result<std::shared_ptr<const void>> prepare(PrepareContext& c) {
  TROUPE_ASSIGN(const NodeResource kept, named_resource(c));
  return prepared(kept);
}

Result<std::shared_ptr<SparseTensors>> map_of(KernelContext& c) {
  const ResourceName& name = c.prepared<NodeResource>().name;
  return c.resources().lookup_or_create<SparseTensors>(
      name.container, name.name,
      []() -> Result<std::shared_ptr<SparseTensors>> { return std::make_shared<SparseTensors>(); });
}

Status add(KernelContext& c) {
  TROUPE_ASSIGN(Part part, sparse::input_part(c));
  TROUPE_TRY(sparse::sparse_input(c, 0).status());
  TROUPE_TRY(Shape::make(part.shape.data<std::int64_t>()).status());
  TROUPE_ASSIGN(const auto map, map_of(c));
  return c.set_output(0, Tensor::scalar<std::int64_t>(map->add(std::move(part))));
}

Status add_many(KernelContext& c) {
  TROUPE_ASSIGN(const Part batch, sparse::input_part(c));
  const auto shape = batch.shape.data<std::int64_t>();
  const std::int64_t rows = shape.size() > 1 ? std::max<std::int64_t>(shape[0], 0) : 0;
  TROUPE_ASSIGN(Tensor handles, c.allocate_output(0, Shape{rows}));
  TROUPE_ASSIGN(const auto map, map_of(c));
  std::vector<Part> parts;
  TROUPE_TRY(sparse::cut(c, batch, [&](Part part) -> Status {
    parts.push_back(std::move(part));
    return {};
  }));
  std::ranges::transform(parts, handles.mutable_data<std::int64_t>().begin(),
                         [&](Part& part) { return map->add(std::move(part)); });
  return {};
}

Status take_many(KernelContext& c) {
  const Tensor& handles = c.input(0);
  if (handles.shape().rank() != 1)
    return invalid_argument(
        str_cat("sparse_handles should be a vector but received shape ", handles.shape()));
  if (handles.num_elements() == 0)
    return invalid_argument(
        "Must have at least 1 serialized SparseTensor, but input matrix has 0 rows");
  TROUPE_ASSIGN(const auto map, map_of(c));
  TROUPE_ASSIGN(const std::vector<Part> parts,
                map->take(handles.data<std::int64_t>(), c.prepared<NodeResource>().name.name));
  return sparse::give_joined(c, parts, Dims{handles.num_elements()}, "rank", 1);
}

Status infer_added(ShapeContext& c) {
  TROUPE_TRY(c.require_rank(0, 2));
  TROUPE_TRY(c.require_rank(1, 1));
  return c.require_rank(2, 1);
}

} // namespace

void register_ops(OpLibrary& library) {
  KernelOptions options;
  options.prepare = prepare;
  constexpr auto given = "sparse_indices: int64; sparse_values: T; sparse_shape: int64";
  constexpr auto place = "container: string = ''; shared_name: string = ''";
  constexpr auto handles = "its values are handles";
  library.op("AddSparseToTensorsMap")
      .input(given)
      .output("sparse_handle: int64")
      .attr("T: type")
      .attr(place)
      .stateful()
      .roles(Role::side_effect)
      .shape_fn([](ShapeContext& c) -> Status {
        TROUPE_TRY(infer_added(c));
        return shape_scalar(c);
      })
      .not_differentiable(handles)
      .cpu_kernel(add, options)
      .doc("Keeps a sparse tensor; the output is its number.");
  library.op("AddManySparseToTensorsMap")
      .input(given)
      .output("sparse_handles: int64")
      .attr("T: type")
      .attr(place)
      .stateful()
      .roles(Role::side_effect)
      .shape_fn([](ShapeContext& c) -> Status {
        TROUPE_TRY(infer_added(c));
        return c.set_output(0, {-1});
      })
      .not_differentiable(handles)
      .cpu_kernel(add_many, options)
      .doc("Keeps each row of a batch of sparse tensors.");
  library.op("TakeManySparseFromTensorsMap")
      .input("sparse_handles: int64")
      .output("sparse_indices: int64; sparse_values: dtype; sparse_shape: int64")
      .attr("dtype: type")
      .attr(place)
      .stateful()
      .roles(Role::side_effect)
      .shape_fn([](ShapeContext& c) -> Status {
        TROUPE_TRY(c.require_rank(0, 1));
        TROUPE_TRY(c.set_output(0, {-1, -1}));
        TROUPE_TRY(c.set_output(1, {-1}));
        return c.set_output(2, {-1});
      })
      .not_differentiable(handles)
      .cpu_kernel(take_many, options)
      .doc("The sparse tensors of these numbers as a batch; the map forgets them.");
}

} // namespace troupe::sparse_tensors_map
