#include "devices/resource/lookup_table.hpp"

#include <algorithm>

#include "core/base/strings.hpp"
#include "devices/resource/batches.hpp"

namespace troupe {
namespace {

Result<Shape> joined(std::span<const std::int64_t> outer, const Shape& inner) {
  std::vector<std::int64_t> dims(outer.begin(), outer.end());
  dims.insert(dims.end(), inner.dims().begin(), inner.dims().end());
  return Shape::make(dims);
}

/// "a" or 7: one element, for people.
std::string element_text(const Tensor& tensor, std::int64_t i, std::int64_t size) {
  Tensor one = Tensor::make(tensor.dtype(), Shape{size});
  copy_elements(tensor, i * size, one, 0, size);
  if (tensor.dtype() == DType::string && size == 1)
    return one.value<std::string>();
  const std::string literal = one.to_string();
  return literal.substr(std::min(literal.find(' ') + 1, literal.size()));
}

std::string pair_of(DType key, DType value) {
  return str_cat(to_string(key), "->", to_string(value));
}

} // namespace

LookupTable::LookupTable(Spec spec, std::string name, Allocator& memory)
    : spec_(std::move(spec)), name_(std::move(name)), memory_(memory) {}

Status LookupTable::check_same(const Spec& other) const {
  if (other.kind != spec_.kind)
    return invalid_argument(
        str_cat("table '", name_, "' is a ", spec_.kind, ", not a ", other.kind));
  TROUPE_TRY(check_dtypes(other.key, other.value));
  if (!(other.value_shape == spec_.value_shape))
    return invalid_argument(str_cat("table '", name_, "' has values of shape ", spec_.value_shape,
                                    ", not of ", other.value_shape));
  return {};
}

Status LookupTable::check_dtypes(DType key, DType value) const {
  if (key == spec_.key && value == spec_.value)
    return {};
  return invalid_argument(str_cat("Conflicting key/value dtypes ", pair_of(key, value), " with ",
                                  pair_of(spec_.key, spec_.value), " for table ", name_));
}

Status LookupTable::must_be_mutable(std::string_view what) const {
  if (spec_.is_mutable)
    return {};
  return unimplemented(str_cat(what,
                               " not supported by InitializableLookupTable implementations: "
                               "table '",
                               name_, "' is a ", spec_.kind,
                               ", which is filled once and not changed"));
}

Status LookupTable::check_initializable(std::string_view container) const {
  if (!spec_.is_mutable)
    return {};
  return invalid_argument(str_cat("Table ", container, " ", name_,
                                  " is not initializable: it is a ", spec_.kind,
                                  ", which is filled by LookupTableInsert"));
}

bool LookupTable::is_initialized() const {
  std::scoped_lock guard(lock_);
  return initialized_;
}

/// The key's bytes.
std::string LookupTable::text_of(const Tensor& keys, std::int64_t i) const {
  const auto size = static_cast<std::size_t>(spec_.key_shape.num_elements());
  const auto at = static_cast<std::size_t>(i) * size;
  if (keys.dtype() != DType::string) {
    const std::size_t bytes = size * dtype_size(keys.dtype());
    return {static_cast<const char*>(keys.raw()) + static_cast<std::size_t>(i) * bytes, bytes};
  }
  const auto strings = keys.data<std::string>().subspan(at, size);
  if (size == 1)
    return strings[0];
  std::string out;
  for (const std::string& text : strings)
    str_append(out, text.size(), ":", text);
  return out;
}

/// The shape of the keys without that of one. A dense table takes no more than one dimension of
/// them.
Result<Shape> LookupTable::outer_shape(const Tensor& keys) const {
  const int outer = keys.shape().rank() - spec_.key_shape.rank();
  bool fits = outer >= 0;
  for (int i = 0; fits && i < spec_.key_shape.rank(); ++i)
    fits = keys.shape()[outer + i] == spec_.key_shape[i];
  if (!fits)
    return invalid_argument(str_cat("Input key shape ", keys.shape(),
                                    " must end with the table's key shape ", spec_.key_shape));
  if (!spec_.forbidden.empty()) {
    const std::int64_t batch = keys.shape().rank() == 0 ? 1 : keys.shape()[0];
    if (keys.num_elements() != batch * spec_.key_shape.num_elements()) {
      TROUPE_ASSIGN(const Shape expected, joined(std::span(&batch, 1), spec_.key_shape));
      return invalid_argument(str_cat("Expected key shape ", expected, " got ", keys.shape()));
    }
  }
  return Shape(keys.shape().dims().first(static_cast<std::size_t>(outer)));
}

Status LookupTable::check_allowed(const Tensor& keys) const {
  constexpr std::string_view names[] = {"empty_key", "deleted_key"};
  TROUPE_ASSIGN(const Shape outer, outer_shape(keys));
  for (std::size_t f = 0; f < spec_.forbidden.size(); ++f) {
    const std::string never = text_of(spec_.forbidden[f], 0);
    for (std::int64_t i = 0; i < outer.num_elements(); ++i)
      if (text_of(keys, i) == never)
        return invalid_argument(str_cat("Using the ", names[f], " as a table key is not allowed"));
  }
  return {};
}

Status LookupTable::check_entries(const Tensor& keys, const Tensor& values) const {
  TROUPE_TRY(check_dtypes(keys.dtype(), values.dtype()));
  TROUPE_ASSIGN(const Shape outer, outer_shape(keys));
  TROUPE_ASSIGN(const Shape expected, joined(outer.dims(), spec_.value_shape));
  if (!(values.shape() == expected))
    return invalid_argument(
        str_cat("Expected shape ", expected, " for value, got ", values.shape()));
  return check_allowed(keys);
}

Status LookupTable::make_room(std::int64_t rows) {
  if (rows <= capacity_)
    return {};
  const std::int64_t larger = std::max<std::int64_t>({rows, capacity_ * 2, 16});
  const std::int64_t dims[] = {larger};
  TROUPE_ASSIGN(const Shape key_shape, joined(dims, spec_.key_shape));
  TROUPE_ASSIGN(const Shape value_shape, joined(dims, spec_.value_shape));
  TROUPE_ASSIGN(Tensor keys, Tensor::allocate(memory_, spec_.key, key_shape));
  TROUPE_ASSIGN(Tensor values, Tensor::allocate(memory_, spec_.value, value_shape));
  if (used_ > 0) {
    copy_elements(keys_, 0, keys, 0, used_ * spec_.key_shape.num_elements());
    copy_elements(values_, 0, values, 0, used_ * spec_.value_shape.num_elements());
  }
  keys_ = std::move(keys);
  values_ = std::move(values);
  capacity_ = larger;
  return {};
}

/// Adds entries that were checked. Without `replace` a key may come again only with its value.
Status LookupTable::add(const Tensor& keys, const Tensor& values, bool replace) {
  const std::int64_t key_size = spec_.key_shape.num_elements();
  const std::int64_t value_size = spec_.value_shape.num_elements();
  TROUPE_ASSIGN(const Shape outer, outer_shape(keys));
  TROUPE_TRY(make_room(used_ + outer.num_elements()));
  for (std::int64_t i = 0; i < outer.num_elements(); ++i) {
    const auto [found, is_new] = rows_.try_emplace(text_of(keys, i), used_);
    if (is_new) {
      if (!free_.empty()) {
        found->second = free_.back();
        free_.pop_back();
      } else {
        ++used_;
      }
      copy_elements(keys, i * key_size, keys_, found->second * key_size, key_size);
    } else if (!replace) {
      const std::string held = element_text(values_, found->second, value_size);
      const std::string added = element_text(values, i, value_size);
      if (held != added)
        return failed_precondition(str_cat("HashTable has different value for same key. Key ",
                                           element_text(keys, i, key_size), " has ", held,
                                           " and trying to add value ", added));
      continue;
    }
    copy_elements(values, i * value_size, values_, found->second * value_size, value_size);
  }
  TROUPE_TRY(keys_.has_value() ? keys_.settle(memory_) : Status{});
  return values_.has_value() ? values_.settle(memory_) : Status{};
}

Status LookupTable::initialize(const Tensor& keys, const Tensor& values) {
  TROUPE_TRY(check_dtypes(keys.dtype(), values.dtype()));
  if (keys.num_elements() != values.num_elements())
    return invalid_argument(str_cat("Number of elements in keys and values must be equal: ",
                                    keys.num_elements(), " and ", values.num_elements()));
  std::scoped_lock guard(lock_);
  if (initialized_)
    return std::ssize(rows_) == keys.num_elements()
               ? Status{}
               : failed_precondition("Table was already initialized with different data.");
  if (Status status = add(keys, values.reshaped(keys.shape()), false); !status.ok()) {
    rows_.clear();
    used_ = 0;
    return status;
  }
  initialized_ = true;
  return {};
}

Result<Tensor> LookupTable::find(const Tensor& keys, const Tensor& fallback) const {
  TROUPE_TRY(check_dtypes(keys.dtype(), fallback.dtype()));
  TROUPE_ASSIGN(const Shape outer, outer_shape(keys));
  TROUPE_ASSIGN(const Shape shape, joined(outer.dims(), spec_.value_shape));
  const bool one_for_all = fallback.shape() == spec_.value_shape;
  if (!one_for_all && !(spec_.is_mutable && fallback.shape() == shape))
    return invalid_argument(str_cat("Expected shape ", spec_.value_shape,
                                    spec_.is_mutable ? str_cat(" or ", shape) : std::string(),
                                    " for default value, got ", fallback.shape()));
  TROUPE_TRY(check_allowed(keys));
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(memory_, spec_.value, shape));
  std::scoped_lock guard(lock_);
  if (!spec_.is_mutable && !initialized_)
    return failed_precondition("Table not initialized.");
  TROUPE_TRY(find_rows(keys, outer.num_elements(), fallback, one_for_all, out));
  TROUPE_TRY(out.settle(memory_));
  return out;
}

