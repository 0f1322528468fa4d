// Statements: what a person types, cut into commands and words.
//
//   load a.graph; feed x f32[2] 1 2     # two commands and a comment
//   feed x f32[2,2] \                   # goes on in the next line, as a line within brackets
//     1 2 3 4                           # or quotes does
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

/// Part of a command; quotes and escapes are already taken away.
struct Word {
  std::string text;
  std::size_t begin = 0; ///< in Statement::text, with its quotes
  std::size_t end = 0;
  bool quoted = false; ///< some of it stood in quotes, so it is no operator
};

/// One command with its arguments. Never without words.
struct Statement {
  std::string text; ///< as typed
  std::vector<Word> words;

  const std::string& name() const { return words[0].text; }
  std::size_t arguments() const { return words.size() - 1; }
  const std::string& argument(std::size_t i) const { return words[i + 1].text; }
  /// The text from argument `i` to the end, as typed: a literal keeps its quotes.
  std::string_view rest_from(std::size_t i) const;
};

/// Cuts text into statements. Words are parted by blanks; `;` and line ends part statements outside
/// quotes and brackets; `#` at the beginning of a word starts a comment. In "…" a backslash escapes
/// the next character, in '…' nothing does. INVALID_ARGUMENT with line and column for a quote or
/// bracket that is not closed, or closed without having been opened.
Result<std::vector<Statement>> parse_statements(std::string_view text);

/// Is this the beginning of something longer? True while a quote or bracket is open or the last
/// line ends in a backslash.
bool wants_another_line(std::string_view text);

class StatementScanner;

/// Collects lines until they are whole; each is looked at once.
class StatementReader {
public:
  StatementReader();
  ~StatementReader();
  /// Gives the statements once the lines so far are whole, else nothing. An error also drops what
  /// was collected.
  std::optional<Result<std::vector<Statement>>> add_line(std::string_view line);
  /// The lines have ended: the error of what is still open, if anything is.
  Status finish();
  bool is_empty() const { return pending_ == nullptr; }

private:
  std::unique_ptr<StatementScanner> pending_;
};

/// What the cursor is at, for completion: the last statement of an unfinished text.
struct PartialStatement {
  std::vector<std::string> words; ///< whole ones before the cursor
  std::string prefix;             ///< of the word at the cursor, empty after a blank
};
PartialStatement last_statement(std::string_view text);

} // namespace troupe
