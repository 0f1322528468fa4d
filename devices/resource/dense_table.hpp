// DenseTable: the lookup table whose entries lie in buckets, which it gives and takes whole. Keys,
// hashes and buckets are where TensorFlow has them, so that what one of the two saves the other can
// use.
#pragma once

#include "devices/resource/lookup_table.hpp"

namespace troupe {

/// A key lies in the bucket of its hash or in the next free one of the sequence 1, 3, 6, 10 …
/// behind it. Buckets that never had a key have the empty key, those that lost theirs the deleted
/// one.
class DenseTable final : public LookupTable {
public:
  struct Buckets {
    std::int64_t number = 131'072;
    float most_load = 0.8F; ///< of entries for each bucket; then they double
    std::uint64_t (*hash_text)(std::string_view) = {}; ///< TensorFlow's Hash64
  };
  /// `spec` names the empty and the deleted key. INVALID_ARGUMENT for other numbers of buckets than
  /// powers of two from 4 on, RESOURCE_EXHAUSTED without room for them.
  static Result<std::shared_ptr<DenseTable>> make(Spec spec, Buckets buckets, std::string name,
                                                  Allocator& memory);

  Status insert(const Tensor& keys, const Tensor& values) override;
  Status remove(const Tensor& keys) override;
  /// The buckets of such a table: [buckets, …key] and [buckets, …value].
  Status import(const Tensor& keys, const Tensor& values) override;
  Result<std::vector<Tensor>> contents() const override;
  std::int64_t size() const override;
  std::size_t bytes() const override;

protected:
  Status find_rows(const Tensor& keys, std::int64_t count, const Tensor& fallback, bool one_for_all,
                   Tensor& out) const override;

private:
  DenseTable(Spec spec, Buckets buckets, std::string name, Allocator& memory)
      : LookupTable(std::move(spec), std::move(name), memory), rules_(buckets) {}
  struct Place {
    std::int64_t bucket = 0; ///< negative: none
    bool has_key = false;
  };
  Status allocate(std::int64_t buckets);
  Status grow(std::int64_t buckets);
  Status put(const Tensor& keys, std::int64_t row, const Tensor& values);
  std::uint64_t hash(const Tensor& keys, std::int64_t row) const;
  bool equal(const Tensor& a, std::int64_t i, const Tensor& b, std::int64_t j) const;
  /// The key's bucket, or the first free one; with `stops_at_deleted` the first that may be used.
  Place place_of(const Tensor& keys, std::int64_t row, bool stops_at_deleted) const;
  bool is_free(const Tensor& keys, std::int64_t row) const;
  std::int64_t key_size() const { return spec_.key_shape.num_elements(); }
  std::int64_t value_size() const { return spec_.value_shape.num_elements(); }

  const Buckets rules_;
  std::int64_t buckets_ = 0, entries_ = 0;
  Tensor keys_, values_; ///< [buckets, key elements], [buckets, value elements]
};

} // namespace troupe