Status LookupTable::find_rows(const Tensor& keys, std::int64_t count, const Tensor& fallback,
                              bool one_for_all, Tensor& out) const {
  const std::int64_t size = spec_.value_shape.num_elements();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto found = rows_.find(text_of(keys, i));
    if (found != rows_.end())
      copy_elements(values_, found->second * size, out, i * size, size);
    else
      copy_elements(fallback, one_for_all ? 0 : i * size, out, i * size, size);
  }
  return {};
}

Status LookupTable::check_removable(const Tensor& keys) const {
  if (keys.dtype() != spec_.key)
    return invalid_argument(
        str_cat("Key must be type ", to_string(spec_.key), " but got ", to_string(keys.dtype())));
  return check_allowed(keys);
}

Status LookupTable::insert(const Tensor& keys, const Tensor& values) {
  TROUPE_TRY(must_be_mutable("Insert"));
  TROUPE_TRY(check_entries(keys, values));
  std::scoped_lock guard(lock_);
  return add(keys, values, true);
}

Status LookupTable::remove(const Tensor& keys) {
  TROUPE_TRY(must_be_mutable("Remove"));
  TROUPE_TRY(check_removable(keys));
  TROUPE_ASSIGN(const Shape outer, outer_shape(keys));
  std::scoped_lock guard(lock_);
  for (std::int64_t i = 0; i < outer.num_elements(); ++i)
    if (auto found = rows_.find(text_of(keys, i)); found != rows_.end()) {
      free_.push_back(found->second);
      rows_.erase(found);
    }
  return {};
}

