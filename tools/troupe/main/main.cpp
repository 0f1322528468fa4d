// The executable `troupe`: finds the subcommand, reads its command line, runs it.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <limits>
#include <map>
#include <system_error>

#include <CLI/CLI.hpp>

#include "core/base/line_writer.hpp"
#include "core/base/nearest.hpp"
#include "core/base/no_thread.hpp"
#include "core/base/strings.hpp"
#include "core/base/version.hpp"
#include "tools/troupe/calling.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/main/commands.hpp"

namespace troupe {

std::vector<CommandInfo> describe_all_commands() {
  std::vector<CommandInfo> out;
  for (const auto& [name, make] : all_commands)
    out.push_back(describe_command(name, *make()));
  return out;
}

namespace {

class CliOptions final : public Options {
public:
  explicit CliOptions(CLI::App& app) : app_(app) {}
  void text(const std::string& name, std::string& to, const std::string& help,
            bool required) override {
    finish(app_.add_option(name, to, help), name, required);
  }
  void number(const std::string& name, int& to, const std::string& help, bool required) override {
    finish(app_.add_option(name, to, help), name, required);
  }
  void texts(const std::string& name, std::vector<std::string>& to,
             const std::string& help) override {
    CLI::Option* option = app_.add_option(name, to, help);
    if (name[0] == '-') // one value each; a position takes all words that follow
      option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    finish(option, name, false);
  }
  void flag(const std::string& name, bool& to, const std::string& help) override {
    app_.add_flag(name, to, help);
  }

private:
  static void finish(CLI::Option* option, const std::string& name, bool required) {
    option->required(required);
    if (name[0] != '-')
      option->option_text(required ? "" : "(optional)");
  }
  CLI::App& app_;
};

std::string footer(const Command& command) {
  std::string out = "Examples:";
  for (const auto& [line, what] : command.examples())
    str_append(out, "\n  ", line, "\n      ", what);
  return out;
}

// A first word that is no command, told with those that there are.
std::string unknown_command(std::string_view word) {
  std::vector<std::string> names;
  for (const auto& [name, make] : all_commands)
    names.emplace_back(name);
  std::string hint = did_you_mean(word, names);
  return str_cat("there is no command '", word, "'",
                 hint.empty() ? str_cat("; the commands are ", str_join(names, ", "),
                                        ", and `troupe --help` tells what they do")
                              : hint);
}

bool is_command(std::string_view word) {
  for (const auto& [name, make] : all_commands)
    if (word == name)
      return true;
  return false;
}

// An option before the command is one of ours, or one of a command's.
std::string unknown_option(std::string_view word) {
  std::string_view name = word.substr(0, word.find('='));
  std::vector<std::string> owners;
  for (const CommandInfo& command : describe_all_commands())
    for (const OptionInfo& option : command.options)
      if (std::find(option.names.begin(), option.names.end(), name) != option.names.end())
        owners.push_back(str_cat("`troupe ", command.name, "`"));
  if (!owners.empty())
    return str_cat(name, " belongs to ", str_join(owners, ", "), "; write it after the command");
  return str_cat("`troupe` has no option '", name, "'",
                 did_you_mean(name, {"--help", "--version", "-h", "-V"}),
                 "; `troupe --help` lists the commands");
}

// `troupe help COMMAND` is `troupe COMMAND --help`.
void take_help(std::vector<std::string>& words) {
  if (words.empty() || words[0] != "help" || (words.size() > 1 && words[1].starts_with('-')))
    return;
  words.erase(words.begin());
  words.emplace_back("--help");
}

// "--out=", as a script with an empty variable writes it; the next word is not meant to follow.
bool lacks_value(std::string_view word) {
  return word.starts_with("--") && word.find('=') == word.size() - 1;
}

// What our own sentences say of a line that CLI11 refused; nothing leaves it to CLI11's.
std::string find_wrong(const std::vector<std::string>& words) {
  if (words[0].starts_with('-'))
    return unknown_option(words[0]);
  for (const CommandInfo& command : describe_all_commands())
    if (words[0] == command.name)
      return find_wrong_word(command, std::span(words).subspan(1));
  return {};
}

int main_of(int argc, char** argv) {
  CLI::App app("troupe: TensorFlow graphs on actors.", "troupe");
  app.set_version_flag("-V,--version", str_cat("troupe ", version));
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 failed, 2 called wrongly, 130 interrupted. `troupe help "
             "COMMAND` shows examples.");
  std::map<CLI::App*, std::unique_ptr<Command>> commands;
  for (const auto& [name, make] : all_commands) {
    auto command = make();
    CLI::App* sub = app.add_subcommand(name, command->summary());
    CliOptions options(*sub);
    command->declare(options);
    sub->footer(footer(*command));
    commands[sub] = std::move(command);
  }
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  take_help(words);
  if (words.empty())
    return called_wrongly("name a command; `troupe --help` lists them");
  if (words[0][0] != '-' && !is_command(words[0]))
    return called_wrongly(unknown_command(words[0]));
  for (const std::string& word : words)
    if (lacks_value(word))
      return called_wrongly(
          str_cat("after ", word, " stands no value; write one, or leave the option out"));
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend())); // as CLI11 wants them
  } catch (const CLI::ConversionError& error) {
    std::string_view what = error.what(); // "Could not convert: --task = two"
    return called_wrongly(str_cat(what.substr(std::min(what.find("--"), what.size())),
                                  " is no number that can be; write a whole number up to ",
                                  std::numeric_limits<int>::max()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0)
      if (std::string wrong = find_wrong(words); !wrong.empty())
        return called_wrongly(wrong);
    return app.exit(error) == 0 ? exit_ok : exit_called_wrongly;
  }
  return commands[app.get_subcommands().front()]->run();
}

