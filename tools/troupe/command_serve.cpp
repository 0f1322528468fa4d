// troupe serve: a node for TensorFlow's clients, in the foreground.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>

#include "actors/node/node.hpp"
#include "api/grpc/foreign_task.hpp"
#include "api/grpc/gateway.hpp"
#include "api/grpc/node_address.hpp"
#include "core/base/device_name.hpp"
#include "core/base/line_writer.hpp"
#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "core/base/prints.hpp"
#include "core/base/strings.hpp"
#include "graph/convert/options.hpp"
#include "net/cluster/cluster_spec.hpp"
#include "net/cluster/config_file.hpp"
#include "tools/troupe/command.hpp"
#include "tools/troupe/duration.hpp"
#include "tools/troupe/end_watchdog.hpp"
#include "tools/troupe/local_address.hpp"
#include "tools/troupe/node_options.hpp"
#include "tools/troupe/stop_signals.hpp"

namespace troupe {
namespace {

constexpr std::chrono::seconds grace{5}; // for running steps, at the end
constexpr int most_cpu_devices = 64;
constexpr const char* every_interface = "0.0.0.0";

/// What the command line and TF_CONFIG say together.
struct Serving {
  std::string listed_host; ///< in the cluster, where that is not listened at; else empty
  ClusterSpec spec;        ///< without tasks: one node of its own
  Address address;         ///< for clients
  GatewaySettings gateway;
  std::string session_config; ///< bytes of a ConfigProto
};

/// A mistake, with where it stands.
template <class T>
Result<T> told_of(std::string_view where, Result<T> read) {
  if (read.ok())
    return read;
  return Status(read.status().code(), str_cat(where, ": ", read.status().message()));
}

Result<ClusterSpec> read_cluster(const std::string& given) {
  if (given.starts_with('@')) {
    TROUPE_ASSIGN(const std::string text, load_config_text(given.substr(1)));
    TROUPE_ASSIGN(Cluster cluster, told_of(given.substr(1), parse_cluster_spec(text)));
    return ClusterSpec{std::move(cluster), "", -1};
  }
  if (!given.empty()) {
    TROUPE_ASSIGN(Cluster cluster, told_of("--cluster", parse_cluster_spec(given)));
    return ClusterSpec{std::move(cluster), "", -1};
  }
  const char* environment = std::getenv("TF_CONFIG");
  if (!environment || !*environment)
    return ClusterSpec{};
  return told_of("the environment's TF_CONFIG", parse_tf_config(environment));
}

// The tasks of a host share its memory.
std::int64_t share_of_memory(const Cluster& cluster, const std::string& own_host) {
  std::int64_t tasks = 0;
  for (const std::string& task : cluster.tasks())
    tasks += cluster.address_of(task)->host == own_host;
  return default_memory_limit(machine_memory()) / std::max<std::int64_t>(tasks, 1);
}

NodeOptions node_options(const Serving& serving, const std::shared_ptr<ForeignTasks>& foreign) {
  NodeOptions options;
  const ClusterSpec& spec = serving.spec;
  if (spec.cluster.size() == 0) {
    options.memory_limit = default_memory_limit(machine_memory());
    return options;
  }
  const Address listed = *spec.cluster.address_of(task_name(spec.job, spec.task));
  options.cluster = spec.cluster;
  options.job = spec.job;
  options.task = spec.task;
  options.listen = Address{serving.address.host, 0};
  options.find_address = ask_node_address;
  options.dial_foreign = [foreign](caf::actor_system& system, const Address& address,
                                   std::chrono::milliseconds budget) {
    return foreign->dial(system, address, budget);
  };
  options.memory_limit = share_of_memory(spec.cluster, listed.host);
  return options;
}

class ServeCommand final : public Command {
public:
  std::string summary() const override {
    return "Runs a node that TensorFlow's clients speak to, in the foreground";
  }
  std::vector<std::pair<std::string, std::string>> examples() const override {
    return {
        {"troupe serve",
         "one node at grpc://127.0.0.1:2222: tf.compat.v1.Session(\"grpc://127.0.0.1:2222\")"},
        {"troupe serve --grpc=0.0.0.0:2222", "for clients on other machines, all of whom it obeys"},
        {"troupe serve --cluster='{\"ps\": [\"a:2222\"], \"worker\": [\"b:2222\", \"c:2222\"]}' "
         "--job=worker --task=1",
         "one task of a cluster, in place of tf.distribute.Server; without --cluster the "
         "environment's TF_CONFIG says all three"},
        {"troupe serve --files=/data/models --files=/tmp",
         "graphs save and read below these two folders"}};
  }
  void declare(Options& options) override {
    options.text(
        "--grpc", grpc_,
        "HOST:PORT for TensorFlow's clients; port 0 is any free one; 127.0.0.1:2222 without it, "
        "or the task's address in the cluster");
    options.text("--cluster", cluster_,
                 "JSON of jobs and the gRPC addresses of their tasks, or @FILE with it; without it "
                 "that of TF_CONFIG");
    options.text("--job", job_, "the task's job");
    options.number("--task", task_, "the task's number within the job; 0 without it");
    options.number("--ready-fd", ready_fd_,
                   "an open descriptor for the line 'ready at ...', which then does not go to "
                   "standard output");
    options.number("--cpu-devices", cpu_devices_, "CPU devices of the task; 1 without it");
    options.texts("--files", files_,
                  "a folder whose files graphs may read and write; the working folder without it");
    options.text("--session-config", session_config_,
                 "text of a ConfigProto, such as 'operation_timeout_in_ms: 10000': what sessions "
                 "get where their clients' own config says nothing");
    options.text("--message-limit", message_limit_,
                 "the largest request that is taken, such as '512 MiB'; 2 GiB without it");
    options.text("--calls", calls_, "calls that wait at once; 100000 without it, 0: any number");
    options.text("--call-bytes", call_bytes_,
                 "bytes of all requests that wait at once, such as '4 GiB'; any number without it");
    options.text("--sessions", sessions_, "sessions open at once; 10000 without it, 0: any number");
    options.text("--idle-session", idle_session_,
                 "a session without a call for so long is closed; 24h without it");
  }

