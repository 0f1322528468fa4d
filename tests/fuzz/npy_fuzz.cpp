// A NumPy file.
#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"
#include "storage/npy/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  auto tensor = parse_npy({reinterpret_cast<const char*>(data), size}, "fuzz.npy");
  if (!tensor.ok()) {
    TROUPE_CHECK(tensor.status().message().find("fuzz.npy") != std::string::npos,
                 "a refusal names the file");
    return 0;
  }
  auto bytes = to_npy(*tensor);
  if (!bytes.ok())
    return 0; // NumPy's trailing zeros
  auto back = parse_npy(*bytes, "written.npy");
  TROUPE_CHECK(back.ok() && back->shape() == tensor->shape(), "what is written is read");
  return 0;
}
