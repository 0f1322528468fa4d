#include "net/cluster/config_file.hpp"

#include <doctest/doctest.h>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;
using Kind = ConfigValue::Kind;

struct Parsed {
  ConfigProblems problems{"f.conf"};
  ConfigValue root;
  explicit Parsed(std::string_view text) { root = parse_config(text, problems); }
  std::string errors() const { return problems.to_status().message(); }
  const ConfigValue& at(std::string_view path) const {
    const ConfigValue* value = &root;
    for (std::string_view part : str_split(path, '.')) {
      const ConfigEntry* entry = value->find(part);
      REQUIRE(entry != nullptr);
      value = &entry->value;
    }
    return *value;
  }
};

TEST_CASE("config file: every kind of value is read with its place") {
  Parsed p("; a comment\n"
           "[a]          # and another\n"
           "on = true\n"
           "count=-3\n"
           "mask = 0xff\n"
           "share = 2.5e-1 ; after a value\n"
           "wait = 1.5s\n"
           "text = \"x;\\\"y\\\"\\n#\"\n"
           "  atom = 'sharing'\r\n"
           "list = [\"a\", ; first\n"
           "        [1, 2],]\n"
           "map = {x = 1, y = {z = \"q\"}}\n");
  CHECK(p.errors() == "");
  CHECK(p.at("a.on").boolean);
  CHECK(p.at("a.count").integer == -3);
  CHECK(p.at("a.mask").integer == 255);
  CHECK(p.at("a.share").kind == Kind::real);
  CHECK(p.at("a.share").real == 0.25);
  CHECK(p.at("a.wait").duration == 1500ms);
  CHECK(p.at("a.text").text == "x;\"y\"\n#");
  CHECK(p.at("a.atom").kind == Kind::atom);
  CHECK(p.at("a.atom").line == 9);
  CHECK(p.at("a.atom").column == 10);
  CHECK(p.at("a.list").to_string() == "[\"a\", [1, 2]]");
  CHECK(p.at("a.list").list[1].line == 11);
  CHECK(p.at("a.map.y.z").text == "q");
}

TEST_CASE("config file: durations have units from ns to h") {
  Parsed p("a=7ns\nb=7us\nc=7ms\nd=7s\ne=7min\nf=7h\n");
  CHECK(p.at("a").duration == 7ns);
  CHECK(p.at("b").duration == 7us);
  CHECK(p.at("c").duration == 7ms);
  CHECK(p.at("d").duration == 7s);
  CHECK(p.at("e").duration == 7min);
  CHECK(p.at("f").duration == 7h);
  CHECK(p.at("e").to_string() == "7min");
}

TEST_CASE("config file: sections, blocks and dotted names build the same tree") {
  for (std::string_view text : {"[a.b]\nc=1\nd=2\n", "a { b { c=1\n d=2 } }\n",
                                "a.b = {c=1, d=2}\n", "[a]\nb.c=1\n[other]\n[a.b]\nd=2\n"}) {
    CAPTURE(text);
    Parsed p(text);
    CHECK(p.errors() == "");
    CHECK(p.at("a.b.c").integer == 1);
    CHECK(p.at("a.b.d").integer == 2);
  }
}

TEST_CASE("config file: mistakes are told with line and remedy") {
  struct Row {
    std::string_view text;
    std::string_view error;
  };
  const Row rows[] = {
      {"[a]\nx 3\n", "f.conf:2: after the key 'x' should stand '=', but there is '3'"},
      {"x = 127.0.0.1:7000\n", "f.conf:1: the value of 'x' is 127.0.0.1:7000, neither number"},
      {"x = hello\n", "write text in double quotes: \"hello\""},
      {"x = Yes\n", "neither number, duration (500ms, 2s), true nor false; write true"},
      {"x = off\n", "true nor false; write false"},
      {"x = 5sec\n", "true nor false; the units are us, ms, s, min and h"},
      {"x = \"abc\ny = 1\n", "f.conf:1: the text of 'x' has no closing \""},
      {"x = \"a\\qb\"\n", "f.conf:1: the text of 'x' has the escape"},
      {"x =\n", "f.conf:1: 'x' has no value"},
      {"x = 1 y = 2\n", "f.conf:1: after the value stands 'y'"},
      {"x = \"1\" é\n", "f.conf:1: after the value stands 'é';"},
      {"x = \"1\" \x1b[2J\n", "f.conf:1: after the value stands the byte 0x1b;"},
      {"[a\nx = 1\n",
       "f.conf:1: section 'a' should end with ']', but there is the end of the line"},
      {"\n\nx = [1, 2\n", "f.conf:3: the list of 'x' that begins here has no closing ']'"},
      {"x = [1 2]\n", "f.conf:1: in the list of 'x' that begins in line 1 stands '2'"},
      {"a {\nx = 1\n", "f.conf:1: the block of 'a' that begins here has no closing '}'"},
      {"[a]\nx = 1\n\nx = 2\n", "f.conf:4: the key 'a.x' was given in line 2 already"},
      {"a = 1\n[a]\nx = 2\n", "f.conf:2: the key 'a' was given in line 1 already"},
      {"x = 99999999999999999999h\n", "f.conf:1: the value of 'x'"},
      {"= 3\n", "f.conf:1: here should stand a key, but there is '='"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK_MESSAGE(Parsed(row.text).errors().find(row.error) != std::string::npos,
                  Parsed(row.text).errors());
  }
}

TEST_CASE("config file: all mistakes of a file are told, in order of line") {
  Parsed p("x 1\ny = \"\n[s]\nworker = [\"a\",\n[t]\nz = 5\nz = 6\n");
  CHECK(p.problems.size() == 4);
  CHECK(str_split(p.errors(), '\n').size() == 4);
  CHECK(p.errors().starts_with("f.conf:1:"));
  CHECK(p.at("t.z").integer == 5); // the list that never ends does not swallow the section after it
}

TEST_CASE("config file: hostile input is refused") {
  CHECK(Parsed(std::string("x = 1\n\0", 7)).errors() ==
        "f.conf:2: there is a zero byte here; a config file is plain text");
  CHECK(Parsed("x = " + std::string(100000, '[')).errors().find("nested more than 16 deep") !=
        std::string::npos);
  std::string braces = "x = ";
  for (int i = 0; i < 1000; ++i)
    braces += "{a=";
  CHECK(Parsed(braces).errors().find("nested more than 16 deep") != std::string::npos);
  std::string dots = "a";
  for (int i = 0; i < 1000; ++i)
    dots += ".a";
  CHECK(Parsed(dots + " = 1").errors().find("more than 16 parts") != std::string::npos);
  CHECK(Parsed(std::string(max_config_bytes + 1, ' ')).errors().find("is it the right file?") !=
        std::string::npos);
  CHECK(load_config_text("/no/such/file").status().message() ==
        "/no/such/file: cannot be opened: No such file or directory");
  CHECK(load_config_text("/").status().message().find("name a plain file") != std::string::npos);
  CHECK(load_config_text("/dev/zero").status().code() == Code::resource_exhausted);
}

TEST_CASE("config file: any prefix of a good file is read without harm") {
  std::string text = "[a]\nlist = [\"x\", 'y', {k = 1.5s}]\nb { c = true\n d = \"\\n\" }\n";
  for (std::size_t n = 0; n <= text.size(); ++n) {
    Parsed p(text.substr(0, n));
    CHECK(p.root.map.size() <= 2);
  }
}

} // namespace
} // namespace troupe
