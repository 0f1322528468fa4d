// Config files in CAF's syntax, read into a tree that knows where each value stands.
//
//   ; a comment                      # another
//   [section]                        section { key = value }     key.part = value
//   count = 3    share = 0.5    wait = 500ms    on = true    text = "…"    atom = 'sharing'
//   list = ["a",
//           "b"]                     map = {a = 1, b = "x"}
//
// A section may be opened again; a key may be given once. `[a.b]` is section b within a.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

struct ConfigEntry;

/// A value and where it begins. Only the field of its kind means something.
struct ConfigValue {
  enum class Kind { boolean, integer, real, duration, text, atom, list, map };
  Kind kind = Kind::map;
  int line = 1; ///< from 1
  int column = 1;
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0;
  std::chrono::nanoseconds duration{0};
  std::string text; ///< of text and atom, without quotes
  std::vector<ConfigValue> list;
  std::vector<ConfigEntry> map; ///< in the order of the file; keys are unique

  /// Null if this is no map or has no such key.
  const ConfigEntry* find(std::string_view key) const;
  /// "a list", "the number 3", "the text "x"": how a message names the value.
  std::string describe() const;
  /// In the file's syntax, on one line.
  std::string to_string() const;
};

/// "500ms", "2 s", "10m" (minutes). Nothing for other text.
std::optional<std::chrono::nanoseconds> parse_config_duration(std::string_view text);

struct ConfigEntry {
  std::string key;
  int line = 1; ///< of the key
  ConfigValue value;
};

/// What is wrong in a file, gathered so that one reading tells everything.
class ConfigProblems {
public:
  explicit ConfigProblems(std::string file) : file_(std::move(file)) {}
  /// `sentence` names the remedy; line 0 speaks of the whole file.
  void add(int line, std::string sentence);
  bool empty() const { return problems_.empty(); }
  std::size_t size() const { return problems_.size(); }
  /// OK, or INVALID_ARGUMENT with one line "FILE:LINE: sentence" for each, in order of line.
  Status to_status() const;
  const std::string& file() const { return file_; }
  struct Problem {
    int line;
    std::string sentence;
  };
  /// In order of line.
  std::vector<Problem> sorted() const;

private:
  std::string file_;
  std::vector<Problem> problems_;
};

/// Bounds on what is read: a file of some thousand tasks takes 100 KiB.
inline constexpr std::size_t max_config_bytes = 1 << 20;
inline constexpr int max_config_depth = 16;

/// Reads as much as can be understood; each thing that cannot be is a problem, and reading goes on
/// with the next line.
ConfigValue parse_config(std::string_view text, ConfigProblems& problems);

/// The text of a config file. NOT_FOUND, PERMISSION_DENIED or RESOURCE_EXHAUSTED naming the path.
Result<std::string> load_config_text(const std::string& path);

} // namespace troupe