  int run() override {
    auto serving = read();
    if (!serving)
      return called_wrongly(serving.status().message());
    if (cpu_devices_ < 1 || cpu_devices_ > most_cpu_devices)
      return called_wrongly(str_cat("--cpu-devices wants a number from 1 to ", most_cpu_devices,
                                    ", not ", cpu_devices_));
    std::optional<LineWriter> ready;
    if (ready_fd_ >= 0) {
      if (::fcntl(ready_fd_, F_GETFD) < 0)
        return called_wrongly(str_cat("--ready-fd=", ready_fd_, " names no open descriptor"));
      ready.emplace(ready_fd_);
      ::close(ready_fd_); // what reads it sees the end when the lines are written
    }
    set_log_name("serve");
    print_to_streams();
    StopSignals signals;
    if (!serving->listed_host.empty())
      log_warning("other machines cannot reach this one by an address of its own that '",
                  serving->listed_host, "' stands for: listening at every address, ",
                  serving->address,
                  ", where whoever reaches it may use this node; --grpc names another");
    else if (!serving->address.is_loopback())
      log_warning("whoever reaches ", serving->address, " may use this node");
    auto foreign = std::make_shared<ForeignTasks>();
    NodeOptions of_node = node_options(*serving, foreign);
    of_node.device_count["CPU"] = cpu_devices_;
    if (!files_.empty())
      of_node.files = files_;
    auto node = ClusterNode::start(of_node);
    if (!node)
      return failed(node.status());
    foreign->attach((*node)->shared_services());
    GatewayOptions of_gateway = to_gateway_options(serving->gateway);
    of_gateway.cluster = serving->spec.cluster;
    of_gateway.session_config = serving->session_config;
    auto gateway = Gateway::start(**node, of_gateway);
    if (!gateway)
      return failed(gateway.status());
    EndWatchdog watchdog;
    signals.on_stop([&](const std::string& signal) {
      watchdog.start(grace + EndWatchdog::leaving, exit_failed);
      log_info(signal, ": running steps have ", grace.count(), " s to finish");
      (*gateway)->shut_down(signal, grace);
      (*node)->shut_down(signal, grace);
    });
    const Address reached{serving->address.host, (*gateway)->port()};
    std::string lines = str_cat("ready at grpc://", reached, "\n");
    if ((*node)->port() != 0)
      str_append(lines, (*node)->task(), " is at caf://",
                 Address{serving->address.host, (*node)->port()}, " for troupe's commands\n");
    (ready ? *ready : standard_output()).write(lines);
    if (ready) {
      (void)ready->flush(grace);
      ready.reset();
    }
    std::string why = (*node)->wait();
    log_info("ends: ", why);
    signals.forget();
    int exit_code = (*node)->ended_in_order() ? exit_ok : exit_failed;
    watchdog.start(EndWatchdog::stopped, exit_code);
    gateway->reset();
    foreign->shut_down();
    node->reset();
    return exit_code;
  }

private:
  Result<GatewaySettings> read_bounds() const {
    GatewaySettings out;
    for (auto [name, text, to] :
         {std::tuple{"--message-limit", &message_limit_, &out.message_limit},
          std::tuple{"--call-bytes", &call_bytes_, &out.call_bytes}}) {
      auto bytes = text->empty() ? *to : parse_config_size(*text);
      if (!bytes)
        return invalid_argument(str_cat(name, " '", *text, "' is no size; write 512 MiB or 4 GiB"));
      if (*bytes != 0 && *bytes < 64 * 1024)
        return invalid_argument(
            str_cat(name, " '", *text, "' is less than any graph needs; write 64 KiB or more"));
      *to = *bytes;
    }
    for (auto [name, text, to] : {std::tuple{"--calls", &calls_, &out.calls},
                                  std::tuple{"--sessions", &sessions_, &out.sessions}}) {
      auto count = text->empty() ? *to : parse_int(*text);
      if (!count || *count < 0)
        return invalid_argument(
            str_cat(name, " is '", *text, "'; it wants a number from 0 on (0: any number)"));
      *to = *count;
    }
    if (!idle_session_.empty()) {
      TROUPE_ASSIGN(out.idle_session, read_duration("--idle-session", idle_session_));
    }
    return out;
  }

