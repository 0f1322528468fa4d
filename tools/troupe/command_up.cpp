// troupe up: every task of a config file that belongs to this host.
#include "core/base/strings.hpp"
#include "net/cluster/node_config.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/local_address.hpp"
#include "tools/troupe/supervisor.hpp"

namespace troupe {
namespace {

class UpCommand final : public Command {
public:
  std::string summary() const override {
    return "Runs every task of a config file that is on this host";
  }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe up --config-file=cluster.conf",
             "prints \"up: N tasks ready\"; Ctrl-C ends all in order, a second one at once"},
            {"troupe up --config-file=cluster.conf --job=worker", "only the tasks of one job"}};
  }
  void declare(Options& options) override {
    options.text("--config-file,--config", file_, "the cluster's config file", true);
    options.text("--job", job_, "only tasks of this job");
  }

  int run() override {
    auto config = read_cluster_config(file_);
    if (!config)
      return failed_in_file(config.status());
    std::vector<NodeConfig> tasks;
    bool has_job = false;
    for (const NodeConfig& task : config->tasks) {
      bool wanted = job_.empty() || task.job == job_;
      has_job |= wanted;
      if (wanted && is_on_this_host(task.address))
        tasks.push_back(task);
    }
    if (!has_job)
      return called_wrongly(config->task(job_, 0).status().message());
    if (tasks.empty())
      return failed(failed_precondition(
          str_cat("no task of ", file_,
                  " has an address of this host; run `troupe up` on the hosts that it names")));
    return Supervisor(*config, std::move(tasks)).run();
  }

private:
  std::string file_, job_;
};

} // namespace

std::unique_ptr<Command> make_command_up() {
  return std::make_unique<UpCommand>();
}

} // namespace troupe
