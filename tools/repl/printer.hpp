// Printer: where the prompt writes, with colour on a terminal only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace troupe {

enum class Style { plain, heading, name, faint, good, bad };

/// Writes results to one place and errors to another.
class Printer {
public:
  using Sink = std::function<void(std::string_view)>;
  Printer(Sink out, Sink error, bool colour)
      : out_(std::move(out)), error_(std::move(error)), colour_(colour) {}
  /// Standard output and standard error; colour if both are terminals, NO_COLOR is not set to
  /// anything and TERM is not "dumb".
  static Printer standard();

  void print(std::string_view text) { out_(text); }
  /// A sentence on a line of its own.
  void error(std::string_view sentence);
  /// The text in that style, or as it is without colour.
  std::string styled(Style style, std::string_view text) const;
  bool has_colour() const { return colour_; }

private:
  Sink out_, error_;
  bool colour_;
};

} // namespace troupe
