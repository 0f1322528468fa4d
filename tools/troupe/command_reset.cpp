// troupe reset TARGET [CONTAINER…]: ends a master's sessions and drops variables on all tasks.
#include "core/base/strings.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/duration.hpp"
#include "tools/troupe/node_watch.hpp"
#include "tools/troupe/target.hpp"

namespace troupe {
namespace {

class ResetCommand final : public Command {
public:
  std::string summary() const override {
    return "Ends the sessions of a master and drops variables on all tasks";
  }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe reset caf://127.0.0.1:7271",
             "the sessions whose master listens there end ABORTED; every task of the cluster drops "
             "what is in its default container, which has the name of the task's job"},
            {"troupe reset caf://127.0.0.1:7271 experiment7", "the same for another container"}};
  }
  void declare(Options& options) override {
    options.text("TARGET", target_, node_target_help, true);
    options.texts("CONTAINER", containers_,
                  "containers to empty; without it each task's default one, named after its job");
    options.text("--timeout", timeout_, "the longest that it may take; 7s without it");
  }

  int run() override {
    auto address = parse_node_target(target_);
    if (!address)
      return called_wrongly(address.status().message());
    const bool is_timed = !timeout_.empty();
    auto budget = is_timed ? read_duration("--timeout", timeout_)
                           : Result<std::chrono::milliseconds>(NodeWatch::patience);
    if (!budget)
      return called_wrongly(budget.status().message());
    auto watch = NodeWatch::dial(*address, *budget);
    if (!watch)
      return failed(watch.status());
    if (Status done = watch->reset(containers_, is_timed); !done.ok())
      return failed(done);
    print(str_cat("the sessions of ", watch->welcome().task, " have ended, and ",
                  containers_.empty() ? "the default container is"
                  : containers_.size() == 1
                      ? str_cat("container '", containers_[0], "' is")
                      : str_cat("containers '", str_join(containers_, "', '"), "' are"),
                  " empty on every task\n"));
    return exit_ok;
  }

private:
  std::string target_, timeout_;
  std::vector<std::string> containers_;
};

} // namespace

std::unique_ptr<Command> make_command_reset() {
  return std::make_unique<ResetCommand>();
}

} // namespace troupe
