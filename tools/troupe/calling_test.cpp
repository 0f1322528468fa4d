#include "tools/troupe/calling.hpp"

#include <doctest/doctest.h>

namespace troupe {
namespace {

class Pretend final : public Command {
public:
  std::string summary() const override { return "Pretends"; }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe pretend a", "does nothing with a"}};
  }
  void declare(Options& options) override {
    options.text("TARGET", target_, "whom", true);
    options.text("--config-file,--config", file_, "a file");
    options.texts("-c,--commands", list_, "words");
    options.flag("--json", json_, "print JSON");
  }
  int run() override { return exit_ok; }

private:
  std::string target_, file_;
  std::vector<std::string> list_;
  bool json_ = false;
};

std::string wrong(const std::vector<std::string>& words) {
  Pretend command;
  return find_wrong_word(describe_command("pretend", command), words);
}

TEST_CASE("calling: what a command declares is known as data") {
  Pretend command;
  CommandInfo info = describe_command("pretend", command);
  REQUIRE(info.options.size() == 4);
  CHECK(info.options[0].is_position());
  CHECK(info.options[0].required);
  CHECK(info.options[1].names == std::vector<std::string>{"--config-file", "--config"});
  CHECK(info.options[2].repeats);
  CHECK_FALSE(info.options[3].takes_value);
  CHECK(usage_of(info) == "troupe pretend TARGET [OPTIONS]");
}

TEST_CASE("calling: a good line has no wrong word") {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"a"},
                                             {"--config", "-x", "a"},
                                             {"--config=b", "a", "--json"},
                                             {"-c", "q", "-cq", "a"},
                                             {"--", "--json"},
                                             {"a", "--help"},
                                             {"-1"}})
    CHECK_MESSAGE(wrong(words).empty(), wrong(words));
}

TEST_CASE("calling: an unknown option is told with the nearest") {
  CHECK(wrong({"a", "--jsn"}) == "`troupe pretend` has no option '--jsn'; did you mean '--json'?");
  CHECK(wrong({"a", "--elephants"}) == "`troupe pretend` has no option '--elephants'; its options "
                                       "are --config-file, --config, -c, --commands, --json");
}

TEST_CASE("calling: words too many, values and positions that are missing") {
  CHECK(wrong({"a", "b"}) ==
        "'b' is a word too many; call it as `troupe pretend TARGET [OPTIONS]`");
  CHECK(wrong({"a", "--config"}) ==
        "after --config stands no value; write one, or leave the option out");
  CHECK(wrong({"--json"}) == "`troupe pretend` wants TARGET, whom; for example `troupe pretend a`");
}

} // namespace
} // namespace troupe
