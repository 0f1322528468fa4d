// LineInput: lines that a person edits at a terminal, with history and completion.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct LineInputOptions {
  std::string history_file; ///< read at the beginning, written at the end; empty: none
  /// Complete words that the word at the end of the text may become.
  std::function<std::vector<std::string>(std::string_view text)> complete;
};

/// One at a time in a process, on its main thread.
class LineInput {
public:
  virtual ~LineInput() = default;
  struct Line {
    std::string text;
    bool interrupted = false; ///< Ctrl-C instead of a line
  };
  /// Nothing at the end of the input. `before` is what was typed of the same statement in lines
  /// before, for completion; the prompt may hold colours.
  virtual std::optional<Line> read(const std::string& prompt, const std::string& before) = 0;
  /// A whole statement, for the arrow keys and the history file.
  virtual void remember(const std::string& statement) = 0;
};

/// With GNU Readline where the build has it; otherwise plain lines without history.
std::unique_ptr<LineInput> make_line_input(LineInputOptions options);

} // namespace troupe
