// Resources without a name of their own: they live as long as a variant beside their handle, or
// their step.
#pragma once

#include <memory>
#include <mutex>

#include "kernels/data/internal/register.hpp"
#include "kernels/framework/resources.hpp"

namespace troupe::data {

/// The way to a device's resources for what may outlive them.
class ResourcesLink {
public:
  explicit ResourcesLink(ResourceManager& manager) : manager_(&manager) {}
  void cut() {
    std::scoped_lock guard(lock_);
    manager_ = nullptr;
  }
  template <class Use>
  void with_manager(Use&& use) {
    std::scoped_lock guard(lock_);
    if (manager_)
      use(*manager_);
  }

private:
  std::recursive_mutex lock_; // a resource that is removed may hold what removes another
  ResourceManager* manager_;
};

/// Cuts the link when the resources are dropped.
class ResourcesAnchor final : public Resource {
public:
  explicit ResourcesAnchor(std::shared_ptr<ResourcesLink> link) : link_(std::move(link)) {}
  ~ResourcesAnchor() override { link_->cut(); }
  std::string description() const override { return "anchor of resources without a name"; }
  const std::shared_ptr<ResourcesLink>& link() const { return link_; }

private:
  std::shared_ptr<ResourcesLink> link_;
};

/// Removes a resource of the device at its end.
template <class T>
class RemovedAtEnd {
public:
  RemovedAtEnd(std::shared_ptr<ResourcesLink> link, ResourceName name)
      : link_(std::move(link)), name_(std::move(name)) {}
  RemovedAtEnd(const RemovedAtEnd&) = delete;
  ~RemovedAtEnd() {
    link_->with_manager([&](ResourceManager& manager) {
      (void)manager.remove<T>(name_.container, name_.name); // may have been deleted before
    });
  }

private:
  std::shared_ptr<ResourcesLink> link_;
  ResourceName name_;
};

/// A variant whose last copy removes the resource.
template <class T>
class Deleter final : public VariantValue {
public:
  explicit Deleter(std::shared_ptr<RemovedAtEnd<T>> resource) : resource_(std::move(resource)) {}
  Result<VariantParts> parts() const override {
    return unimplemented("what deletes a resource cannot leave its task");
  }

private:
  std::shared_ptr<RemovedAtEnd<T>> resource_;
};

/// The same for a resource whose handle is alone: it lives as long as the step.
template <class T>
class Keeper final : public Resource {
public:
  explicit Keeper(std::shared_ptr<RemovedAtEnd<T>> resource) : resource_(std::move(resource)) {}
  std::string description() const override { return "keeper of a resource"; }

private:
  std::shared_ptr<RemovedAtEnd<T>> resource_;
};

/// The way to the device's resources, and a name that is not used there.
struct AnonymousPlace {
  std::shared_ptr<ResourcesLink> link;
  ResourceName name;
};
Result<AnonymousPlace> anonymous_place(const KernelContext& c);

/// The handle becomes output 0, and what deletes the resource output 1, if there is one.
template <class T>
Status give_anonymous(KernelContext& c, std::shared_ptr<T> resource) {
  TROUPE_ASSIGN(const AnonymousPlace place, anonymous_place(c));
  const auto& [container, name] = place.name;
  const auto same = [&]() -> Result<std::shared_ptr<T>> { return resource; };
  TROUPE_TRY(c.resources().lookup_or_create<T>(container, name, same).status());
  auto removed = std::make_shared<RemovedAtEnd<T>>(place.link, place.name);
  TROUPE_TRY(c.set_output(0, Tensor::scalar(make_handle<T>(c.device(), container, name))));
  if (c.num_outputs() == 2) {
    Variant deleter;
    deleter.type_name = "ResourceDeleter";
    deleter.value = std::make_shared<Deleter<T>>(std::move(removed));
    return c.set_output(1, Tensor::scalar(std::move(deleter)));
  }
  const auto keeper = [&]() -> Result<std::shared_ptr<Keeper<T>>> {
    return std::make_shared<Keeper<T>>(std::move(removed));
  };
  return c.step().step_resources->lookup_or_create<Keeper<T>>("", name, keeper).status();
}

/// The kernel of an op that removes a resource by its handle.
template <class T>
Status delete_anonymous(KernelContext& c) {
  TROUPE_ASSIGN(const ResourceHandle* handle, local_handle(c, 0));
  return c.resources().remove<T>(handle->container, handle->name);
}

/// A handle that names nothing.
inline Status give_dummy(KernelContext& c) {
  ResourceHandle handle;
  handle.device = c.device().name();
  return c.set_output(0, Tensor::scalar(std::move(handle)));
}

} // namespace troupe::data
