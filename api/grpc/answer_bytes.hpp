// AnswerBytes: an answer in pieces, so that what is large in it need not be copied.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

class AnswerBytes {
public:
  /// A piece of its own, or one that lies where `keeper` keeps it.
  struct Piece {
    std::string own;
    std::string_view lent = {};
    std::shared_ptr<const void> keeper = nullptr;
    std::string_view bytes() const { return keeper ? lent : std::string_view(own); }
  };

  AnswerBytes() = default;
  AnswerBytes(std::string bytes) { // NOLINT(google-explicit-constructor): most answers are one
    if (!bytes.empty())
      pieces_.push_back({std::move(bytes)});
  }
  AnswerBytes(const char* text) // NOLINT(google-explicit-constructor): as for a string
      : AnswerBytes(std::string(text)) {}
  /// The end of the answer, to be appended to; until the next piece is lent.
  std::string& end() {
    if (pieces_.empty() || pieces_.back().keeper)
      pieces_.emplace_back();
    return pieces_.back().own;
  }
  /// Appends bytes that nobody changes as long as `keeper` is held.
  void lend(std::string_view bytes, std::shared_ptr<const void> keeper) {
    pieces_.push_back({{}, bytes, std::move(keeper)});
  }
  std::vector<Piece>& pieces() { return pieces_; }
  /// All of it, copied.
  std::string text() const {
    std::string out;
    for (const Piece& piece : pieces_)
      out.append(piece.bytes());
    return out;
  }

private:
  std::vector<Piece> pieces_;
};

} // namespace troupe
