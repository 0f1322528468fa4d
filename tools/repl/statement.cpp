#include "tools/repl/statement.hpp"

#include "core/base/strings.hpp"

namespace troupe {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

char closing_of(char opening) {
  return opening == '(' ? ')' : opening == '[' ? ']' : '}';
}

} // namespace

// Walks over the text once. What is open at its end is not yet an error: more lines may follow, and
// the walk goes on where it was.
class StatementScanner {
public:
  explicit StatementScanner(std::string_view text) : original_(text), text_(text) {}

  void append_line(std::string_view line) {
    original_.append("\n").append(line);
    text_.append(continued_ ? " " : "\n").append(line);
    continued_ = false;
  }

  Status scan() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (quote_ == '"' && c == '\\' && at_ + 1 == text_.size())
        break; // what it escapes is not there yet
      if (quote_)
        in_quotes(c);
      else if (c == '\\' && ends_line(at_ + 1))
        skip_line_end();
      else if (is_blank(c) && !(c == '\n' && open_.empty()))
        end_word();
      else if (open_.empty() && (c == '\n' || c == ';'))
        end_statement();
      else if (c == '#' && !in_word_)
        skip_comment();
      else
        TROUPE_TRY(in_word(c));
      ++at_;
    }
    return {};
  }

  // After scan().
  bool is_open() const { return quote_ || !open_.empty() || continued_; }
  Status open_error() const {
    if (quote_)
      return at(opened_, str_cat("the quote ", std::string(1, quote_),
                                 " is not closed; close it, or leave it out"));
    if (!open_.empty())
      return at(open_.back(), str_cat("the bracket ", std::string(1, text_[open_.back()]),
                                      " is not closed; close it with ",
                                      std::string(1, closing_of(text_[open_.back()]))));
    return {};
  }
  std::vector<Statement> take_statements() {
    end_statement();
    return std::move(statements_);
  }
  PartialStatement take_partial() {
    PartialStatement out;
    if (in_word_)
      out.prefix = word_.text;
    for (Word& word : words_)
      out.words.push_back(std::move(word.text));
    return out;
  }

private:
  bool ends_line(std::size_t i) const {
    return i == text_.size() || text_[i] == '\n' ||
           (text_[i] == '\r' && i + 1 < text_.size() && text_[i + 1] == '\n');
  }
  void skip_line_end() {
    end_word();
    continued_ = at_ + 1 == text_.size();
    // Blanks in their place keep a literal over several lines whole.
    for (; at_ + 1 < text_.size() && text_[at_] != '\n'; ++at_)
      text_[at_] = ' ';
    text_[at_] = ' ';
  }
  void skip_comment() {
    while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n')
      ++at_;
  }
  void begin_word() {
    if (in_word_)
      return;
    in_word_ = true;
    word_ = Word{};
    word_.begin = at_;
  }
  void end_word() {
    if (!in_word_)
      return;
    in_word_ = false;
    word_.end = at_;
    words_.push_back(std::move(word_));
  }
  void end_statement() {
    end_word();
    if (!words_.empty()) {
      Statement statement;
      std::size_t begin = words_.front().begin;
      statement.text = text_.substr(begin, words_.back().end - begin);
      statement.words = std::move(words_);
      for (Word& word : statement.words) {
        word.begin -= begin;
        word.end -= begin;
      }
      statements_.push_back(std::move(statement));
    }
    words_.clear();
  }
  void in_quotes(char c) {
    if (c == quote_) {
      quote_ = 0;
    } else if (c == '\\' && quote_ == '"') {
      word_.text.push_back(text_[++at_]);
    } else {
      word_.text.push_back(c);
    }
  }
  Status in_word(char c) {
    begin_word();
    if (c == '"' || c == '\'') {
      quote_ = c;
      opened_ = at_;
      word_.quoted = true;
      return {};
    }
    if (c == '(' || c == '[' || c == '{')
      open_.push_back(at_);
    if (c == ')' || c == ']' || c == '}') {
      if (open_.empty())
        return at(at_, str_cat("the bracket ", std::string(1, c), " closes nothing"));
      if (c != closing_of(text_[open_.back()]))
        return at(at_, str_cat("the bracket ", std::string(1, c), " closes ",
                               std::string(1, text_[open_.back()]), "; write ",
                               std::string(1, closing_of(text_[open_.back()])), " first"));
      open_.pop_back();
    }
    word_.text.push_back(c);
    return {};
  }
  Status at(std::size_t position, const std::string& sentence) const {
    std::size_t line = 1, column = 1;
    for (char c : original_.substr(0, position)) {
      ++column;
      if (c == '\n') {
        ++line;
        column = 1;
      }
    }
    return invalid_argument(line == 1
                                ? str_cat("column ", column, ": ", sentence)
                                : str_cat("line ", line, ", column ", column, ": ", sentence));
  }

  std::string original_;
  std::string text_; // the same length
  std::size_t at_ = 0;
  char quote_ = 0;                // open, or 0
  std::size_t opened_ = 0;        // where that quote is
  std::vector<std::size_t> open_; // brackets
  bool continued_ = false;
  bool in_word_ = false;
  Word word_;
  std::vector<Word> words_;
  std::vector<Statement> statements_;
};

std::string_view Statement::rest_from(std::size_t i) const {
  return std::string_view(text).substr(words[i + 1].begin);
}

Result<std::vector<Statement>> parse_statements(std::string_view text) {
  StatementScanner scanner(text);
  TROUPE_TRY(scanner.scan());
  TROUPE_TRY(scanner.open_error());
  return scanner.take_statements();
}

bool wants_another_line(std::string_view text) {
  StatementScanner scanner(text);
  return scanner.scan().ok() && scanner.is_open();
}

StatementReader::StatementReader() = default;
StatementReader::~StatementReader() = default;

std::optional<Result<std::vector<Statement>>> StatementReader::add_line(std::string_view line) {
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  if (pending_)
    pending_->append_line(line);
  else
    pending_ = std::make_unique<StatementScanner>(line);
  Status status = pending_->scan();
  if (status.ok() && pending_->is_open())
    return std::nullopt;
  auto scanner = std::move(pending_);
  if (!status.ok())
    return status;
  return scanner->take_statements();
}

Status StatementReader::finish() {
  auto scanner = std::move(pending_);
  if (!scanner)
    return {};
  TROUPE_TRY(scanner->open_error());
  return invalid_argument(
      "the last line ends in a backslash, but no line follows; leave the backslash out");
}

PartialStatement last_statement(std::string_view text) {
  StatementScanner scanner(text);
  if (!scanner.scan().ok())
    return {};
  return scanner.take_partial();
}

} // namespace troupe
