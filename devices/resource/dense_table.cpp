#include "devices/resource/dense_table.hpp"

#include <cstring>

#include "core/base/strings.hpp"
#include "devices/resource/batches.hpp"

namespace troupe {
namespace {

/// Dtypes of keys.
using Keys = Types<std::string, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t,
                   bool, float, double>;

std::uint64_t combined(std::uint64_t a, std::uint64_t b) {
  return a ^ (b + 0x9e3779b97f4a7800ULL + (a << 10) + (a >> 4));
}

/// Where a float has no integer, TensorFlow's hash is the machine's; this one is the same
/// everywhere.
template <class T>
std::uint64_t hash_of(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return value > -9e18 && value < 9e18
               ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
               : std::uint64_t{1} << 63;
  else
    return static_cast<std::uint64_t>(value);
}

/// Calls f<T>() for the dtype of keys, which was checked when the table was made.
template <class F>
auto for_keys(DType dtype, F&& f) {
  decltype(f.template operator()<bool>()) out{};
  (void)dispatch(Keys{}, dtype, [&]<class T>() -> Status {
    out = f.template operator()<T>();
    return {};
  });
  return out;
}

} // namespace

Result<std::shared_ptr<DenseTable>> DenseTable::make(Spec spec, Buckets buckets, std::string name,
                                                     Allocator& memory) {
  if (buckets.number < 4 || (buckets.number & (buckets.number - 1)) != 0)
    return invalid_argument(
        str_cat("Number of buckets must be at least 4 and a power of 2, got: ", buckets.number));
  std::shared_ptr<DenseTable> out(
      new DenseTable(std::move(spec), buckets, std::move(name), memory));
  TROUPE_TRY(out->allocate(buckets.number));
  return out;
}

Status DenseTable::allocate(std::int64_t buckets) {
  TROUPE_ASSIGN(const Shape key_shape, Shape::make(std::vector<std::int64_t>{buckets, key_size()}));
  TROUPE_ASSIGN(const Shape value_shape,
                Shape::make(std::vector<std::int64_t>{buckets, value_size()}));
  TROUPE_ASSIGN(Tensor keys, Tensor::allocate(memory_, spec_.key, key_shape));
  TROUPE_ASSIGN(Tensor values, Tensor::allocate(memory_, spec_.value, value_shape));
  if (!is_object(spec_.value))
    std::memset(values.mutable_raw(), 0, values.bytes().size());
  for (std::int64_t i = 0; i < buckets; ++i)
    copy_elements(spec_.forbidden[0], 0, keys, i * key_size(), key_size());
  TROUPE_TRY(keys.settle(memory_));
  keys_ = std::move(keys);
  values_ = std::move(values);
  buckets_ = buckets;
  entries_ = 0;
  return {};
}

std::uint64_t DenseTable::hash(const Tensor& keys, std::int64_t row) const {
  const auto size = static_cast<std::size_t>(key_size());
  const auto at = static_cast<std::size_t>(row) * size;
  return for_keys(spec_.key, [&]<class T>() -> std::uint64_t {
    const auto one = [&](std::size_t i) {
      if constexpr (std::is_same_v<T, std::string>)
        return rules_.hash_text(keys.data<std::string>()[at + i]);
      else
        return hash_of(keys.data<T>()[at + i]);
    };
    if (size == 1)
      return one(0);
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < size; ++i)
      out = combined(out, one(i));
    return out;
  });
}

bool DenseTable::equal(const Tensor& a, std::int64_t i, const Tensor& b, std::int64_t j) const {
  const auto size = static_cast<std::size_t>(key_size());
  return for_keys(spec_.key, [&]<class T>() {
    const auto left = a.data<T>().subspan(static_cast<std::size_t>(i) * size, size);
    const auto right = b.data<T>().subspan(static_cast<std::size_t>(j) * size, size);
    return std::equal(left.begin(), left.end(), right.begin());
  });
}

bool DenseTable::is_free(const Tensor& keys, std::int64_t row) const {
  return equal(keys, row, spec_.forbidden[0], 0) ||
         (spec_.forbidden.size() > 1 && equal(keys, row, spec_.forbidden[1], 0));
}

DenseTable::Place DenseTable::place_of(const Tensor& keys, std::int64_t row,
                                       bool stops_at_deleted) const {
  const std::uint64_t mask = static_cast<std::uint64_t>(buckets_) - 1;
  std::uint64_t bucket = hash(keys, row) & mask;
  for (std::int64_t probes = 0; probes < buckets_;) {
    const auto at = static_cast<std::int64_t>(bucket);
    if (equal(keys_, at, keys, row))
      return {at, true};
    if (equal(keys_, at, spec_.forbidden[0], 0) || (stops_at_deleted && is_free(keys_, at)))
      return {at, false};
    ++probes;
    bucket = (bucket + static_cast<std::uint64_t>(probes)) & mask;
  }
  return {-1, false};
}