Status LookupTable::import(const Tensor& keys, const Tensor& values) {
  if (!spec_.is_mutable && keys.num_elements() == 0)
    return invalid_argument("keys and values cannot be empty tensors.");
  if (!spec_.is_mutable)
    return initialize(keys, values);
  TROUPE_TRY(check_entries(keys, values));
  std::scoped_lock guard(lock_);
  rows_.clear();
  free_.clear();
  used_ = 0;
  return add(keys, values, true);
}

Result<std::vector<Tensor>> LookupTable::contents() const {
  std::scoped_lock guard(lock_);
  if (!spec_.is_mutable && !initialized_)
    return aborted("HashTable is not initialized."); // TensorFlow's code for an export
  const std::int64_t key_size = spec_.key_shape.num_elements();
  const std::int64_t value_size = spec_.value_shape.num_elements();
  const std::int64_t dims[] = {std::ssize(rows_)};
  TROUPE_ASSIGN(const Shape key_shape, joined(dims, spec_.key_shape));
  TROUPE_ASSIGN(const Shape value_shape, joined(dims, spec_.value_shape));
  TROUPE_ASSIGN(Tensor keys, Tensor::allocate(memory_, spec_.key, key_shape));
  TROUPE_ASSIGN(Tensor values, Tensor::allocate(memory_, spec_.value, value_shape));
  std::vector<std::int64_t> rows;
  for (const auto& [text, row] : rows_)
    rows.push_back(row);
  std::ranges::sort(rows); // about the order of their arrival
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    copy_elements(keys_, rows[i] * key_size, keys, at * key_size, key_size);
    copy_elements(values_, rows[i] * value_size, values, at * value_size, value_size);
  }
  TROUPE_TRY(keys.settle(memory_));
  TROUPE_TRY(values.settle(memory_));
  return std::vector<Tensor>{std::move(keys), std::move(values)};
}

std::int64_t LookupTable::size() const {
  std::scoped_lock guard(lock_);
  return std::ssize(rows_);
}

std::string LookupTable::description() const {
  return str_cat(spec_.kind, " ", pair_of(spec_.key, spec_.value), ", ", size(), " entries");
}

std::size_t LookupTable::bytes() const {
  std::scoped_lock guard(lock_);
  return keys_.has_value() ? keys_.byte_size() + values_.byte_size() : 0;
}

} // namespace troupe
