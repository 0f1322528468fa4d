// A GraphDef in binary: what a client or a master sends.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/graph_bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  troupe::fuzz::check_graph_bytes({reinterpret_cast<const char*>(data), size});
  return 0;
}
