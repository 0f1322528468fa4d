// Charge: memory of a file's bytes, counted while they are not yet in a tensor, which counts its
// own.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/strings.hpp"
#include "core/tensor/buffer.hpp"

namespace troupe::checkpoint {

class Charge {
public:
  /// `name` is the tensor's; both outlive it.
  Charge(Allocator& account, std::string_view name) : account_(account), name_(name) {}
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  ~Charge() { account_.discharge(bytes_); }
  Status add(std::size_t bytes) {
    if (!account_.charge(bytes))
      return resource_exhausted(str_cat("allocator '", account_.name(), "' has no room for ", bytes,
                                        " bytes of tensor '", name_,
                                        "' of a checkpoint: ", account_.refusal()));
    bytes_ += bytes;
    return {};
  }

private:
  Allocator& account_;
  std::string_view name_;
  std::size_t bytes_ = 0;
};

} // namespace troupe::checkpoint
