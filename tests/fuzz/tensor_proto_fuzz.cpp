// A TensorProto: what stands in attrs and what clients of the gateway feed.
#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"
#include "graph/convert/tensor_proto.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  DecodeLimits limits{std::size_t{1} << 20};
  auto tensor = tensor_from_bytes({reinterpret_cast<const char*>(data), size}, limits);
  if (!tensor.ok()) {
    TROUPE_CHECK(!tensor.status().message().empty(), "a refusal says why");
    return 0;
  }
  for (auto encoding : {TensorEncoding::content, TensorEncoding::graph, TensorEncoding::fields}) {
    std::string bytes = tensor_to_bytes(*tensor, encoding);
    auto back = tensor_from_bytes(bytes, limits);
    TROUPE_CHECK(back.ok(), "what is written is read");
    TROUPE_CHECK(tensor_to_bytes(*back, encoding) == bytes, "and is the same");
  }
  return 0;
}
