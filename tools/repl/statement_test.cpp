#include "tools/repl/statement.hpp"

#include <doctest/doctest.h>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

// "load a.graph | run y" for two statements, words parted by blanks.
std::string shown(std::string_view text) {
  auto statements = parse_statements(text);
  if (!statements)
    return "error: " + statements.status().message();
  std::vector<std::string> parts;
  for (const Statement& statement : *statements) {
    std::vector<std::string> words;
    for (const Word& word : statement.words)
      words.push_back(word.text);
    parts.push_back(str_join(words, " "));
  }
  return str_join(parts, " | ");
}

} // namespace

TEST_CASE("statement: blanks part words; semicolons and line ends part statements") {
  CHECK(shown("  run\ty   z ") == "run y z");
  CHECK(shown("load a.graph; run y;;\n\nsteps") == "load a.graph | run y | steps");
  CHECK(shown("run y -> init ^d") == "run y -> init ^d");
  CHECK(shown("") == "");
  CHECK(shown(" ; \n ; ") == "");
}

TEST_CASE("statement: a comment begins at a word's beginning and ends with its line") {
  CHECK(shown("# nothing; at all") == "");
  CHECK(shown("run y # why\nsteps") == "run y | steps");
  CHECK(shown("graph a#b") == "graph a#b");
}

TEST_CASE("statement: quotes keep blanks, semicolons and hashes") {
  CHECK(shown("load 'my file; # 1.graph'") == "load my file; # 1.graph");
  CHECK(shown(R"(load "a\"b")") == R"(load a"b)");
  CHECK(shown(R"(load 'a\b')") == R"(load a\b)");
  auto statements = parse_statements(R"(run "trace" trace)");
  REQUIRE(statements.ok());
  CHECK((*statements)[0].words[1].quoted);
  CHECK_FALSE((*statements)[0].words[2].quoted);
}

TEST_CASE("statement: the rest is what was typed, quotes and all") {
  auto statements = parse_statements("steps; feed  x  str[2] \"a b\"   'c' ; run y");
  REQUIRE(statements.ok());
  REQUIRE(statements->size() == 3);
  CHECK((*statements)[1].text == "feed  x  str[2] \"a b\"   'c'");
  CHECK((*statements)[1].rest_from(1) == "str[2] \"a b\"   'c'");
  CHECK((*statements)[1].argument(0) == "x");
}

TEST_CASE("statement: brackets hold line ends and semicolons") {
  CHECK(shown("feed x f32[2,\n 2] 1 2 3 4") == "feed x f32[2, 2] 1 2 3 4");
  CHECK(shown("feed x c64[1] (1\n,2)") == "feed x c64[1] (1 ,2)");
}

TEST_CASE("statement: a backslash at a line's end joins it with the next") {
  CHECK(shown("run y \\\n z") == "run y z");
  CHECK(shown("run y \\\r\n z") == "run y z");
  CHECK(shown("graph a\\b") == "graph a\\b");
  auto statements = parse_statements("feed x f32[2] \\\n 1 2");
  REQUIRE(statements.ok());
  CHECK(str_trim((*statements)[0].rest_from(1)) == "f32[2]    1 2");
}

TEST_CASE("statement: what is open or closed wrongly is named with its place") {
  CHECK(shown("load 'a") ==
        "error: column 6: the quote ' is not closed; close it, or leave it out");
  CHECK(shown("steps\nload \"a") ==
        "error: line 2, column 6: the quote \" is not closed; close it, or leave it out");
  CHECK(shown("feed x f32[2") == "error: column 11: the bracket [ is not closed; close it with ]");
  CHECK(shown("run y)") == "error: column 6: the bracket ) closes nothing");
  CHECK(shown("feed x f32(2]") == "error: column 13: the bracket ] closes (; write ) first");
}

TEST_CASE("statement: what may go on asks for another line") {
  CHECK(wants_another_line("run y \\"));
  CHECK(wants_another_line("feed x f32[2,"));
  CHECK(wants_another_line("load \"a"));
  CHECK_FALSE(wants_another_line("run y \\\n"));
  CHECK_FALSE(wants_another_line("run y"));
  CHECK_FALSE(wants_another_line(""));
  CHECK_FALSE(wants_another_line("run ) ["));
}

TEST_CASE("statement: a reader gives statements when their lines are whole") {
  StatementReader reader;
  CHECK_FALSE(reader.add_line("feed x \\").has_value());
  CHECK_FALSE(reader.is_empty());
  auto statements = reader.add_line("f32[1] 1; steps");
  REQUIRE(statements.has_value());
  REQUIRE(statements->ok());
  CHECK((*statements)->size() == 2);
  CHECK(reader.is_empty());
  CHECK(reader.finish().ok());
}

TEST_CASE("statement: a reader looks at lines as the whole text is looked at") {
  for (std::string_view text :
       {"load \"a\\\nb\"; steps", "load 'a\\\nb'", "feed x f32[2,\n 2] \\\n 1 2 # end\nsteps",
        "run (a\n# no comment ends\n) b", "run y \\\n\\\n z", "run y \\\n", "load \"a\n\\\"\n\"",
        "steps # (\nrun y"}) {
    CAPTURE(text);
    StatementReader reader;
    std::vector<std::string> words;
    auto collect = [](const std::vector<Statement>& statements, std::vector<std::string>& to) {
      for (const Statement& statement : statements)
        for (const Word& word : statement.words)
          to.push_back(word.text);
    };
    for (std::string_view line : str_split(text, '\n'))
      if (auto statements = reader.add_line(line)) {
        REQUIRE(statements->ok());
        collect(**statements, words);
      }
    CHECK(reader.is_empty());
    auto whole = parse_statements(text);
    REQUIRE(whole.ok());
    std::vector<std::string> expected;
    collect(*whole, expected);
    CHECK(words == expected);
  }
}

TEST_CASE(
    "statement: a quote that a long text never closes is looked for once, not for each line") {
  StatementReader reader;
  REQUIRE_FALSE(reader.add_line("it isn't").has_value());
  for (int i = 0; i < 300000; ++i) // once for each line would take hours
    if (reader.add_line("a line of a file that is no script, sixty letters of it or so"))
      FAIL("the quote is open");
  CHECK(reader.finish().message().starts_with("column 7: the quote ' is not closed"));
}

TEST_CASE("statement: a reader at the end of its input names what is open") {
  StatementReader reader;
  CHECK_FALSE(reader.add_line("load \"a").has_value());
  CHECK(reader.finish().message() ==
        "column 6: the quote \" is not closed; close it, or leave it out");
  CHECK_FALSE(reader.add_line("run y \\").has_value());
  CHECK(reader.finish().code() == Code::invalid_argument);
  CHECK(reader.is_empty());
}

TEST_CASE("statement: an error drops what was collected") {
  StatementReader reader;
  CHECK_FALSE(reader.add_line("feed x f32[").has_value());
  auto broken = reader.add_line("2) 1");
  REQUIRE(broken.has_value());
  CHECK_FALSE(broken->ok());
  CHECK(reader.is_empty());
}

TEST_CASE("statement: the word at the cursor is told from those before it") {
  PartialStatement partial = last_statement("steps; run y los");
  CHECK(partial.words == std::vector<std::string>{"run", "y"});
  CHECK(partial.prefix == "los");
  CHECK(last_statement("run y ").prefix.empty());
  CHECK(last_statement("run y;").words.empty());
  CHECK(last_statement("load 'my fi").prefix == "my fi");
}

} // namespace troupe
