// A graph in our own text form: what stands in a .graph file and is typed at the prompt.
#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"
#include "graph/ir/test_ops.hpp"
#include "graph/ir/text.hpp"
#include "graph/ir/verify.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  static const OpRegistry ops = test_ops();
  auto graph = parse_graph({reinterpret_cast<const char*>(data), size}, ops);
  if (!graph.ok()) {
    TROUPE_CHECK(!graph.status().message().empty(), "a refusal says why");
    return 0;
  }
  TROUPE_CHECK(verify(*graph).ok(), "what is read is a sound graph");
  std::string text = to_text(*graph, 2000);
  if (text.find("…") != text.npos)
    return 0; // cut: a large tensor takes too long for a fuzzer, and does not read back
  auto back = parse_graph(text, ops);
  TROUPE_CHECK(back.ok(), "what is written is read");
  TROUPE_CHECK(to_text(*back, 2000) == text, "and is the same");
  return 0;
}
