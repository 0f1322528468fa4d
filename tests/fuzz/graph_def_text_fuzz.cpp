// A GraphDef as text: what stands in a .pbtxt file. A remark in front makes sure that it is read as
// text.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/graph_bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text = "versions {}\n";
  text.append(reinterpret_cast<const char*>(data), size);
  troupe::fuzz::check_graph_bytes(text);
  return 0;
}
