// troupe node: one task of a cluster, in the foreground.
#include <unistd.h>

#include "api/grpc/gateway.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "kernels/arith/types.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/end_watchdog.hpp"
#include "tools/troupe/node_options.hpp"
#include "tools/troupe/stop_signals.hpp"

namespace troupe {
namespace {

class NodeCommand final : public Command {
public:
  std::string summary() const override { return "Runs one task of a cluster in the foreground"; }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe node --config-file=cluster.conf --job=worker --task=0",
             "prints \"ready at HOST:PORT\" once it listens; SIGTERM or Ctrl-C ends it in order, a "
             "second one at once"},
            {"troupe node --config-file=cluster.conf --job=ps 2>ps.log",
             "task 0 of a job; logs go to standard error"}};
  }
  void declare(Options& options) override {
    options.text("--config-file,--config", file_, "the cluster's config file", true);
    options.text("--job", job_, "the task's job", true);
    options.number("--task", task_, "the task's number within the job; 0 without it");
  }

  int run() override {
    auto cluster = read_cluster_config(file_);
    if (!cluster)
      return failed_in_file(cluster.status());
    auto config = cluster->task(job_, task_);
    if (!config)
      return called_wrongly(config.status().message());
    set_log_level(config->settings.log_level);
    set_log_name(config->name());
    StopSignals signals;
    if (cluster->insecure)
      log_warning("insecure = true: whoever reaches ", config->listen, " may use this node");
    if (!config->settings.winograd)
      arith::use_winograd(false);
    auto node = ClusterNode::start(to_node_options(*config));
    if (!node)
      return failed(node.status());
    std::unique_ptr<Gateway> gateway;
    if (config->gateway.address) {
      auto opened = Gateway::start(**node, to_gateway_options(config->gateway));
      if (!opened)
        return failed(opened.status());
      gateway = *std::move(opened);
    }
    auto grace = config->timeouts.shutdown_grace;
    EndWatchdog watchdog;
    signals.on_stop([&, grace](const std::string& signal) {
      watchdog.start(grace + EndWatchdog::leaving, exit_failed);
      log_info(signal, ": running steps have ", grace.count(), " ms to finish");
      if (gateway)
        gateway->shut_down(signal, grace);
      (*node)->shut_down(signal, grace);
    });
    announce(STDOUT_FILENO, str_cat("ready at ", config->address, "\n"));
    if (gateway)
      announce(STDOUT_FILENO,
               str_cat("TensorFlow's clients reach it at grpc://", *config->gateway.address, "\n"));
    log_info("ready at ", config->address,
             config->listen == config->address ? "" : str_cat(", listening at ", config->listen));
    std::string why = (*node)->wait();
    log_info("ends: ", why);
    signals.forget();
    int exit_code = (*node)->ended_in_order() ? exit_ok : exit_failed;
    watchdog.start(EndWatchdog::stopped, exit_code);
    gateway.reset();
    node->reset();
    return exit_code;
  }

private:
  std::string file_, job_;
  int task_ = 0;
};

} // namespace

std::unique_ptr<Command> make_command_node() {
  return std::make_unique<NodeCommand>();
}

} // namespace troupe