// Whoever starts us without one of the three standard streams must not get a socket or a pipe of
// ours in its place. What is put there fails as a closed one does.
void hold_standard_streams() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0)
      (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

// Results that were not written are no success.
int flush_results(int exit_code) {
  bool failed_before = std::ferror(stdout) != 0; // then errno speaks of something else by now
  if (std::fflush(stdout) == 0 && !failed_before)
    return exit_code;
  std::fprintf(stderr, "troupe: standard output cannot be written%s%s\n", failed_before ? "" : ": ",
               failed_before ? "" : std::strerror(errno));
  return exit_code == exit_ok ? exit_failed : exit_code;
}

// What was announced is worth a second to whoever reads slowly, and no more to a pipe that is never
// read.
int flush_announcements(int exit_code) {
  constexpr auto budget = std::chrono::milliseconds(500);
  standard_output().flush(budget);
  standard_error().flush(budget);
  return exit_code;
}

// Also a process that nobody has reaped yet has ended; the state stands behind the name, which is
// in parentheses.
bool has_ended(pid_t process) {
  if (kill(process, 0) != 0)
    return errno == ESRCH;
  std::ifstream file(str_cat("/proc/", process, "/stat"));
  std::string stat;
  if (!std::getline(file, stat))
    return false; // no /proc, or it may not be read
  const std::size_t name = stat.rfind(')');
  return name != std::string::npos && name + 2 < stat.size() &&
         (stat[name + 2] == 'Z' || stat[name + 2] == 'X');
}

// A program that starts us as its child names itself in TROUPE_PARENT. It cannot ask for this
// signal between fork and exec: in a process with threads no code is safe there.
void end_with_parent() {
  const char* parent = std::getenv("TROUPE_PARENT");
  if (!parent)
    return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (auto id = parse_int(parent); id && *id > 1 && has_ended(static_cast<pid_t>(*id)))
    std::raise(SIGTERM);
  unsetenv("TROUPE_PARENT"); // what we start has us as its parent
}

// A thread that nobody could do without. Whatever else is thrown and not caught is a mistake of
// ours.
std::terminate_handler usual_end = nullptr;

[[noreturn]] void end_with_reason() {
  try {
    if (auto thrown = std::current_exception())
      std::rethrow_exception(thrown);
  } catch (const std::system_error& refused) {
    if (refused.code() == std::errc::resource_unavailable_try_again) {
      std::fputs(str_cat("troupe: ", no_thread(refused, "that the process needs"), "\n").c_str(),
                 stderr);
      std::_Exit(exit_failed);
    }
  } catch (...) {
  }
  usual_end(); // tells what was thrown
  std::abort();
}

} // namespace
} // namespace troupe

int main(int argc, char** argv) {
  prctl(PR_SET_NAME, "troupe"); // `up` starts us as /proc/self/exe, and ps would show "exe"
  troupe::usual_end = std::set_terminate(troupe::end_with_reason);
  troupe::end_with_parent();
  troupe::hold_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN); // a file above `ulimit -f` is an error of its write, not the end
  return troupe::flush_announcements(troupe::flush_results(troupe::main_of(argc, argv)));
}
