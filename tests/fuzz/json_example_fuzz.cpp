// A JSON text as a tensorflow.Example.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/parsing_ops.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  static Bench bench;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto made = run_one(bench, parsing_ops(), "DecodeJSONExample", {}, {Tensor::scalar(text)});
  if (made.ok())
    TROUPE_CHECK((*made)[0].value<std::string>().size() <= 5 * size,
                 "a message is not much longer than its text");
  return 0;
}
