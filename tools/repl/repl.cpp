#include "tools/repl/repl.hpp"

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include <unistd.h>

#include "core/base/strings.hpp"
#include "tools/repl/commands.hpp"
#include "tools/repl/completion.hpp"
#include "tools/repl/line_input.hpp"
#include "tools/troupe/command.hpp"

namespace troupe {
namespace {

// The flag that the signal handler sets: of the one prompt that runs.
std::atomic<bool>* interrupt_flag = nullptr;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler writes it");

/// While it lives, Ctrl-C sets the workspace's flag instead of ending the process. `restarts`:
/// reading goes on afterwards.
class InterruptGuard {
public:
  explicit InterruptGuard(Workspace& workspace, bool restarts = true) : workspace_(workspace) {
    workspace.set_interruptible(true);
    interrupt_flag = &workspace.interrupted();
    struct sigaction ours {};
    ours.sa_handler = [](int) { *interrupt_flag = true; };
    ours.sa_flags = restarts ? SA_RESTART : 0;
    sigaction(SIGINT, &ours, &before_);
  }
  ~InterruptGuard() {
    sigaction(SIGINT, &before_, nullptr);
    workspace_.set_interruptible(false);
  }
  InterruptGuard(const InterruptGuard&) = delete;

private:
  Workspace& workspace_;
  struct sigaction before_ {};
};

int exit_code_of(const Outcome& outcome) {
  return outcome.status.ok() ? exit_ok : outcome.called_wrongly ? exit_called_wrongly : exit_failed;
}

// A wrong call needs no code before its sentence.
std::string sentence_of(const Outcome& outcome) {
  return outcome.called_wrongly ? outcome.status.message() : outcome.status.to_string();
}

class Prompt {
public:
  Prompt(Workspace& workspace, Printer& printer, const ReplOptions& options)
      : workspace_(workspace), printer_(printer), sources_(sources_of(workspace)),
        input_(make_line_input({options.history_file, [this](std::string_view text) {
                                  return complete(text, sources_);
                                }})) {}

  void run() {
    printer_.print(str_cat(printer_.styled(Style::faint,
                                           "Type `help` for the commands, Tab to complete, Ctrl-D "
                                           "to leave."),
                           "\n"));
    InterruptGuard guard(workspace_);
    std::string typed; // the lines of a statement that goes on
    for (;;) {
      workspace_.interrupted() = false;
      if (typed.empty())
        report_background_steps(workspace_, printer_);
      auto line = input_->read(prompt(!typed.empty()), typed);
      if (!line) {
        printer_.print("\n");
        return;
      }
      if (line->interrupted) {
        typed.clear();
        continue;
      }
      str_append(typed, typed.empty() ? "" : "\n", line->text);
      if (wants_another_line(typed))
        continue;
      input_->remember(as_one_line(typed));
      std::string text = std::move(typed);
      typed.clear();
      if (!run_text(text))
        return;
    }
  }

private:
  // False after quit.
  bool run_text(const std::string& text) {
    auto statements = parse_statements(text);
    if (!statements) {
      printer_.error(statements.status().message());
      return true;
    }
    for (const Statement& statement : *statements) {
      Outcome outcome = run_statement(statement, workspace_, printer_);
      workspace_.interrupted() = false;
      if (outcome.quit)
        return false;
      if (!outcome.status.ok()) {
        printer_.error(sentence_of(outcome));
        return true;
      }
    }
    return true;
  }

  std::string prompt(bool goes_on) const {
    if (goes_on)
      return printer_.styled(Style::faint, "  ... ");
    return str_cat(printer_.styled(Style::good, workspace_.is_connected() ? workspace_.target()
                                                                          : "not connected"),
                   "> ");
  }

  // So that an arrow key brings back the whole statement.
  static std::string as_one_line(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\n')
        continue;
      out.push_back(text[i] == '\n' ? ' ' : text[i]);
    }
    return std::string(str_trim(out));
  }

  Workspace& workspace_;
  Printer& printer_;
  CompletionSources sources_;
  std::unique_ptr<LineInput> input_;
};

} // namespace

std::string default_history_file() {
  const char* home = std::getenv("HOME");
  return home && *home ? str_cat(home, "/.troupe_history") : "";
}

int run_script(const std::function<bool(std::string&)>& next_line, std::string_view name,
               Workspace& workspace, Printer& printer) {
  StatementReader reader;
  auto was_interrupted = [&] { return workspace.ends_on_interrupt() && workspace.interrupted(); };
  std::size_t line_number = 0, first_line = 1;
  auto fail = [&](std::string_view sentence, int code) {
    printer.error(name.empty() ? std::string(sentence)
                               : str_cat(name, ":", first_line, ": ", sentence));
    return code;
  };
  std::string line;
  while (!was_interrupted() && next_line(line)) {
    ++line_number;
    if (reader.is_empty())
      first_line = line_number;
    auto statements = reader.add_line(line);
    if (!statements)
      continue;
    if (!*statements)
      return fail(statements->status().message(), exit_called_wrongly);
    for (const Statement& statement : **statements) {
      Outcome outcome = run_statement(statement, workspace, printer);
      if (was_interrupted()) {
        printer.error("interrupted");
        return exit_interrupted;
      }
      if (outcome.quit)
        return exit_ok;
      if (!outcome.status.ok())
        return fail(sentence_of(outcome), exit_code_of(outcome));
    }
  }
  if (was_interrupted()) {
    printer.error("interrupted");
    return exit_interrupted;
  }
  Status end = reader.finish();
  return end.ok() ? exit_ok : fail(end.message(), exit_called_wrongly);
}

int run_repl(const ReplOptions& options) {
  Printer printer = Printer::standard();
  Workspace workspace;
  Status connected = workspace.connect(options.target);
  if (connected.code() == Code::invalid_argument) {
    printer.error(connected.message());
    return exit_called_wrongly;
  }
  if (!connected.ok()) {
    printer.error(connected.to_string());
    return exit_failed;
  }
  bool is_script = options.commands || !isatty(STDIN_FILENO);
  std::optional<InterruptGuard> guard;
  if (is_script) {
    workspace.set_ends_on_interrupt(true);
    guard.emplace(workspace, false);
    workspace.set_interruptible(false); // nobody reads "still runs"
  }
  if (options.commands) {
    std::istringstream text(*options.commands);
    return run_script([&](std::string& line) { return !!std::getline(text, line); }, "", workspace,
                      printer);
  }
  if (is_script)
    return run_script([](std::string& line) { return !!std::getline(std::cin, line); },
                      "standard input", workspace, printer);
  Prompt(workspace, printer, options).run();
  return exit_ok;
}

} // namespace troupe
