// Functions that compute the same for different device types, of which a call gets the one for its
// own.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/functions.hpp"

namespace troupe::functions {

/// TensorFlow's programs mark such functions by two attributes: "api_implements", equal for all of
/// one kind, and "api_preferred_device", the device type that one was written for. The forward and
/// the backward half of a function with a gradient are not exchanged: their values in between may
/// differ. Source: TensorFlow's implementation_selector.cc.
class Implementations {
public:
  explicit Implementations(const FunctionLibrary* library) : library_(library) {}

  /// The function to call in place of `function` on a device of that type ("CPU"): itself unless
  /// there is one written for it, with arguments and results of the same types.
  const std::string& choose(const std::string& function, std::string_view device_type);

private:
  struct One {
    std::string function, device;
  };
  void read();

  const FunctionLibrary* library_; ///< may be null
  bool is_read_ = false;
  std::map<std::string, std::vector<One>> by_kind_; // each in the order of the functions' names
  std::map<std::string, std::string> kinds_;        // by function
};

} // namespace troupe::functions
