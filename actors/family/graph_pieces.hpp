// Graphs in pieces: a message between nodes has a bound, and a graph with large constants is
// longer.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "actors/protocol/wire/worker.hpp"
#include "core/base/status.hpp"
#include "core/base/strings.hpp"

namespace troupe {

/// What a receiver has of a graph that comes in pieces, as bytes of a GraphDef. They come from one
/// sender, in order, right before the message with the last of them.
class GraphPieces {
public:
  static constexpr std::size_t most_bytes = std::size_t{2} << 30; // protobuf's own bound

  void add(std::string piece) {
    is_too_long_ |= bytes_.size() + piece.size() > most_bytes;
    if (is_too_long_)
      bytes_ = {};
    else if (bytes_.empty())
      bytes_ = std::move(piece);
    else
      bytes_ += piece;
  }
  /// The graph whose last piece this is; the next one begins. RESOURCE_EXHAUSTED beyond 2 GiB.
  Result<std::string> whole(std::string last) {
    add(std::move(last));
    const bool is_too_long = std::exchange(is_too_long_, false);
    std::string out = std::exchange(bytes_, {});
    if (is_too_long)
      return resource_exhausted(
          str_cat("the graph is longer than ", most_bytes,
                  " bytes; feed large values, or read them from a file, instead of making them "
                  "constants"));
    return out;
  }

private:
  std::string bytes_;
  bool is_too_long_ = false;
};

/// Sends all of a graph but its last piece, which it leaves in `graph_def`, to a peer on another
/// node; one on this node has no bound. The message with the rest has to follow from the same
/// sender.
template <class Self, class Handle>
void send_pieces(Self* self, const Handle& peer, std::string& graph_def) {
  constexpr std::size_t piece = std::size_t{1} << 20; // half of the least `message-limit`
  if (peer.node() == self->node() || graph_def.size() <= piece)
    return;
  std::size_t at = 0;
  for (; graph_def.size() - at > piece; at += piece)
    self->send(peer, GraphPiece{graph_def.substr(at, piece)});
  graph_def.erase(0, at);
}

} // namespace troupe
