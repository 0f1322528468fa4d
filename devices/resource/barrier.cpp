#include "devices/resource/barrier.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "devices/resource/batches.hpp"

namespace troupe {
Status Barrier::check_same(const Spec& other) const {
  if (other.types != spec_.types)
    return invalid_argument(str_cat("Shared barrier '", name_, "' has component types ",
                                    names_of(spec_.types), " but requested component types were ",
                                    names_of(other.types)));
  if (other.shapes != spec_.shapes)
    return invalid_argument(
        str_cat("Shared barrier '", name_, "' has component shapes [", str_join(spec_.shapes, ", "),
                "] but requested component shapes were [", str_join(other.shapes, ", "), "]"));
  return {};
}

Status Barrier::closed(std::string_view what) const {
  return cancelled(str_cat("Barrier ", name_, " is closed", what,
                           ".  Number of incomplete keys: ", incomplete_.size(), "."));
}

Status Barrier::check_insert(const Tensor& keys, const Tensor& values,
                             std::int64_t component) const {
  if (component < 0 || component >= std::ssize(spec_.types))
    return invalid_argument(str_cat("The component ID is out of range ", component,
                                    " > num_components (= ", spec_.types.size(), ")"));
  const auto at = static_cast<std::size_t>(component);
  if (values.dtype() != spec_.types[at])
    return invalid_argument(str_cat("Type mismatch in component ", component, ". Expected ",
                                    to_string(spec_.types[at]), ", got ",
                                    to_string(values.dtype())));
  if (keys.shape().rank() != 1)
    return invalid_argument(str_cat("keys must be a vector, but their shape is ", keys.shape()));
  if (values.shape().rank() < 1)
    return invalid_argument(
        str_cat("values must have a first dimension, but their shape is ", values.shape()));
  const bool no_rows = keys.num_elements() == 0 && values.shape()[0] == 0;
  if (values.num_elements() == 0 && !no_rows)
    return invalid_argument(str_cat("Tensors with no elements are not supported ", name_,
                                    ": received shape ", values.shape()));
  if (values.shape()[0] != keys.shape()[0])
    return invalid_argument(str_cat("keys and values must have the same first dimension, but "
                                    "their shapes are ",
                                    keys.shape(), " and ", values.shape()));
  const PartialShape one(values.shape().without(0));
  if (!spec_.shapes.empty() && !spec_.shapes[at].is_compatible_with(one))
    return invalid_argument(str_cat("Shape mismatch in component ", component, ". Expected ",
                                    spec_.shapes[at], ", got ", one));
  return {};
}

Status Barrier::insert(const Tensor& keys, const Tensor& values, std::int64_t component) {
  TROUPE_TRY(check_insert(keys, values, component));
  const auto names = keys.data<std::string>();
  return locked([&]() -> Status {
    if (closed_) {
      const std::string pending =
          str_cat(".  Pending enqueues cancelled: ", cancel_pending_ ? 1 : 0);
      if (cancel_pending_ || (incomplete_.empty() && !names.empty()))
        return closed(str_cat(pending, ".  Number of new insertions: ", names.size()));
      for (std::size_t i = 0; i < names.size(); ++i)
        if (!incomplete_.contains(names[i]))
          return closed(str_cat(", but attempted to insert a brand new key: ", names[i], pending,
                                ".  Insertion index: ", i));
    }
    bool is_new = false;
    Status status;
    for (std::size_t i = 0; status.ok() && i < names.size(); ++i) {
      TROUPE_ASSIGN(Tensor value, row_of(values, static_cast<std::int64_t>(i), memory_));
      status = insert_one(names[i], std::move(value), static_cast<std::size_t>(component), is_new);
    }
    next_index_ += is_new ? 1 : 0;
    return status;
  });
}

Status Barrier::insert_one(const std::string& key, Tensor value, std::size_t component,
                           bool& is_new) {
  auto found = incomplete_.find(key);
  if (found == incomplete_.end()) {
    is_new = true;
    const std::size_t count = spec_.types.size();
    found = incomplete_.emplace(key, Element{next_index_, key, std::vector<Tensor>(count), count})
                .first;
  }
  Element& element = found->second;
  if (element.components[component].has_value())
    return invalid_argument(str_cat("Key ", key, " already has a value for component ", component,
                                    " in barrier ", name_));
  element.components[component] = std::move(value);
  if (--element.missing > 0)
    return {};
  ready_.emplace(element.index, std::move(element));
  incomplete_.erase(found);
  return {};
}

void Barrier::take(Ticket ticket, std::int64_t n, bool small_batch, Done done) {
  if (n < 0)
    return done(invalid_argument(str_cat("num_elements must be >= 0, but is ", n)));
  const auto attempt = [this, n, small_batch]() -> std::optional<Result<Tensors>> {
    const auto ready = std::ssize(ready_), total = ready + std::ssize(incomplete_);
    if (ready >= n)
      return batch(n);
    if (!closed_)
      return std::nullopt;
    if (small_batch && ready > 0)
      return batch(ready);
    if (total >= (small_batch ? 1 : n)) // what is incomplete may still become whole
      return std::nullopt;
    return out_of_range(str_cat("Barrier '", name_,
                                "' is closed and has insufficient elements (requested ", n,
                                ", total size ", total, ")"));
  };
  submit(ticket, 0, attempt, std::move(done));
}

Result<Barrier::Tensors> Barrier::batch(std::int64_t n) {
  Tensor indices = Tensor::make(DType::int64, Shape{n});
  Tensor keys = Tensor::make(DType::string, Shape{n});
  std::vector<std::vector<Tensor>> rows(spec_.types.size());
  auto next = ready_.begin();
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i, ++next) {
    indices.mutable_data<std::int64_t>()[i] = next->second.index;
    keys.mutable_data<std::string>()[i] = next->second.key;
    for (std::size_t k = 0; k < rows.size(); ++k)
      rows[k].push_back(next->second.components[k]);
  }
  Tensors out{std::move(indices), std::move(keys)};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Shape shape = rows[k].empty() ? Shape{} : rows[k][0].shape();
    if (rows[k].empty() && !spec_.shapes.empty())
      shape = spec_.shapes[k].to_shape().value_or(Shape{});
    for (const Tensor& row : rows[k])
      if (row.shape() != shape)
        return invalid_argument(str_cat("components of shapes ", shape, " and ", row.shape(),
                                        " cannot be one batch of barrier '", name_, "'"));
    TROUPE_ASSIGN(Tensor whole, stack_rows(rows[k], spec_.types[k], shape, memory_));
    out.push_back(std::move(whole));
  }
  ready_.erase(ready_.begin(), next);
  return out;
}

Status Barrier::close(bool cancel_pending) {
  return locked([&]() -> Status {
    if (closed_ && (cancel_pending_ || !cancel_pending))
      return cancelled(str_cat("Barrier '", name_, "' is already closed."));
    closed_ = true;
    cancel_pending_ = cancel_pending;
    if (cancel_pending)
      incomplete_.clear();
    return {};
  });
}

std::int64_t Barrier::ready_size() const {
  return read([&] { return std::ssize(ready_); });
}

std::int64_t Barrier::incomplete_size() const {
  return read([&] { return std::ssize(incomplete_); });
}

std::string Barrier::description() const {
  return read([&] {
    return str_cat("barrier, ", ready_.size(), " whole and ", incomplete_.size(),
                   " incomplete tuples");
  });
}

} // namespace troupe
