// What an iterator is written down as: tensors by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/base/strings.hpp"
#include "core/tensor/tensor.hpp"
#include "kernels/framework/functions.hpp"

namespace troupe::data {

using StateEntries = std::map<std::string, Tensor, std::less<>>;

/// Writes below a prefix. Copies write to the same entries.
class StateWriter {
public:
  explicit StateWriter(StateEntries& entries, std::string prefix = "")
      : entries_(&entries), prefix_(std::move(prefix)) {}
  StateWriter in(std::string_view name) const {
    return StateWriter(*entries_, str_cat(prefix_, name, "/"));
  }
  StateWriter in(std::string_view name, std::size_t number) const {
    return in(str_cat(name, number));
  }
  void put(std::string_view name, Tensor value) const {
    (*entries_)[str_cat(prefix_, name)] = std::move(value);
  }
  void put(std::string_view name, std::int64_t value) const { put(name, Tensor::scalar(value)); }
  void put(std::string_view name, std::string value) const {
    put(name, Tensor::scalar(std::move(value)));
  }
  /// An element, or any list of tensors.
  void put_all(std::string_view name, const Tensors& values) const;
  void put_status(std::string_view name, const Status& status) const;

private:
  StateEntries* entries_;
  std::string prefix_;
};

/// What is missing, or not as it should be, is DATA_LOSS naming it.
class StateReader {
public:
  explicit StateReader(const StateEntries& entries, std::string prefix = "")
      : entries_(&entries), prefix_(std::move(prefix)) {}
  StateReader in(std::string_view name) const {
    return StateReader(*entries_, str_cat(prefix_, name, "/"));
  }
  StateReader in(std::string_view name, std::size_t number) const {
    return in(str_cat(name, number));
  }
  bool has(std::string_view name) const {
    return entries_->find(str_cat(prefix_, name)) != entries_->end();
  }
  Result<Tensor> tensor(std::string_view name) const;
  Result<std::int64_t> integer(std::string_view name) const;
  /// A count of what was written: not negative, and no larger than there are entries.
  Result<std::size_t> count(std::string_view name) const;
  Result<std::string> text(std::string_view name) const;
  Result<Tensors> all(std::string_view name) const;
  /// What put_status has written, into `out`.
  Status read_status(std::string_view name, Status& out) const;

private:
  Status missing(std::string_view name, std::string_view what) const;
  const StateEntries* entries_;
  std::string prefix_;
};

} // namespace troupe::data
