// troupe serve: a node for TensorFlow's clients, in the foreground.
#include <unistd.h>

#include "actors/node/node.hpp"
#include "api/grpc/gateway.hpp"
#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "devices/memory/machine_memory.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/end_watchdog.hpp"
#include "tools/troupe/stop_signals.hpp"

namespace troupe {
namespace {

constexpr std::chrono::seconds grace{5}; // for running steps, at the end

class ServeCommand final : public Command {
public:
  std::string summary() const override {
    return "Runs a node that TensorFlow's clients speak to, in the foreground";
  }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {{"troupe serve",
             "one node at grpc://127.0.0.1:2222: tf.compat.v1.Session(\"grpc://127.0.0.1:2222\")"},
            {"troupe serve --grpc=0.0.0.0:2222",
             "for clients on other machines, all of whom it obeys"}};
  }
  void declare(Options& options) override {
    options.text("--grpc", grpc_, "HOST:PORT for TensorFlow's clients; 127.0.0.1:2222 without it");
  }

  int run() override {
    auto address = Address::parse(grpc_);
    if (!address)
      return called_wrongly(address.status().message());
    set_log_name("serve");
    StopSignals signals;
    if (!address->is_loopback())
      log_warning("whoever reaches ", *address, " may use this node");
    NodeOptions options;
    options.memory_limit = default_memory_limit(machine_memory());
    auto node = ClusterNode::start(options);
    if (!node)
      return failed(node.status());
    GatewayOptions gateway_options;
    gateway_options.address = *address;
    auto gateway = Gateway::start(**node, gateway_options);
    if (!gateway)
      return failed(gateway.status());
    EndWatchdog watchdog;
    signals.on_stop([&](const std::string& signal) {
      watchdog.start(grace + EndWatchdog::leaving, exit_failed);
      log_info(signal, ": running steps have ", grace.count(), " s to finish");
      (*node)->shut_down(signal, grace);
    });
    announce(STDOUT_FILENO, str_cat("ready at grpc://", *address, "\n"));
    std::string why = (*node)->wait();
    log_info("ends: ", why);
    signals.forget();
    int exit_code = (*node)->ended_in_order() ? exit_ok : exit_failed;
    watchdog.start(EndWatchdog::stopped, exit_code);
    gateway->reset();
    node->reset();
    return exit_code;
  }

private:
  std::string grpc_ = "127.0.0.1:2222";
};

} // namespace

std::unique_ptr<Command> make_command_serve() {
  return std::make_unique<ServeCommand>();
}

} // namespace troupe
