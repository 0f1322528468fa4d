#include "net/cluster/config_file.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

bool is_key_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
constexpr Unit units[] = {{"ns", 1},         {"us", 1000},         {"ms", 1000000},
                          {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000}};

// A recursive descent over the text. A function that returns false has reported the problem; its
// caller gives up the statement.
class Parser {
public:
  Parser(std::string_view text, ConfigProblems& problems) : text_(text), problems_(problems) {}

  ConfigValue parse() {
    ConfigValue root;
    root.kind = ConfigValue::Kind::map;
    if (text_.starts_with("\xEF\xBB\xBF"))
      at_ = 3;
    if (auto nul = text_.find('\0'); nul != std::string_view::npos) {
      int line = 1 + static_cast<int>(std::count(
                         text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(nul), '\n'));
      problems_.add(line, "there is a zero byte here; a config file is plain text");
      return root;
    }
    std::vector<std::string> section;
    while (skip_blank(), at_ < text_.size()) {
      int began = line_;
      bool understood = peek() == '[' ? read_section(root, section) : read_statement(root, section);
      if (understood)
        understood = expect_line_end();
      if (!understood)
        recover(began);
    }
    return root;
  }

private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void advance() {
    if (text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
    ++at_;
  }
  int column() const { return static_cast<int>(at_ - line_start_) + 1; }
  bool fail(int line, std::string sentence) {
    problems_.add(line, std::move(sentence));
    return false;
  }
  std::string seen() const {
    if (at_ >= text_.size())
      return "the end of the file";
    if (peek() == '\n' || peek() == '\r')
      return "the end of the line";
    auto first = static_cast<unsigned char>(peek());
    if (first < 0x20 || first == 0x7f || (first >= 0x80 && first < 0xc0))
      return str_cat("the byte 0x", hex16(first).substr(14));
    std::size_t size = 1; // a letter of UTF-8 is shown whole
    while (first >= 0xc0 && size < 4 && at_ + size < text_.size() &&
           (static_cast<unsigned char>(text_[at_ + size]) & 0xc0) == 0x80)
      ++size;
    return str_cat("'", text_.substr(at_, size), "'");
  }

  void skip_spaces() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r')
      advance();
  }
  // Blanks, line ends and comments.
  void skip_blank() {
    for (;;) {
      skip_spaces();
      if (peek() == '\n')
        advance();
      else if (peek() == ';' || peek() == '#')
        while (at_ < text_.size() && peek() != '\n')
          advance();
      else
        return;
    }
  }
  bool expect_line_end() {
    skip_spaces();
    if (peek() == ';' || peek() == '#' || peek() == '\n' || at_ >= text_.size())
      return true;
    return fail(line_, str_cat("after the value stands ", seen(),
                               "; write one key on each line, and text in double quotes"));
  }
  // Does the line from `i` on begin with `key =`, `key {` or `[section]`?
  bool begins_statement(std::size_t i) const {
    auto char_at = [&](std::size_t k) { return k < text_.size() ? text_[k] : '\0'; };
    auto skip = [&] {
      while (char_at(i) == ' ' || char_at(i) == '\t')
        ++i;
    };
    skip();
    bool section = char_at(i) == '[';
    if (section)
      ++i;
    std::size_t begin = i;
    while (is_key_char(char_at(i)) || char_at(i) == '.')
      ++i;
    bool named = i > begin;
    skip();
    return named && (section ? char_at(i) == ']' : char_at(i) == '=' || char_at(i) == '{');
  }

  // To the next line that begins a statement; the present one, if what failed began before it.
  void recover(int began) {
    if (line_ > began && begins_statement(line_start_)) {
      at_ = line_start_;
      return;
    }
    do {
      while (at_ < text_.size() && peek() != '\n')
        advance();
      if (at_ < text_.size())
        advance();
    } while (at_ < text_.size() && !begins_statement(at_));
  }

  // `a.b.c`
  bool read_name(std::vector<std::string>& out, std::string_view what) {
    out.clear();
    for (;;) {
      std::size_t begin = at_;
      while (is_key_char(peek()))
        advance();
      if (at_ == begin)
        return fail(line_, str_cat("here should stand ", what, ", but there is ", seen(),
                                   "; names consist of letters, digits, '-' and '_'"));
      out.emplace_back(text_.substr(begin, at_ - begin));
      if (peek() != '.')
        break;
      advance();
    }
    if (static_cast<int>(out.size()) > max_config_depth)
      return fail(line_,
                  str_cat("this name has more than ", max_config_depth, " parts; shorten it"));
    return true;
  }

