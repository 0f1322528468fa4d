// What the ops on staging areas and staging maps share: the resource that a node names, its
// attributes.
#pragma once

#include "devices/resource/staging_area.hpp"
#include "kernels/framework/op_library.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::staging {

struct Node {
  NodeResource resource;
  StagingLimits limits;
  std::vector<DType> types;
};
/// A PrepareFn that keeps a Node. All of them name a resource: `shared_name`, or the node's name.
Result<std::shared_ptr<const void>> prepare(PrepareContext& c);

/// The resource that the node names, made by whichever node comes first.
template <class T>
Result<std::shared_ptr<T>> find(KernelContext& c) {
  const auto& [container, name] = c.prepared<Node>().resource.name;
  return c.resources().lookup_or_create<T>(container, name, [&]() -> Result<std::shared_ptr<T>> {
    return std::make_shared<T>(c.prepared<Node>().limits);
  });
}

/// "capacity …; memory_limit …; dtypes …; container …; shared_name …" as all of them have it.
std::string attrs(std::string_view least);

/// Inputs [first, …) as a tuple.
std::vector<Tensor> inputs_from(const KernelContext& c, int first);

} // namespace troupe::staging
