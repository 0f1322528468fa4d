// StagingMap: tuples of tensors under keys, put together component by component, that others wait
// for.
#pragma once

#include <map>
#include <string>

#include "devices/resource/staging_area.hpp"

namespace troupe {

/// A tuple can be taken once it is whole. Components are named by their places in the tuple, in
/// rising order.
class StagingMap final : public Monitor {
public:
  using Key = std::int64_t;
  using Places = std::vector<std::int64_t>;

  explicit StagingMap(StagingLimits limits) : limits_(limits) {}

  /// Before anything is put in: the dtypes of whole tuples. INVALID_ARGUMENT if they were others
  /// before.
  Status declare(const std::vector<DType>& types);
  /// Gives the tuple of that key these components; answers with nothing once there is room for
  /// them. A whole tuple for a key that has one is dropped. INVALID_ARGUMENT for an index out of
  /// range or already filled, and for other dtypes.
  void put(Ticket ticket, Key key, Places places, Tensors components, Done done);
  /// Answers with these components once the key has a whole tuple. With `take` the components are
  /// removed, and with the last of them the key. INVALID_ARGUMENT for one that was removed before.
  void take(Ticket ticket, Key key, Places places, std::vector<DType> types, Done done);
  void peek(Ticket ticket, Key key, Places places, std::vector<DType> types, Done done);
  /// The same with the smallest key there is, which becomes the first tensor of the answer.
  void take_any(Ticket ticket, Places places, std::vector<DType> types, Done done);
  std::int64_t size() const;            ///< of keys with whole tuples, or what is left of them
  std::int64_t incomplete_size() const; ///< of keys that lack components
  void clear();
  std::string description() const override;
  std::size_t bytes() const override;

private:
  using Tuple = std::vector<Tensor>; // without value: not there yet, or gone

  Status check_places(const Places& places) const;
  Status check_place(Key key, std::int64_t place) const;
  Status check_put(Key key, const Places& places, const Tensors& components) const;
  bool is_whole(const Places& places) const { return places.size() == types_.size(); }
  bool has_room(const Places& places, std::size_t size) const;
  void insert(Key key, const Places& places, Tensors components, std::size_t size);
  Result<Tensors> components(Key key, const Tuple& tuple, const Places& places,
                             const std::vector<DType>& types) const;
  Result<Tensors> remove(std::map<Key, Tuple>::iterator entry, const Places& places,
                         const std::vector<DType>& types);

  std::vector<DType> types_; // empty: not declared yet
  const StagingLimits limits_;
  std::map<Key, Tuple> whole_, incomplete_;
  std::size_t bytes_ = 0;
};

} // namespace troupe
