// ResourceManager: the state of a device that outlives a step, by container, type and name.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <typeinfo>
#include <vector>

#include "core/base/function_view.hpp"
#include "core/base/status.hpp"
#include "core/tensor/tensor.hpp"
#include "core/tensor/variable_memory.hpp"

namespace troupe {

/// Anything a resource handle or a reference edge may name. Held by shared_ptr: a step that uses a
/// resource keeps it alive.
class Resource {
public:
  virtual ~Resource() = default;
  /// For people: "variable f32[784,10]".
  virtual std::string description() const = 0;
  virtual std::size_t bytes() const { return 0; }
};

/// A mutable tensor. Readers take a shared snapshot; a writer changes the buffer in place when
/// nobody else holds it and replaces it otherwise, so that a snapshot never changes under its
/// reader.
class Variable : public Resource {
public:
  /// `declared` is the shape that its node says it has; nothing: any.
  explicit Variable(DType dtype, std::optional<Shape> declared = {})
      : dtype_(dtype), declared_(std::move(declared)) {}
  DType dtype() const { return dtype_; }
  /// For its first value: later ones are compared with the value that is there.
  const std::optional<Shape>& declared_shape() const { return declared_; }
  bool is_initialized() const;
  /// A tensor without value when uninitialised.
  Tensor snapshot() const;
  /// The same, from `memory`: the value is moved there if it lies elsewhere and there is room, and
  /// updates leave it there. Plain elements in host memory only.
  Tensor snapshot_in(const std::shared_ptr<VariableMemory>& memory);
  /// Replaces the value. The dtype is the caller's promise.
  void assign(Tensor value);
  /// Runs `update(Tensor& value)` alone. When `value` is shared with readers it is copied first, if
  /// `in_place` (the update reads or writes its elements). FAILED_PRECONDITION if uninitialised;
  /// otherwise what `update` returns.
  Status update(FunctionView<Status(Tensor& value)> update, bool in_place = true);
  std::string description() const override;
  std::size_t bytes() const override;

private:
  bool is_shown() const { return memory_ && memory_->holds(value_.raw()); }
  Result<Tensor> private_copy() const;

  mutable std::mutex lock_;
  DType dtype_;
  std::optional<Shape> declared_;
  Tensor value_;
  std::shared_ptr<VariableMemory> memory_; // null until it was asked for
};

/// One that nodes refer to without a handle (VariableV2). A kind of its own: a container may hold a
/// Variable of the same name, which is another.
class RefVariable final : public Variable {
public:
  using Variable::Variable;
};

class ResourceManager {
public:
  explicit ResourceManager(std::string default_container = "localhost")
      : default_container_(std::move(default_container)) {}
  ~ResourceManager();
  ResourceManager(const ResourceManager&) = delete;
  ResourceManager& operator=(const ResourceManager&) = delete;
  const std::string& default_container() const { return default_container_; }

  /// NOT_FOUND naming container, type and name.
  template <class T>
  Result<std::shared_ptr<T>> lookup(std::string_view container, std::string_view name);
  /// Finds it, or makes it by `make`, which returns Result<std::shared_ptr<T>>; only one thread
  /// makes, and it must not use this manager meanwhile.
  template <class T, class Make>
  Result<std::shared_ptr<T>> lookup_or_create(std::string_view container, std::string_view name,
                                              Make&& make);
  /// NOT_FOUND if absent.
  template <class T>
  Status remove(std::string_view container, std::string_view name) {
    return remove(container, typeid(T).name(), name);
  }
  /// The same for the type of which this is the name, as handles have it.
  Status remove(std::string_view container, std::string_view type, std::string_view name);
  /// Drops everything in a container ("" the default one).
  void clear_container(std::string_view container);
  void clear();
  /// Drops everything, and from now on makes nothing: lookup_or_create fails with `why`.
  void close(const Status& why);

  struct Entry {
    std::string container, type, name, description;
    std::size_t bytes = 0;
  };
  std::vector<Entry> list() const;

private:
  using Key = std::tuple<std::string, std::string, std::string>; // container, C++ type, name
  using KeyView = std::tuple<std::string_view, std::string_view, std::string_view>;
  KeyView key(std::string_view container, std::string_view type, std::string_view name) const {
    return {container.empty() ? default_container_ : container, type, name};
  }
  static Status missing(const KeyView& key);

  std::string default_container_;
  mutable std::mutex lock_;
  Status closed_; // not ok: why it makes nothing more
  std::map<Key, std::shared_ptr<Resource>, std::less<>> entries_; // found by KeyView, too
};

template <class T>
Result<std::shared_ptr<T>> ResourceManager::lookup(std::string_view container,
                                                   std::string_view name) {
  const KeyView k = key(container, typeid(T).name(), name);
  std::scoped_lock guard(lock_);
  auto it = entries_.find(k);
  if (it == entries_.end())
    return missing(k);
  return std::static_pointer_cast<T>(it->second);
}

template <class T, class Make>
Result<std::shared_ptr<T>> ResourceManager::lookup_or_create(std::string_view container,
                                                             std::string_view name, Make&& make) {
  const KeyView k = key(container, typeid(T).name(), name);
  std::scoped_lock guard(lock_);
  auto it = entries_.find(k);
  if (it != entries_.end())
    return std::static_pointer_cast<T>(it->second);
  TROUPE_TRY(closed_);
  Result<std::shared_ptr<T>> made = make();
  if (made.ok())
    entries_.emplace(k, *made);
  return made;
}

} // namespace troupe