  bool read_section(ConfigValue& root, std::vector<std::string>& section) {
    int line = line_;
    advance();
    skip_spaces();
    std::vector<std::string> name;
    if (!read_name(name, "the name of a section"))
      return false;
    skip_spaces();
    if (peek() != ']')
      return fail(line_, str_cat("section '", str_join(name, "."),
                                 "' should end with ']', but there is ", seen()));
    advance();
    ConfigValue empty;
    empty.line = line;
    insert(root, name, line, std::move(empty));
    section = std::move(name);
    return true;
  }

  // `name = value` or `name { … }`, below `section`.
  bool read_statement(ConfigValue& map, const std::vector<std::string>& section) {
    int line = line_;
    std::vector<std::string> name;
    if (!read_name(name, "a key"))
      return false;
    skip_spaces();
    if (peek() == '=') {
      advance();
      skip_spaces();
    } else if (peek() != '{') {
      return fail(line_, str_cat("after the key '", str_join(name, "."),
                                 "' should stand '=', but there is ", seen()));
    }
    ConfigValue value;
    int depth = static_cast<int>(section.size() + name.size());
    if (!read_value(value, str_join(name, "."), depth))
      return false;
    name.insert(name.begin(), section.begin(), section.end());
    insert(map, name, line, std::move(value));
    return true;
  }

  // Maps meet maps; anything else that is there already is a problem.
  void insert(ConfigValue& map, const std::vector<std::string>& name, int line, ConfigValue value) {
    ConfigValue* at = &map;
    for (std::size_t i = 0; i < name.size(); ++i) {
      bool last = i + 1 == name.size();
      auto found = std::find_if(at->map.begin(), at->map.end(),
                                [&](const ConfigEntry& e) { return e.key == name[i]; });
      if (found == at->map.end()) {
        ConfigEntry entry{name[i], line, {}};
        entry.value.line = line;
        at->map.push_back(std::move(entry));
        found = at->map.end() - 1;
        if (last) {
          found->value = std::move(value);
          return;
        }
      }
      bool both_maps = found->value.kind == ConfigValue::Kind::map &&
                       (!last || value.kind == ConfigValue::Kind::map);
      if (!both_maps) {
        problems_.add(line, str_cat("the key '", str_join(name, "."), "' was given in line ",
                                    found->line, " already; keep one of the two"));
        return;
      }
      at = &found->value;
    }
    for (ConfigEntry& entry : value.map)
      insert(*at, {entry.key}, entry.line, std::move(entry.value));
  }

  bool read_value(ConfigValue& out, const std::string& key, int depth) {
    out.line = line_;
    out.column = column();
    if (depth > max_config_depth)
      return fail(line_, str_cat("'", key, "' is nested more than ", max_config_depth,
                                 " deep; flatten it"));
    char c = peek();
    if (c == '"')
      return read_quoted(out, key, '"', ConfigValue::Kind::text);
    if (c == '\'')
      return read_quoted(out, key, '\'', ConfigValue::Kind::atom);
    if (c == '[')
      return read_list(out, key, depth);
    if (c == '{')
      return read_map(out, key, depth);
    return read_word(out, key);
  }

  bool read_quoted(ConfigValue& out, const std::string& key, char quote, ConfigValue::Kind kind) {
    out.kind = kind;
    advance();
    while (at_ < text_.size() && peek() != quote && peek() != '\n') {
      char c = peek();
      if (c == '\\') {
        advance();
        switch (peek()) {
        case 'n':
          c = '\n';
          break;
        case 't':
          c = '\t';
          break;
        case 'r':
          c = '\r';
          break;
        case '"':
        case '\'':
        case '\\':
          c = peek();
          break;
        default:
          return fail(line_, str_cat("the text of '", key, "' has the escape '\\', ", seen(),
                                     "; known are \\n, \\t, \\r, \\\" and \\\\"));
        }
      }
      out.text.push_back(c);
      advance();
    }
    if (peek() != quote)
      return fail(out.line, str_cat("the text of '", key, "' has no closing ", quote,
                                    "; text ends on the line where it begins"));
    advance();
    return true;
  }

