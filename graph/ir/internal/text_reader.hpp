// Reads the tokens and attribute values of text graphs, and knows where it stands.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/op/schema.hpp"

namespace troupe {

/// A cursor over a text graph. Comments and blanks are skipped, line ends too unless a caller asks.
class TextReader {
public:
  explicit TextReader(std::string_view text) : text_(text) {}

  /// Skips blanks and comments, and line ends if `lines`.
  void skip(bool lines);
  bool at_end() const { return at_ >= text_.size(); }
  bool at_line_end() const { return at_end() || text_[at_] == '\n'; }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  /// Takes `token` after blanks, if it is next.
  bool take(std::string_view token);
  Status expect(std::string_view token);
  /// A run of name characters; `more` are allowed too.
  Result<std::string_view> word(std::string_view what, std::string_view more = {});
  Result<std::string> quoted();
  /// `type` is what the op says, or nothing.
  Result<AttrValue> value(std::optional<AttrType> type, int depth = 0);
  /// The rest after '[' of "[name=value, …]". Types come from `schema`, if given.
  Result<AttrMap> attrs(const OpSchema* schema, int depth = 0);

  std::size_t position() const { return at_; }
  /// INVALID_ARGUMENT "line 3, column 7: …" for a position.
  Status error(std::size_t position, std::string_view why) const;
  Status error(std::string_view why) const { return error(at_, why); }

private:
  Result<AttrValue> scalar(std::optional<AttrKind> kind, int depth);
  Result<AttrValue> list(std::optional<AttrKind> kind, int depth);
  /// Nothing, and nothing read, if no number stands here.
  std::optional<AttrValue> number(std::optional<AttrKind> kind);
  Result<PartialShape> shape();
  Result<Tensor> tensor();
  Result<FunctionRef> function(int depth);

  std::string_view text_;
  std::size_t at_ = 0;
};

} // namespace troupe
