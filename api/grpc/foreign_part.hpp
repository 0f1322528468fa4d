// A part of a step's graph as TensorFlow's tasks take it. Bytes in, bytes out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

struct ForeignPart {
  std::string graph_def;
  std::vector<std::string> feed_keys;  ///< rendezvous keys by _Arg index
  std::vector<std::string> fetch_keys; ///< by _Retval index
};

/// What our own master registers, in which fed values are _Arg nodes and fetched ones _Retval
/// nodes, by index: they become receives and sends of the client's, and what stands for results of
/// calls becomes IdentityN. `incarnation` is that of a device. UNIMPLEMENTED naming node and op for
/// what TensorFlow's tasks do not have; INVALID_ARGUMENT for bytes that are no GraphDef.
Result<ForeignPart>
foreign_part(std::string_view graph_def,
             const std::function<std::uint64_t(std::string_view device)>& incarnation);

} // namespace troupe
