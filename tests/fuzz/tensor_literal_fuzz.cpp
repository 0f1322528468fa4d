// A tensor as it is typed: feeds at the prompt, values in text graphs.
#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"
#include "core/tensor/literal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  auto tensor = parse_literal({reinterpret_cast<const char*>(data), size});
  if (!tensor.ok()) {
    TROUPE_CHECK(!tensor.status().message().empty(), "a refusal says why");
    return 0;
  }
  if (tensor->num_elements() > 10'000)
    return 0;
  std::string text = to_literal(*tensor);
  auto back = parse_literal(text);
  TROUPE_CHECK(back.ok(), "what is written is read");
  TROUPE_CHECK(to_literal(*back) == text, "and is the same");
  return 0;
}