  bool read_list(ConfigValue& out, const std::string& key, int depth) {
    out.kind = ConfigValue::Kind::list;
    advance();
    for (;;) {
      skip_blank();
      if (peek() == ']')
        break;
      if (at_ >= text_.size())
        return fail(out.line,
                    str_cat("the list of '", key, "' that begins here has no closing ']'"));
      out.list.emplace_back();
      if (!read_value(out.list.back(), key, depth + 1))
        return false;
      skip_blank();
      if (peek() == ',')
        advance();
      else if (at_ >= text_.size())
        return fail(out.line,
                    str_cat("the list of '", key, "' that begins here has no closing ']'"));
      else if (peek() != ']')
        return fail(line_, str_cat("in the list of '", key, "' that begins in line ", out.line,
                                   " stands ", seen(), " where ',' or ']' should"));
    }
    advance();
    return true;
  }

  bool read_map(ConfigValue& out, const std::string& key, int depth) {
    out.kind = ConfigValue::Kind::map;
    advance();
    for (;;) {
      skip_blank();
      if (peek() == '}')
        break;
      if (at_ >= text_.size())
        return fail(out.line,
                    str_cat("the block of '", key, "' that begins here has no closing '}'"));
      if (depth + 1 > max_config_depth)
        return fail(line_, str_cat("'", key, "' is nested more than ", max_config_depth,
                                   " deep; flatten it"));
      int line = line_;
      std::vector<std::string> name;
      if (!read_name(name, "a key"))
        return false;
      skip_spaces();
      if (peek() == '=') {
        advance();
        skip_spaces();
      } else if (peek() != '{') {
        return fail(line_, str_cat("after the key '", str_join(name, "."),
                                   "' should stand '=', but there is ", seen()));
      }
      ConfigValue value;
      if (!read_value(value, str_join(name, "."), depth + static_cast<int>(name.size())))
        return false;
      insert(out, name, line, std::move(value));
      int ended = line_;
      skip_blank();
      if (peek() == ',')
        advance();
      else if (peek() != '}' && at_ < text_.size() && line_ == ended)
        return fail(line_, str_cat("in the block of '", key, "' stands ", seen(),
                                   " where ',', '}' or a new line should"));
    }
    advance();
    return true;
  }

  // A boolean, a number or a duration.
  bool read_word(ConfigValue& out, const std::string& key) {
    std::size_t begin = at_;
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n,;#]}[{=\"'").find(peek()) == std::string_view::npos)
      advance();
    std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty())
      return fail(line_, str_cat("'", key, "' has no value: there is ", seen(), " after '='"));
    if (word == "true" || word == "false") {
      out.kind = ConfigValue::Kind::boolean;
      out.boolean = word == "true";
      return true;
    }
    if (read_number(out, word))
      return true;
    return fail(line_, str_cat("the value of '", key, "' is ", word,
                               ", neither number, duration (500ms, 2s), true nor false; ",
                               remedy_for(word)));
  }

  // What was meant by a word that is no value: a boolean of another language, a duration with a
  // unit that is none, or text.
  static std::string remedy_for(std::string_view word) {
    std::string small(word);
    for (char& c : small)
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (std::string_view yes : {"true", "yes", "on"})
      if (small == yes)
        return "write true";
    for (std::string_view no : {"false", "no", "off"})
      if (small == no)
        return "write false";
    if (parse_double(word.substr(0, word.find_last_of("0123456789") + 1)))
      return "the units are us, ms, s, min and h";
    return str_cat("write text in double quotes: \"", word, "\"");
  }

  static bool read_number(ConfigValue& out, std::string_view word) {
    std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
    if (auto value = parse_int(digits)) {
      out.kind = ConfigValue::Kind::integer;
      out.integer = *value;
      return true;
    }
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      auto [end, error] =
          std::from_chars(digits.data() + 2, digits.data() + digits.size(), out.integer, 16);
      out.kind = ConfigValue::Kind::integer;
      return error == std::errc{} && end == digits.data() + digits.size() && digits.size() > 2 &&
             digits[2] != '-';
    }
    std::size_t unit_at = digits.find_last_of("0123456789.");
    if (unit_at == std::string_view::npos)
      return false;
    auto value = parse_double(digits.substr(0, unit_at + 1));
    std::string_view unit = digits.substr(unit_at + 1);
    if (!value)
      return false;
    if (unit.empty()) {
      out.kind = ConfigValue::Kind::real;
      out.real = *value;
      return true;
    }
    auto duration = parse_config_duration(digits);
    if (!duration)
      return false;
    out.kind = ConfigValue::Kind::duration;
    out.duration = *duration;
    return true;
  }

  std::string_view text_;
  ConfigProblems& problems_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t line_start_ = 0;
};

