#include "devices/resource/staging_map.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe {

Status StagingMap::declare(const std::vector<DType>& types) {
  return locked([&]() -> Status {
    if (types_.empty())
      types_ = types;
    if (types_ == types)
      return {};
    return invalid_argument(str_cat("The staging map has tuples of ", types_.size(),
                                    " components, not of these ", types.size(),
                                    ", or of other dtypes; another shared_name makes another map"));
  });
}

Status StagingMap::check_places(const Places& places) const {
  if (places.empty())
    return invalid_argument("Indices are empty");
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i - 1] >= places[i])
      return invalid_argument("Indices are not strictly ordered");
  return {};
}

Status StagingMap::check_place(Key key, std::int64_t place) const {
  if (place >= 0 && place < static_cast<std::int64_t>(types_.size()))
    return {};
  return invalid_argument(
      str_cat("Index '", place, "' for key '", key, "' was out of bounds '", types_.size(), "'."));
}

Status StagingMap::check_put(Key key, const Places& places, const Tensors& components) const {
  if (places.size() != components.size())
    return invalid_argument(
        str_cat("Mismatch of indices and values: ", places.size(), " vs. ", components.size()));
  const auto found = is_whole(places) ? incomplete_.end() : incomplete_.find(key);
  for (std::size_t i = 0; i < places.size(); ++i) {
    TROUPE_TRY(check_place(key, places[i]));
    const auto place = static_cast<std::size_t>(places[i]);
    if (found != incomplete_.end() && found->second[place].has_value())
      return invalid_argument(str_cat("The tensor for index '", places[i], "' for key '", key,
                                      "' was already initialized '", types_.size(), "'."));
    if (components[i].dtype() != types_[place])
      return invalid_argument(str_cat("The tensor for index '", places[i], "' for key '", key,
                                      "' is of ", to_string(components[i].dtype()), ", not of ",
                                      to_string(types_[place])));
  }
  return {};
}

/// Parts of tuples are let in whenever there are bytes for them, as in TensorFlow.
bool StagingMap::has_room(const Places& places, std::size_t size) const {
  if (limits_.bytes > 0 && bytes_ + size > limits_.bytes)
    return false;
  return limits_.elements == 0 || !is_whole(places) ||
         static_cast<std::int64_t>(whole_.size()) < limits_.elements;
}

void StagingMap::insert(Key key, const Places& places, Tensors components, std::size_t size) {
  if (is_whole(places)) { // whatever parts there are
    if (whole_.emplace(key, std::move(components)).second)
      bytes_ += size;
    return;
  }
  Tuple& tuple = incomplete_.try_emplace(key, types_.size()).first->second;
  for (std::size_t i = 0; i < places.size(); ++i)
    tuple[static_cast<std::size_t>(places[i])] = std::move(components[i]);
  bytes_ += size;
  if (!std::ranges::all_of(tuple, &Tensor::has_value))
    return;
  auto entry = incomplete_.extract(key);
  const std::size_t all = bytes_of(entry.mapped());
  if (!whole_.insert(std::move(entry)).inserted)
    bytes_ -= all;
}

void StagingMap::put(Ticket ticket, Key key, Places places, Tensors components, Done done) {
  const std::size_t size = bytes_of(components);
  Status status = check_places(places);
  if (status.ok())
    status = check_fits(size, limits_);
  if (!status.ok())
    return done(std::move(status));
  auto attempt = [this, key, size, places = std::move(places),
                  components = std::move(components)]() mutable -> std::optional<Result<Tensors>> {
    if (Status wrong = check_put(key, places, components); !wrong.ok())
      return wrong;
    if (!has_room(places, size))
      return {};
    insert(key, places, std::move(components), size);
    return Tensors();
  };
  submit(ticket, no_lane, std::move(attempt), std::move(done));
}

Result<std::vector<Tensor>> StagingMap::components(Key key, const Tuple& tuple,
                                                   const Places& places,
                                                   const std::vector<DType>& types) const {
  Tensors out;
  for (const std::int64_t place : places) {
    TROUPE_TRY(check_place(key, place));
    const Tensor& component = tuple[static_cast<std::size_t>(place)];
    if (!component.has_value())
      return invalid_argument(
          str_cat("Tensor at index '", place, "' for key '", key, "' has already been removed."));
    out.push_back(component);
  }
  if (out.size() != types.size())
    return invalid_argument(
        str_cat("output/indices size mismatch: ", types.size(), " vs. ", out.size()));
  TROUPE_TRY(check_staged(out, types));
  return out;
}

Result<std::vector<Tensor>> StagingMap::remove(std::map<Key, Tuple>::iterator entry,
                                               const Places& places,
                                               const std::vector<DType>& types) {
  TROUPE_ASSIGN(Tensors out, components(entry->first, entry->second, places, types));
  for (const std::int64_t place : places)
    entry->second[static_cast<std::size_t>(place)] = Tensor();
  bytes_ -= bytes_of(out);
  if (std::ranges::none_of(entry->second, &Tensor::has_value))
    whole_.erase(entry);
  return out;
}

void StagingMap::take(Ticket ticket, Key key, Places places, std::vector<DType> types, Done done) {
  if (Status status = check_places(places); !status.ok())
    return done(std::move(status));
  auto attempt = [this, key, places = std::move(places),
                  types = std::move(types)]() -> std::optional<Result<Tensors>> {
    const auto found = whole_.find(key);
    if (found == whole_.end())
      return {};
    return remove(found, places, types);
  };
  submit(ticket, no_lane, std::move(attempt), std::move(done));
}

void StagingMap::peek(Ticket ticket, Key key, Places places, std::vector<DType> types, Done done) {
  if (Status status = check_places(places); !status.ok())
    return done(std::move(status));
  auto attempt = [this, key, places = std::move(places),
                  types = std::move(types)]() -> std::optional<Result<Tensors>> {
    const auto found = whole_.find(key);
    if (found == whole_.end())
      return {};
    return components(key, found->second, places, types);
  };
  submit(ticket, no_lane, std::move(attempt), std::move(done));
}

void StagingMap::take_any(Ticket ticket, Places places, std::vector<DType> types, Done done) {
  if (Status status = check_places(places); !status.ok())
    return done(std::move(status));
  auto attempt = [this, places = std::move(places),
                  types = std::move(types)]() -> std::optional<Result<Tensors>> {
    if (whole_.empty())
      return {};
    const Key key = whole_.begin()->first;
    auto out = remove(whole_.begin(), places, types);
    if (out.ok())
      out->insert(out->begin(), Tensor::scalar(key));
    return out;
  };
  submit(ticket, no_lane, std::move(attempt), std::move(done));
}

std::int64_t StagingMap::size() const {
  return read([&] { return static_cast<std::int64_t>(whole_.size()); });
}

std::int64_t StagingMap::incomplete_size() const {
  return read([&] { return static_cast<std::int64_t>(incomplete_.size()); });
}

void StagingMap::clear() {
  std::map<Key, Tuple> whole, incomplete; // destroyed outside the lock
  locked([&] {
    whole.swap(whole_);
    incomplete.swap(incomplete_);
    bytes_ = 0;
  });
}

std::string StagingMap::description() const {
  return str_cat("staging map of ", size(), " tuples, ", incomplete_size(), " incomplete");
}

std::size_t StagingMap::bytes() const {
  return read([&] { return bytes_; });
}

} // namespace troupe
