// Barrier: tuples that are put together component by component under a string key; the whole ones
// are taken in the order in which their keys first came.
#pragma once

#include <map>
#include <string>

#include "core/tensor/shape.hpp"
#include "devices/resource/monitor.hpp"

namespace troupe {

class Barrier final : public Monitor {
public:
  struct Spec {
    std::vector<DType> types;
    std::vector<PartialShape> shapes; ///< empty: any
    bool operator==(const Spec&) const = default;
  };
  /// Batches are made in `memory`, which outlives the barrier.
  Barrier(Spec spec, std::string name, Allocator& memory)
      : spec_(std::move(spec)), name_(std::move(name)), memory_(memory) {}
  const Spec& spec() const { return spec_; }
  /// INVALID_ARGUMENT if another node says something else of it.
  Status check_same(const Spec& other) const;

  /// One row of `values` for each key. CANCELLED "… is closed …", INVALID_ARGUMENT.
  Status insert(const Tensor& keys, const Tensor& values, std::int64_t component);
  /// Answers with indices, keys and components of `n` whole tuples; of a closed barrier with fewer,
  /// at least one, if `small_batch` says so. OUT_OF_RANGE if a closed barrier cannot have so many.
  void take(Ticket ticket, std::int64_t n, bool small_batch, Done done);
  /// No new keys from now on; with `cancel_pending` incomplete ones are dropped, too.
  Status close(bool cancel_pending);
  std::int64_t ready_size() const;
  std::int64_t incomplete_size() const;
  std::string description() const override;

private:
  struct Element {
    std::int64_t index;
    std::string key;
    std::vector<Tensor> components; ///< without value: not there yet
    std::size_t missing;
  };
  Status check_insert(const Tensor& keys, const Tensor& values, std::int64_t component) const;
  Status insert_one(const std::string& key, Tensor value, std::size_t component, bool& is_new);
  Status closed(std::string_view what) const;
  Result<Tensors> batch(std::int64_t n);

  const Spec spec_;
  const std::string name_;
  Allocator& memory_;
  std::map<std::string, Element, std::less<>> incomplete_;
  std::multimap<std::int64_t, Element> ready_; ///< by index: keys that came together share one
  std::int64_t next_index_ = INT64_MIN;
  bool closed_ = false, cancel_pending_ = false;
};

} // namespace troupe