Status DenseTable::put(const Tensor& keys, std::int64_t row, const Tensor& values) {
  const Place place = place_of(keys, row, true);
  if (place.bucket < 0)
    return internal("Internal error in MutableDenseHashTable insert");
  if (!place.has_key) {
    ++entries_;
    copy_elements(keys, row * key_size(), keys_, place.bucket * key_size(), key_size());
  }
  copy_elements(values, row * value_size(), values_, place.bucket * value_size(), value_size());
  return {};
}

Status DenseTable::grow(std::int64_t buckets) {
  const Tensor keys = keys_, values = values_;
  const std::int64_t rows = buckets_;
  TROUPE_TRY(allocate(buckets));
  for (std::int64_t i = 0; i < rows; ++i)
    if (!is_free(keys, i))
      TROUPE_TRY(put(keys, i, values));
  return {};
}

Status DenseTable::insert(const Tensor& keys, const Tensor& values) {
  TROUPE_TRY(check_entries(keys, values));
  TROUPE_ASSIGN(const Shape outer, outer_shape(keys));
  const std::int64_t rows = outer.num_elements();
  std::scoped_lock guard(lock_);
  // Each key counts as a new one, as TensorFlow counts them.
  std::int64_t buckets = buckets_;
  const auto is_too_full = [&] {
    return static_cast<float>(entries_ + rows) > static_cast<float>(buckets) * rules_.most_load;
  };
  while (is_too_full() && buckets < std::int64_t{1} << 40)
    buckets *= 2;
  if (buckets != buckets_)
    TROUPE_TRY(grow(buckets));
  for (std::int64_t i = 0; i < rows; ++i)
    TROUPE_TRY(put(keys, i, values));
  TROUPE_TRY(keys_.settle(memory_));
  return values_.settle(memory_);
}

Status DenseTable::remove(const Tensor& keys) {
  TROUPE_TRY(check_removable(keys));
  TROUPE_ASSIGN(const Shape outer, outer_shape(keys));
  if (spec_.forbidden.size() < 2)
    return unimplemented(str_cat("table '", name_,
                                 "' has no deleted_key, so nothing is removed from "
                                 "it; make it with MutableDenseHashTableV2"));
  std::scoped_lock guard(lock_);
  for (std::int64_t i = 0; i < outer.num_elements(); ++i)
    if (const Place place = place_of(keys, i, false); place.has_key) {
      --entries_;
      copy_elements(spec_.forbidden[1], 0, keys_, place.bucket * key_size(), key_size());
    }
  return {};
}

Status DenseTable::import(const Tensor& keys, const Tensor& values) {
  TROUPE_TRY(check_dtypes(keys.dtype(), values.dtype()));
  const auto expected = [](std::int64_t rows, std::int64_t size) { return Shape{rows, size}; };
  const std::int64_t rows = keys.shape().rank() > 0 ? keys.shape()[0] : 0;
  if (keys.shape() != expected(rows, key_size()))
    return invalid_argument(str_cat("Input key shape ", keys.shape(),
                                    " must end with the table's key shape [", key_size(), "]"));
  if (values.shape() != expected(rows, value_size()))
    return invalid_argument(str_cat("Expected shape ", expected(rows, value_size()),
                                    " for value, got ", values.shape()));
  std::scoped_lock guard(lock_);
  std::int64_t entries = 0, buckets = 4;
  for (std::int64_t i = 0; i < rows; ++i)
    entries += is_free(keys, i) ? 0 : 1;
  while (buckets < rows ||
         static_cast<float>(entries) > static_cast<float>(buckets) * rules_.most_load)
    buckets *= 2;
  TROUPE_TRY(allocate(buckets));
  for (std::int64_t i = 0; i < rows; ++i)
    if (!is_free(keys, i))
      TROUPE_TRY(put(keys, i, values));
  TROUPE_TRY(keys_.settle(memory_));
  return values_.settle(memory_);
}

Status DenseTable::find_rows(const Tensor& keys, std::int64_t count, const Tensor& fallback,
                             bool one_for_all, Tensor& out) const {
  for (std::int64_t i = 0; i < count; ++i) {
    const Place place = place_of(keys, i, false);
    if (place.has_key)
      copy_elements(values_, place.bucket * value_size(), out, i * value_size(), value_size());
    else
      copy_elements(fallback, one_for_all ? 0 : i * value_size(), out, i * value_size(),
                    value_size());
  }
  return {};
}

Result<std::vector<Tensor>> DenseTable::contents() const {
  std::scoped_lock guard(lock_);
  TROUPE_ASSIGN(Tensor keys, Tensor::allocate(memory_, spec_.key, keys_.shape()));
  TROUPE_ASSIGN(Tensor values, Tensor::allocate(memory_, spec_.value, values_.shape()));
  copy_elements(keys_, 0, keys, 0, keys_.num_elements());
  copy_elements(values_, 0, values, 0, values_.num_elements());
  TROUPE_TRY(keys.settle(memory_));
  TROUPE_TRY(values.settle(memory_));
  return std::vector<Tensor>{std::move(keys), std::move(values)};
}

std::int64_t DenseTable::size() const {
  std::scoped_lock guard(lock_);
  return entries_;
}

std::size_t DenseTable::bytes() const {
  std::scoped_lock guard(lock_);
  return keys_.byte_size() + values_.byte_size();
}

} // namespace troupe
