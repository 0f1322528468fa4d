#include "actors/family/graph_pieces.hpp"

#include <doctest/doctest.h>

namespace troupe {
namespace {

TEST_CASE("graph pieces: what came before the last one is before it, once") {
  GraphPieces pieces;
  CHECK(*pieces.whole("all") == "all");
  pieces.add("a");
  pieces.add("bc");
  CHECK(*pieces.whole("d") == "abcd");
  CHECK(*pieces.whole("e") == "e");
}

TEST_CASE("graph pieces: more than a graph may have is refused, and forgotten") {
  GraphPieces pieces;
  const std::string large(GraphPieces::most_bytes / 2, 'x');
  pieces.add(large);
  pieces.add(large);
  auto refused = pieces.whole("y");
  CHECK(refused.status().code() == Code::resource_exhausted);
  CHECK(*pieces.whole("next") == "next");
}

} // namespace
} // namespace troupe
