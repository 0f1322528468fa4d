// Command: one subcommand of `troupe`. A file command_NAME.cpp in any folder below tools/ defines
// make_command_NAME(); the build finds it and lists it, so adding a subcommand is adding that file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

/// Where a command says what may stand on its command line. The variables live in the command; they
/// hold the defaults before the line is read.
class Options {
public:
  virtual ~Options() = default;
  /// Names without dashes are positions: "TARGET". Others are given in full, "--job", perhaps with
  /// a short form: "-c,--commands".
  virtual void text(const std::string& name, std::string& to, const std::string& help,
                    bool required = false) = 0;
  virtual void number(const std::string& name, int& to, const std::string& help,
                      bool required = false) = 0;
  /// May be given several times, one value each.
  virtual void texts(const std::string& name, std::vector<std::string>& to,
                     const std::string& help) = 0;
  virtual void flag(const std::string& name, bool& to, const std::string& help) = 0;
};

/// Exit codes.
inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_called_wrongly = 2;
inline constexpr int exit_interrupted = 130; ///< by a second signal

class Command {
public:
  virtual ~Command() = default;
  /// One line.
  virtual std::string summary() const = 0;
  /// Complete command lines, each with what it does; shown by --help.
  virtual std::vector<std::pair<std::string, std::string>> examples() const = 0;
  virtual void declare(Options& options) = 0;
  /// On the main thread; returns the exit code.
  virtual int run() = 0;
};

/// Prints results to standard output; the program fails at its end if they could not be written.
void print(std::string_view text);
/// Writes lines to standard output or standard error at once, and never waits: what is announced is
/// no result, and nobody need read it. The program flushes at its end, for a second at most.
void announce(int fd, std::string_view text);

/// Print the sentence to standard error and give the exit code.
int failed(const Status& status);
int called_wrongly(std::string_view sentence);
/// The same as `failed` for the mistakes in a config file: each line begins with the file's name
/// and the mistake's line, and stands alone, so that editors find the place.
int failed_in_file(const Status& status);

} // namespace troupe