std::string duration_text(std::chrono::nanoseconds duration) {
  std::int64_t count = duration.count();
  for (auto unit = std::rbegin(units); unit != std::rend(units); ++unit)
    if (unit->name != "h" && count % unit->nanoseconds == 0)
      return str_cat(count / unit->nanoseconds, unit->name);
  return str_cat(count, "ns");
}

} // namespace

std::optional<std::chrono::nanoseconds> parse_config_duration(std::string_view text) {
  std::size_t unit_at = text.find_last_of("0123456789.");
  if (unit_at == std::string_view::npos)
    return {};
  auto count = parse_double(text.substr(0, unit_at + 1));
  std::string_view unit = str_trim(text.substr(unit_at + 1));
  if (unit == "m") // as other programs write minutes
    unit = "min";
  if (!count)
    return {};
  for (const Unit& known : units)
    if (unit == known.name) {
      double total = *count * static_cast<double>(known.nanoseconds);
      if (!(total > -9.0e18 && total < 9.0e18))
        return {};
      return std::chrono::nanoseconds(static_cast<std::int64_t>(total));
    }
  return {};
}

const ConfigEntry* ConfigValue::find(std::string_view key) const {
  for (const ConfigEntry& entry : map)
    if (entry.key == key)
      return &entry;
  return nullptr;
}

std::string ConfigValue::describe() const {
  switch (kind) {
  case Kind::boolean:
    return str_cat("the boolean ", boolean);
  case Kind::integer:
    return str_cat("the number ", integer);
  case Kind::real:
    return str_cat("the number ", real);
  case Kind::duration:
    return str_cat("the duration ", duration_text(duration));
  case Kind::text:
    return str_cat("the text ", str_quote(text));
  case Kind::atom:
    return str_cat("the atom '", text, "'");
  case Kind::list:
    return "a list";
  case Kind::map:
    return "a block";
  }
  return "nothing";
}

std::string ConfigValue::to_string() const {
  switch (kind) {
  case Kind::boolean:
    return str_cat(boolean);
  case Kind::integer:
    return str_cat(integer);
  case Kind::real:
    return str_cat(real);
  case Kind::duration:
    return duration_text(duration);
  case Kind::text:
    return str_quote(text);
  case Kind::atom:
    return str_cat("'", text, "'");
  case Kind::list:
    return str_cat("[", str_join(list, ", "), "]");
  case Kind::map:
    break;
  }
  std::string out = "{";
  for (const ConfigEntry& entry : map)
    str_append(out, out.size() > 1 ? ", " : "", entry.key, "=", entry.value);
  return out + "}";
}

void ConfigProblems::add(int line, std::string sentence) {
  problems_.push_back({line, std::move(sentence)});
}

std::vector<ConfigProblems::Problem> ConfigProblems::sorted() const {
  auto out = problems_;
  std::stable_sort(out.begin(), out.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  return out;
}

Status ConfigProblems::to_status() const {
  if (problems_.empty())
    return {};
  std::vector<std::string> lines;
  for (const Problem& p : sorted())
    lines.push_back(p.line > 0 ? str_cat(file_, ":", p.line, ": ", p.sentence)
                               : str_cat(file_, ": ", p.sentence));
  return invalid_argument(str_join(lines, "\n"));
}

ConfigValue parse_config(std::string_view text, ConfigProblems& problems) {
  if (text.size() > max_config_bytes) {
    problems.add(0, str_cat("the file has ", text.size(), " bytes, more than the ",
                            max_config_bytes, " of a config file; is it the right file?"));
    return {};
  }
  return Parser(text, problems).parse();
}

Result<std::string> load_config_text(const std::string& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) {
    int error = errno;
    std::string why = str_cat(path, ": cannot be opened: ", std::strerror(error));
    return error == EACCES ? permission_denied(why) : not_found(why);
  }
  std::string text(max_config_bytes + 1, '\0');
  std::size_t got = std::fread(text.data(), 1, text.size(), file.get());
  if (std::ferror(file.get()))
    return invalid_argument(
        str_cat(path, ": cannot be read: ", std::strerror(errno), "; name a plain file"));
  if (got > max_config_bytes)
    return resource_exhausted(str_cat(path, ": has more than the ", max_config_bytes,
                                      " bytes of a config file; is it the right file?"));
  text.resize(got);
  return text;
}

} // namespace troupe
