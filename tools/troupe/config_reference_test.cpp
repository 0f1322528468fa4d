#include "tools/troupe/config_reference.hpp"

#include <doctest/doctest.h>

#include "api/grpc/gateway.hpp"
#include "core/base/strings.hpp"
#include "net/transport/guarded_network.hpp"
#include "tools/troupe/node_options.hpp"

namespace troupe {
namespace {

constexpr std::string_view cluster = "[cluster]\nworker = [\"127.0.0.1:7001\"]\n";

ClusterConfig config_of(std::string_view settings, std::string_view section = "troupe") {
  auto config = parse_cluster_config(
      str_cat(cluster, "[gateway]\naddress = \"127.0.0.1:7100\"\n[", section, "]\n", settings),
      "c.conf");
  REQUIRE_MESSAGE(config.ok(), config.status().message());
  return *std::move(config);
}

// Everything that a key may change.
std::string outcome_of(std::string_view settings, std::string_view section = "troupe") {
  ClusterConfig config = config_of(settings, section);
  const NodeConfig& task = config.tasks[0];
  NodeOptions o = to_node_options(task);
  const Timeouts& t = o.timeouts;
  std::string out =
      str_cat(config.insecure, " ", config.restarts, " ", config.restart_window.count(), " ",
              task.timeouts.shutdown_grace.count());
  for (auto d : {t.heartbeat, t.lease, t.dial, t.request, t.compile, t.chunk, t.step, t.cancel,
                 t.orphan, o.tensor_paths.handshake})
    str_append(out, " ", d.count());
  str_append(out, " ", o.tensor_paths.connections, " ", o.device_count.at("CPU"), " ",
             o.compute_threads, " ", o.actor_threads, " ", task.settings.winograd, " ",
             o.memory_limit, " ", to_string(o.tensor_paths.choice), " ", o.tensor_paths.lends, " ",
             o.tensor_paths.shows, " ", static_cast<int>(task.settings.log_level), " ", *o.listen);
  const GatewayOptions g = to_gateway_options(task.gateway);
  str_append(out, " ", g.address, " ", g.max_request, " ", g.max_calls, " ", g.max_pending, " ",
             g.max_sessions, " ", g.idle_session.count());
  // The bounds of the port, which are handed on only when they are set.
  NetworkLimits limits;
  std::string message = std::to_string(limits.message_bytes),
              handshake = str_cat(limits.handshake.count(), "ms"),
              connections = std::to_string(limits.connections), polls = "true";
  for (const auto& [key, value] : o.caf_settings)
    (key == "troupe.message-limit"        ? message
     : key == "troupe.handshake-deadline" ? handshake
     : key == "troupe.poll-network"       ? polls
                                          : connections) = value;
  return str_cat(out, " ", message, " ", handshake, " ", connections, " ", polls);
}

TEST_CASE("config reference: a key that is set to the default that it shows changes nothing") {
  const std::string without = outcome_of("");
  int written = 0;
  for (const ConfigKey& key : config_keys()) {
    if (key.preset.starts_with('('))
      continue;
    ++written;
    CAPTURE(key.key);
    CHECK(outcome_of(str_cat(key.key, " = ", key.preset, "\n"),
                     key.sections.starts_with("[gateway]") ? "gateway" : "troupe") == without);
  }
  CHECK(written > 15);
}

TEST_CASE("config reference: what is lent, shown and polled can be switched off, each by itself") {
  for (const char* key : {"lend-memory", "show-variables", "poll-network"})
    CHECK(outcome_of(str_cat(key, " = false\n")) != outcome_of(""));
  NodeOptions silent = to_node_options(config_of("lend-memory = false\n").tasks[0]);
  CHECK(!silent.tensor_paths.lends);
  CHECK(silent.tensor_paths.shows);
  NodeOptions closed = to_node_options(config_of("show-variables = false\n").tasks[0]);
  CHECK(!closed.tensor_paths.shows);
  CHECK(closed.tensor_paths.lends);
}

TEST_CASE("config reference: a gateway without settings has the bounds that its keys show") {
  const GatewayOptions plain;
  const GatewayOptions read = to_gateway_options(config_of("").tasks[0].gateway);
  CHECK(read.max_request == plain.max_request);
  CHECK(read.max_calls == plain.max_calls);
  CHECK(read.max_pending == plain.max_pending);
  CHECK(read.max_sessions == plain.max_sessions);
  CHECK(read.idle_session == plain.idle_session);
}

TEST_CASE("config reference: it shows each key below its sections, in lines that fit") {
  std::string text = format_config_keys();
  CHECK(text.starts_with("In [troupe]:\n\n  cluster-name = (none)\n"));
  CHECK(text.find("\nIn [troupe], [job.JOB], [task.JOB.N]:\n\n  cpu-devices = 1\n") !=
        std::string::npos);
  CHECK(text.find("\nIn [scheduler]:\n\n  max-throughput = (CAF's)\n") != std::string::npos);
  for (std::string_view line : str_split(text, '\n'))
    CHECK_MESSAGE(line.size() <= 110, line);
}

} // namespace
} // namespace troupe