  Result<Serving> read() const {
    TROUPE_ASSIGN(Serving out, read_addresses());
    TROUPE_ASSIGN(out.gateway, read_bounds());
    out.gateway.address = out.address;
    TROUPE_ASSIGN(out.session_config,
                  told_of("--session-config", session_config_from_text(session_config_)));
    return out;
  }

  Result<Serving> read_addresses() const {
    Serving out;
    TROUPE_ASSIGN(out.spec, read_cluster(cluster_));
    ClusterSpec& spec = out.spec;
    if (spec.cluster.size() == 0) {
      if (!job_.empty() || task_ >= 0)
        return invalid_argument("--job and --task need a cluster: give --cluster, or TF_CONFIG");
      TROUPE_ASSIGN(out.address, Address::parse(grpc_.empty() ? "127.0.0.1:2222" : grpc_, 0));
      return out;
    }
    if (!job_.empty())
      spec.job = job_;
    if (task_ >= 0)
      spec.task = task_;
    if (spec.job.empty())
      return invalid_argument(str_cat("--job is missing: which of ",
                                      str_join(spec.cluster.tasks(), ", "), " is this?"));
    spec.task = std::max(spec.task, 0);
    TROUPE_ASSIGN(out.address, spec.cluster.address_of(task_name(spec.job, spec.task)));
    if (!grpc_.empty()) {
      TROUPE_ASSIGN(out.address, Address::parse(grpc_));
    } else if (!is_heard_at(out.address)) {
      out.listed_host = std::exchange(out.address.host, every_interface);
    }
    return out;
  }

  std::vector<std::string> files_;
  std::string grpc_, cluster_, job_;
  std::string message_limit_, calls_, call_bytes_, sessions_, idle_session_;
  std::string session_config_;
  int task_ = -1;
  int cpu_devices_ = 1;
  int ready_fd_ = -1;
};

} // namespace

std::unique_ptr<Command> make_command_serve() {
  return std::make_unique<ServeCommand>();
}

} // namespace troupe
