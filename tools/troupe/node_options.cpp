#include "tools/troupe/node_options.hpp"

#include "api/grpc/gateway.hpp"
#include "core/base/machine.hpp"

namespace troupe {

NodeOptions to_node_options(const NodeConfig& config) {
  NodeOptions out;
  out.cluster = *config.cluster;
  out.job = config.job;
  out.task = config.task;
  out.listen = config.listen;
  out.device_count["CPU"] = config.settings.cpu_devices;
  if (config.settings.gpu_devices >= 0)
    out.device_count["GPU"] = config.settings.gpu_devices;
  out.accelerator_share = config.settings.gpu_memory_share;
  out.compute_threads = config.settings.compute_threads;
  out.actor_threads = config.settings.actor_threads;
  out.memory_limit = config.memory_limit(machine_memory());
  if (!config.settings.files.empty())
    out.files = config.settings.files;
  out.caf_settings = config.caf_settings;
  if (!config.settings.polls_network)
    out.caf_settings.emplace_back("troupe.poll-network", "false");
  out.tensor_paths.choice = config.settings.tensor_path;
  out.tensor_paths.lends = config.settings.lends_memory;
  out.tensor_paths.shows = config.settings.shows_variables;
  if (config.handshake_deadline.count() > 0)
    out.tensor_paths.handshake = config.handshake_deadline;
  if (config.connections > 0)
    out.tensor_paths.connections = config.connections;
  const ConfiguredTimeouts& from = config.timeouts;
  Timeouts& to = out.timeouts;
  to.heartbeat = from.heartbeat;
  to.lease = from.lease;
  auto set = [](std::chrono::milliseconds& timeout, std::chrono::milliseconds configured) {
    if (configured.count() > 0)
      timeout = configured;
  };
  set(to.dial, from.dial);
  set(to.request, from.request);
  set(to.compile, from.compile);
  set(to.chunk, from.chunk);
  set(to.step, from.step);
  set(to.cancel, from.cancel);
  set(to.orphan, from.orphan);
  return out;
}

GatewayOptions to_gateway_options(const GatewaySettings& settings) {
  GatewayOptions out;
  out.address = *settings.address;
  out.max_request = settings.message_limit;
  out.max_calls = settings.calls;
  out.max_pending = settings.call_bytes;
  out.max_sessions = settings.sessions;
  out.idle_session = settings.idle_session;
  return out;
}

} // namespace troupe
