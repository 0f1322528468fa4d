// How the op library's names are spelt in generated C++.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// "Conv2DBackpropInput" → "conv2d_backprop_input", "TopKV2" → "top_k_v2", "DstT" → "dst_t".
std::string snake_case(std::string_view name);
/// The same, with an underscore behind it if it is a word of C++: "Switch" → "switch_".
std::string identifier(std::string_view name);

} // namespace troupe
