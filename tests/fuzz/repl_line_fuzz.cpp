// What is typed at the prompt, whole and line by line.
#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"
#include "tools/repl/statement.hpp"

namespace troupe {
namespace {

std::size_t check(const Result<std::vector<Statement>>& statements) {
  if (!statements.ok()) {
    TROUPE_CHECK(!statements.status().message().empty(), "a refusal says why");
    return 0;
  }
  for (const Statement& statement : *statements) {
    TROUPE_CHECK(!statement.words.empty(), "a statement has words");
    for (const Word& word : statement.words)
      TROUPE_CHECK(word.begin <= word.end && word.end <= statement.text.size(),
                   "a word stands in its statement");
    for (std::size_t i = 0; i < statement.arguments(); ++i)
      TROUPE_CHECK(statement.rest_from(i).size() <= statement.text.size(), "the rest is a part");
  }
  return statements->size();
}

} // namespace
} // namespace troupe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  check(parse_statements(text));
  wants_another_line(text);
  last_statement(text);
  StatementReader reader;
  while (!text.empty()) {
    auto end = text.find('\n');
    if (auto statements = reader.add_line(text.substr(0, end)))
      check(*statements);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  if (Status status = reader.finish(); !status.ok())
    TROUPE_CHECK(!status.message().empty(), "a refusal says why");
  return 0;
}
