// What is said of a node that no kernel serves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/framework/kernel.hpp"

namespace troupe {

/// "T=DT_FLOAT, N=2"
std::string list_attrs(const AttrMap& attrs);
/// A line for each kernel of an op, each begun by a line break: "device='CPU'; T in [DT_FLOAT]"; or
/// "<no registered kernels>".
std::string list_kernels(const KernelRegistry& kernels, std::string_view op);

/// INVALID_ARGUMENT in the words of TensorFlow's placer: "No OpKernel was registered to support Op
/// 'X' used by {{node n}} with these attrs: […]\nRegistered devices: [CPU]\nRegistered kernels:\n
/// …".
Status no_kernel(const KernelRegistry& kernels, std::string_view op, const AttrMap& attrs,
                 std::string_view node, const std::vector<std::string>& device_types);

} // namespace troupe
