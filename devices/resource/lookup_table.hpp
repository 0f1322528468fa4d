// LookupTable: values by key. One class serves most of TensorFlow's tables: those that are filled
// once and those that change; a key or a value may be a whole tensor. DenseTable is another kind.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/tensor/shape.hpp"
#include "devices/resource/resource_manager.hpp"

namespace troupe {

class LookupTable : public Resource {
public:
  struct Spec {
    std::string kind; ///< "HashTable": in messages
    DType key = DType::invalid, value = DType::invalid;
    Shape key_shape, value_shape;  ///< of one
    bool is_mutable = true;        ///< otherwise `initialize` fills it, once
    std::vector<Tensor> forbidden; ///< keys that may not be used: the empty and the deleted one
  };
  /// Its elements lie in `memory`, which outlives the table.
  LookupTable(Spec spec, std::string name, Allocator& memory);
  const Spec& spec() const { return spec_; }
  Status check_same(const Spec& other) const;
  /// INVALID_ARGUMENT "Conflicting key/value dtypes …" unless the table has these.
  Status check_dtypes(DType key, DType value) const;

  /// INVALID_ARGUMENT "Table localhost t is not initializable" for one that is mutable.
  Status check_initializable(std::string_view container) const;
  bool is_initialized() const;
  /// Fills a table that is not mutable. Again with as many entries: nothing happens.
  /// FAILED_PRECONDITION with others, or for two values of one key.
  Status initialize(const Tensor& keys, const Tensor& values);
  /// The keys' values; where there is none the default, one for all or one for each key.
  Result<Tensor> find(const Tensor& keys, const Tensor& fallback) const;
  /// Of a mutable table: keys that are there get the new value.
  virtual Status insert(const Tensor& keys, const Tensor& values);
  virtual Status remove(const Tensor& keys);
  /// In place of all entries; fills a table that is not mutable, as `initialize` does.
  virtual Status import(const Tensor& keys, const Tensor& values);
  /// All keys and their values, row by row.
  virtual Result<std::vector<Tensor>> contents() const;
  virtual std::int64_t size() const;

  std::string description() const override;
  std::size_t bytes() const override;

protected:
  Result<Shape> outer_shape(const Tensor& keys) const;
  Status check_entries(const Tensor& keys, const Tensor& values) const;
  Status check_removable(const Tensor& keys) const;
  /// The values of `count` keys, with the lock held.
  virtual Status find_rows(const Tensor& keys, std::int64_t count, const Tensor& fallback,
                           bool one_for_all, Tensor& out) const;

  const Spec spec_;
  const std::string name_;
  Allocator& memory_;
  mutable std::mutex lock_;

private:
  std::string text_of(const Tensor& keys, std::int64_t i) const;
  Status check_allowed(const Tensor& keys) const;
  Status add(const Tensor& keys, const Tensor& values, bool replace);
  Status make_room(std::int64_t rows);
  Status must_be_mutable(std::string_view what) const;

  bool initialized_ = false;
  std::unordered_map<std::string, std::int64_t> rows_; ///< of keys_ and values_, by the key's bytes
  std::vector<std::int64_t> free_;
  std::int64_t capacity_ = 0, used_ = 0;
  Tensor keys_, values_;
};

} // namespace troupe
