#include "net/cluster/internal/settings.hpp"

#include <limits>
#include <optional>

#include "core/base/strings.hpp"
#include "net/cluster/internal/nearest.hpp"

namespace troupe {
namespace {

using ValueKind = ConfigValue::Kind;
using std::chrono::milliseconds;

// Where a key's value goes, and a sentence's end when it cannot: "a number from 1 to 64".
struct Target {
  ClusterSettings* cluster;
  TaskSettings& task;
};
using Wanted = std::optional<std::string>;

Wanted read_int(const ConfigValue& value, int least, int most, int& out) {
  if (value.kind != ValueKind::integer || value.integer < least || value.integer > most)
    return str_cat("a number from ", least, " to ", most);
  out = static_cast<int>(value.integer);
  return {};
}

Wanted read_share(const ConfigValue& value, double& out) {
  const double given = value.kind == ValueKind::real      ? value.real
                       : value.kind == ValueKind::integer ? static_cast<double>(value.integer)
                                                          : 0;
  if (!(given > 0 && given <= 1))
    return "a number above 0 and up to 1";
  out = given;
  return {};
}

Wanted read_duration(const ConfigValue& value, milliseconds& out) {
  std::optional<std::chrono::nanoseconds> given;
  if (value.kind == ValueKind::duration)
    given = value.duration;
  else if (value.kind == ValueKind::text)
    given = parse_config_duration(str_trim(value.text));
  auto duration = std::chrono::duration_cast<milliseconds>(given.value_or(milliseconds(0)));
  if (duration < milliseconds(1) || duration > std::chrono::hours(24 * 365))
    return "a duration from 1ms to a year, such as 500ms, 2s or 1min";
  out = duration;
  return {};
}

Wanted read_boolean(const ConfigValue& value, bool& out) {
  if (value.kind != ValueKind::boolean)
    return "true or false";
  out = value.boolean;
  return {};
}

Wanted read_bytes(const ConfigValue& value, std::int64_t& out) {
  constexpr std::string_view wanted =
      "a size, such as \"512 MiB\", \"4 GiB\", or a number of bytes (0: no limit)";
  if (value.kind == ValueKind::integer && value.integer >= 0) {
    out = value.integer;
    return {};
  }
  auto bytes = value.kind == ValueKind::text ? parse_config_size(value.text) : std::nullopt;
  if (!bytes)
    return std::string(wanted);
  out = *bytes;
  return {};
}

Wanted read_name(const ConfigValue& value, std::string& out) {
  if (value.kind != ValueKind::text || value.text.empty() || value.text.size() > 100)
    return "a name of 1 to 100 characters in double quotes, such as \"training\"";
  out = value.text;
  return {};
}

// "host" or "host:port"
Wanted read_bind(const ConfigValue& value, TaskSettings& out) {
  constexpr std::string_view wanted =
      "a host of this machine, with a port where that differs too, such as \"0.0.0.0\" or "
      "\"0.0.0.0:7000\"";
  if (value.kind != ValueKind::text)
    return std::string(wanted);
  auto address = Address::parse(value.text);
  if (address.ok()) {
    out.bind_port = address->port;
  } else {
    address = Address::parse(str_cat(value.text, ":1"));
    out.bind_port = 0;
  }
  if (!address.ok())
    return std::string(wanted);
  out.bind_host = address->host;
  return {};
}

Wanted read_folders(const ConfigValue& value, std::vector<std::string>& out) {
  constexpr std::string_view wanted =
      "a list of one folder at least, such as [\"/data/models\", \".\"]";
  if (value.kind != ValueKind::list || value.list.empty())
    return std::string(wanted);
  out.clear();
  for (const ConfigValue& folder : value.list) {
    if (folder.kind != ValueKind::text || folder.text.empty())
      return std::string(wanted);
    out.push_back(folder.text);
  }
  return {};
}

Wanted read_level(const ConfigValue& value, LogLevel& out) {
  constexpr std::pair<std::string_view, LogLevel> levels[] = {{"debug", LogLevel::debug},
                                                              {"info", LogLevel::info},
                                                              {"warning", LogLevel::warning},
                                                              {"error", LogLevel::error},
                                                              {"off", LogLevel::off}};
  for (auto [name, level] : levels)
    if ((value.kind == ValueKind::text || value.kind == ValueKind::atom) && value.text == name) {
      out = level;
      return {};
    }
  return R"("debug", "info", "warning", "error" or "off")";
}

Wanted read_path(const ConfigValue& value, PathChoice& out) {
  std::optional<PathChoice> choice;
  if (value.kind == ValueKind::text || value.kind == ValueKind::atom)
    choice = parse_path_choice(value.text);
  if (!choice)
    return R"("auto", "messages", "shared-memory", "stream" or "ucx")";
  out = *choice;
  return {};
}

// A piece of a tensor, 1 MiB, and what it travels in must fit; CAF counts to 4 GiB.
constexpr std::int64_t least_message_limit = 2LL << 20, most_message_limit = 2LL << 30;
// Nothing runs in less, and whoever writes 4 means gigabytes.
constexpr std::int64_t least_memory_limit = 1LL << 20;

struct Rule {
  std::string_view key;
  bool for_cluster; ///< only in [troupe]
  /// In the file's syntax; in parentheses where it is no value that could be written.
  std::string_view preset;
  std::string_view doc; ///< a clause without a stop, for the reference
  Wanted (*read)(const ConfigValue&, Target);
};

constexpr Rule rules[] = {
    {"cluster-name", true, "(none)",
     "a task refuses tasks of another cluster: of another name, or with another list of tasks and "
     "addresses; with a name the addresses may differ, as they do behind proxies",
     [](const ConfigValue& v, Target t) { return read_name(v, t.cluster->name); }},
    {"insecure", true, "false",
     "tasks may listen beyond this machine, without encryption and without authentication",
     [](const ConfigValue& v, Target t) { return read_boolean(v, t.cluster->insecure); }},
    {"restarts", true, "0", "how often `troupe up` restarts a task within restart-window",
     [](const ConfigValue& v, Target t) { return read_int(v, 0, 1000, t.cluster->restarts); }},
    {"restart-window", true, "1min", "the time for which restarts are counted",
     [](const ConfigValue& v, Target t) { return read_duration(v, t.cluster->restart_window); }},
    {"heartbeat", true, "1s", "how often a node says that it lives",
     [](const ConfigValue& v, Target t) {
       return read_duration(v, t.cluster->timeouts.heartbeat);
     }},
    {"lease", true, "5s", "a node that is silent for so long counts as lost",
     [](const ConfigValue& v, Target t) { return read_duration(v, t.cluster->timeouts.lease); }},
    {"shutdown-grace", true, "4s", "the time that running steps have to finish after SIGTERM",
     [](const ConfigValue& v, Target t) {
       return read_duration(v, t.cluster->timeouts.shutdown_grace);
     }},
    {"dial-timeout", true, "10s", "the longest try to reach a task",
     [](const ConfigValue& v, Target t) { return read_duration(v, t.cluster->timeouts.dial); }},
    {"request-timeout", true, "10s", "the longest wait for an answer between nodes",
     [](const ConfigValue& v, Target t) { return read_duration(v, t.cluster->timeouts.request); }},
    {"compile-timeout", true, "5min", "the longest wait for a graph to be compiled on another node",
     [](const ConfigValue& v, Target t) { return read_duration(v, t.cluster->timeouts.compile); }},
    {"chunk-timeout", true, "30s", "the longest wait for 1 MiB of a tensor",
     [](const ConfigValue& v, Target t) { return read_duration(v, t.cluster->timeouts.chunk); }},
    {"step-timeout", true, "168h", "the deadline of a step that has none of its own",
     [](const ConfigValue& v, Target t) { return read_duration(v, t.cluster->timeouts.step); }},
    {"cancel-timeout", true, "2s",
     "the time that a step's parts have to end after its deadline, before it is answered without "
     "them",
     [](const ConfigValue& v, Target t) { return read_duration(v, t.cluster->timeouts.cancel); }},
    {"orphan-timeout", true, "1min",
     "how long a value waits for the task that should fetch it; a lease and two heartbeats if that "
     "is longer, since a peer that is silent for less counts as alive",
     [](const ConfigValue& v, Target t) { return read_duration(v, t.cluster->timeouts.orphan); }},
    {"message-limit", true, "\"64 MiB\"",
     "the largest message that a node takes; it bounds graphs and their constants, but not the "
     "tensors of steps",
     [](const ConfigValue& v, Target t) -> Wanted {
       std::int64_t bytes = 0;
       if (read_bytes(v, bytes) || bytes < least_message_limit || bytes > most_message_limit)
         return "a size from \"2 MiB\" to \"2 GiB\"";
       t.cluster->message_limit = bytes;
       return {};
     }},
    {"handshake-deadline", true, "10s",
     "the time that a new connection has to say what it is before it is closed",
     [](const ConfigValue& v, Target t) {
       return read_duration(v, t.cluster->handshake_deadline);
     }},
    {"connections", true, "512",
     "the most connections that a node accepts on its port; the port for streams of tensors has "
     "the same bound",
     [](const ConfigValue& v, Target t) {
       return read_int(v, 8, 100'000, t.cluster->connections);
     }},
    {"cpu-devices", false, "1", "CPU devices of the task: CPU:0, CPU:1 and so on",
     [](const ConfigValue& v, Target t) { return read_int(v, 1, 64, t.task.cpu_devices); }},
    {"gpu-devices", false, "(all that the machine has)",
     "GPUs of the task: GPU:0, GPU:1 and so on, those that CUDA_VISIBLE_DEVICES leaves; 0: none",
     [](const ConfigValue& v, Target t) { return read_int(v, 0, 64, t.task.gpu_devices); }},
    {"gpu-memory-fraction", false, "0.9", "the share of each GPU's memory that tensors may take",
     [](const ConfigValue& v, Target t) { return read_share(v, t.task.gpu_memory_share); }},
    {"compute-threads", false, "0",
     "threads that run kernels; 0: one for each core that the process has, or that its control "
     "group's quota comes to",
     [](const ConfigValue& v, Target t) { return read_int(v, 0, 1024, t.task.compute_threads); }},
    {"actor-threads", false, "2", "threads that run actors",
     [](const ConfigValue& v, Target t) { return read_int(v, 1, 256, t.task.actor_threads); }},
    {"winograd", false, "true",
     "convolutions of 3 x 3 and 5 x 5 may do fewer products, with a slightly larger error; a "
     "session may refuse it for itself",
     [](const ConfigValue& v, Target t) { return read_boolean(v, t.task.winograd); }},
    {"memory-limit", false, "(an even share of four fifths of the machine's memory)",
     "bytes that the tensors of the task may take",
     [](const ConfigValue& v, Target t) -> Wanted {
       std::int64_t bytes = 0;
       if (read_bytes(v, bytes) || (bytes > 0 && bytes < least_memory_limit))
         return "a size of at least \"1 MiB\", such as \"4 GiB\", or 0 for no limit; a number "
                "without a unit counts bytes";
       t.task.memory_limit = bytes;
       return {};
     }},
    {"files", false, "[\".\"]",
     "folders below which graphs may read and write files, as SaveV2, ReadFile and summary writers "
     "do; relative ones are below the task's working folder",
     [](const ConfigValue& v, Target t) { return read_folders(v, t.task.files); }},
    {"bind", false, "(the task's address in [cluster])",
     "where the task listens, if the others reach it through something else, such as a "
     "container's port",
     [](const ConfigValue& v, Target t) { return read_bind(v, t.task); }},
    {"tensor-path", false, "\"auto\"", "how tensors travel between tasks",
     [](const ConfigValue& v, Target t) { return read_path(v, t.task.tensor_path); }},
    {"lend-memory", false, "true",
     "each task may send this one up to 16 MiB of tensors before they are asked for; without it "
     "each tensor above 64 KiB is asked for first",
     [](const ConfigValue& v, Target t) { return read_boolean(v, t.task.lends_memory); }},
    {"show-variables", false, "true",
     "tasks of the same host read this one's variables of 64 KiB to 4 MiB in place, if they lend "
     "memory; without it they get copies",
     [](const ConfigValue& v, Target t) { return read_boolean(v, t.task.shows_variables); }},
    {"poll-network", false, "true",
     "after short waits for the network, the next wait stays awake for up to 200 us before it "
     "sleeps",
     [](const ConfigValue& v, Target t) { return read_boolean(v, t.task.polls_network); }},
    {"log-level", false, "\"info\"", "the least urgent lines that are logged",
     [](const ConfigValue& v, Target t) { return read_level(v, t.task.log_level); }},
};

struct GatewayRule {
  std::string_view key, preset, doc;
  Wanted (*read)(const ConfigValue&, GatewaySettings&);
};

Wanted read_count(const ConfigValue& value, std::int64_t& out) {
  if (value.kind != ValueKind::integer || value.integer < 0 || value.integer > 1'000'000'000)
    return "a number from 0 (no bound) to 1000000000";
  out = value.integer;
  return {};
}

constexpr GatewayRule gateway_rules[] = {
    {"address", "(none)",
     "where TensorFlow's clients reach the task, as grpc://HOST:PORT; without it no such client "
     "does",
     [](const ConfigValue& v, GatewaySettings& g) -> Wanted {
       auto address =
           v.kind == ValueKind::text ? Address::parse(v.text) : Result<Address>(not_found(""));
       if (!address.ok())
         return R"(an address of this machine, such as "127.0.0.1:2222")";
       g.address = *address;
       return {};
     }},
    {"message-limit", "0",
     "the largest request that is taken, a graph or the feeds of a step; 0: gRPC's own bound, 2 "
     "GiB",
     [](const ConfigValue& v, GatewaySettings& g) -> Wanted {
       if (read_bytes(v, g.message_limit))
         return "a size, such as \"512 MiB\", \"4 GiB\", or a number of bytes (0: gRPC's own "
                "bound)";
       return {};
     }},
    {"calls", "100000", "calls that wait at once; more are refused; 0: any number",
     [](const ConfigValue& v, GatewaySettings& g) { return read_count(v, g.calls); }},
    {"call-bytes", "0", "bytes of all requests that wait at once; more are refused; 0: any number",
     [](const ConfigValue& v, GatewaySettings& g) { return read_bytes(v, g.call_bytes); }},
    {"sessions", "10000", "sessions that are open at once; more are refused; 0: any number",
     [](const ConfigValue& v, GatewaySettings& g) { return read_count(v, g.sessions); }},
    {"idle-session", "24h",
     "a session without a call for so long is closed: its client has vanished without closing it",
     [](const ConfigValue& v, GatewaySettings& g) { return read_duration(v, g.idle_session); }},
};

// CAF's keys: those without a reason are passed on.
struct CafRule {
  std::string_view section;
  std::string_view key;
  ValueKind kind;
  std::string_view refused;  ///< why it may not be set, and what to do instead
  std::string_view doc = {}; ///< of those that may
};
constexpr CafRule caf_rules[] = {
    {"scheduler", "max-throughput", ValueKind::integer, "",
     "messages that an actor handles before another one has its turn"},
    {"scheduler", "max-threads", ValueKind::integer, "write actor-threads in [troupe] instead"},
    {"scheduler", "policy", ValueKind::atom, "troupe brings its own scheduler; remove the line"},
    {"scheduler", "enable-profiling", ValueKind::boolean,
     "troupe's own scheduler has no profiler; trace a step instead"},
    {"middleman", "max-consecutive-reads", ValueKind::integer, "",
     "reads from one connection before another one has its turn"},
    {"middleman", "max-pending-messages", ValueKind::integer, "",
     "messages that wait for one peer before senders are slowed down"},
    {"middleman", "workers", ValueKind::integer,
     "messages are read on the network's thread, which saves a copy; remove the line"},
    {"middleman", "enable-automatic-connections", ValueKind::boolean,
     "it opens an unencrypted port on all interfaces; remove the line, nodes dial each other "
     "themselves"},
    {"middleman", "heartbeat-interval", ValueKind::duration,
     "CAF takes a peer that sends a large tensor for dead; write heartbeat and lease in [troupe] "
     "instead"},
    {"middleman", "app-identifiers", ValueKind::list,
     "clients could no longer connect; remove the line"},
    {"middleman", "app-identifier", ValueKind::text,
     "clients could no longer connect; remove the line"},
    {"middleman", "network-backend", ValueKind::atom, "there is only one; remove the line"},
    {"middleman", "manual-multiplexing", ValueKind::boolean,
     "nobody would read the network; remove the line"},
    {"middleman", "attach-utility-actors", ValueKind::boolean,
     "a handler that blocks would stop all others; remove the line"},
    {"logger", "verbosity", ValueKind::atom, "",
     "what CAF's own log tells: 'trace', 'debug', 'info', 'warning', 'error' or 'quiet'"},
    {"logger", "file-name", ValueKind::text, "", "the file of CAF's own log"},
    {"logger", "file-format", ValueKind::text, "", "the form of its lines"},
    {"logger", "file-verbosity", ValueKind::atom, "", "what the file tells, if that is less"},
    {"logger", "console", ValueKind::atom,
     "standard error carries troupe's own log; write file-name instead"},
    {"logger", "component-blacklist", ValueKind::list, "",
     "components of CAF that are left out of it"},
};

std::string_view kind_name(ValueKind kind) {
  switch (kind) {
  case ValueKind::boolean:
    return "true or false";
  case ValueKind::integer:
    return "a number that is at least 1";
  case ValueKind::real:
    return "a number";
  case ValueKind::duration:
    return "a duration, such as 500ms";
  case ValueKind::text:
    return "text in double quotes";
  case ValueKind::atom:
    return "an atom in single quotes";
  case ValueKind::list:
    return "a list";
  case ValueKind::map:
    return "a block";
  }
  return "";
}

} // namespace

void apply_setting(const std::string& section, const ConfigEntry& entry, ClusterSettings* cluster,
                   TaskSettings& task, ConfigProblems& problems) {
  std::vector<std::string_view> known;
  for (const Rule& rule : rules) {
    if (cluster || !rule.for_cluster)
      known.push_back(rule.key);
    if (rule.key != entry.key)
      continue;
    if (rule.for_cluster && !cluster)
      return problems.add(entry.line,
                          str_cat("'", entry.key, "' holds for the whole cluster; move it from [",
                                  section, "] to [troupe]"));
    if (Wanted wanted = rule.read(entry.value, {cluster, task}))
      problems.add(entry.value.line, str_cat("'", entry.key, "' in [", section, "] is ",
                                             entry.value.describe(), "; it wants ", *wanted));
    return;
  }
  problems.add(entry.line, str_cat("[", section, "] has no key '", entry.key, "'",
                                   nearest_hint(entry.key, known)));
}

void apply_gateway_setting(const std::string& section, const ConfigEntry& entry,
                           GatewaySettings& gateway, ConfigProblems& problems) {
  std::vector<std::string_view> known;
  for (const GatewayRule& rule : gateway_rules) {
    known.push_back(rule.key);
    if (rule.key != entry.key)
      continue;
    if (Wanted wanted = rule.read(entry.value, gateway))
      problems.add(entry.value.line, str_cat("'", entry.key, "' in [", section, "] is ",
                                             entry.value.describe(), "; it wants ", *wanted));
    return;
  }
  problems.add(entry.line, str_cat("[", section, "] has no key '", entry.key, "'",
                                   nearest_hint(entry.key, known)));
}

std::optional<std::int64_t> parse_config_size(std::string_view text) {
  text = str_trim(text);
  if (auto bytes = parse_int(text); bytes && *bytes >= 0)
    return *bytes;
  constexpr std::pair<std::string_view, std::int64_t> units[] = {
      {"KiB", 1LL << 10}, {"MiB", 1LL << 20}, {"GiB", 1LL << 30}, {"TiB", 1LL << 40}, {"B", 1}};
  for (auto [unit, bytes] : units) {
    if (!text.ends_with(unit))
      continue;
    auto count = parse_double(str_trim(text.substr(0, text.size() - unit.size())));
    if (!count || !(*count >= 0) || *count * static_cast<double>(bytes) > 9e18)
      return std::nullopt;
    return static_cast<std::int64_t>(*count * static_cast<double>(bytes));
  }
  return std::nullopt;
}

std::vector<ConfigKey> config_keys() {
  std::vector<ConfigKey> out;
  const ConfigValue unsuitable; // a block: the sentence that refuses it says what a key wants
  for (const Rule& rule : rules) {
    ClusterSettings cluster;
    TaskSettings task;
    out.push_back({rule.for_cluster ? "[troupe]" : "[troupe], [job.JOB], [task.JOB.N]",
                   std::string(rule.key), rule.read(unsuitable, {&cluster, task}).value_or(""),
                   std::string(rule.preset), std::string(rule.doc)});
  }
  for (const GatewayRule& rule : gateway_rules) {
    GatewaySettings gateway;
    out.push_back({"[gateway], [gateway.JOB], [gateway.JOB.N]", std::string(rule.key),
                   rule.read(unsuitable, gateway).value_or(""), std::string(rule.preset),
                   std::string(rule.doc)});
  }
  for (const CafRule& rule : caf_rules)
    if (rule.refused.empty())
      out.push_back({str_cat("[", rule.section, "]"), std::string(rule.key),
                     std::string(kind_name(rule.kind)), "(CAF's)", std::string(rule.doc)});
  return out;
}

bool is_caf_section(std::string_view section) {
  for (const CafRule& rule : caf_rules)
    if (rule.section == section)
      return true;
  return false;
}

void read_caf_section(const ConfigEntry& section,
                      std::vector<std::pair<std::string, std::string>>& out,
                      ConfigProblems& problems) {
  for (const ConfigEntry& entry : section.value.map) {
    const CafRule* found = nullptr;
    std::vector<std::string_view> known;
    for (const CafRule& rule : caf_rules)
      if (rule.section == section.key) {
        if (rule.refused.empty())
          known.push_back(rule.key);
        if (rule.key == entry.key)
          found = &rule;
      }
    if (!found)
      problems.add(entry.line, str_cat("CAF's section [", section.key, "] has no key '", entry.key,
                                       "' that may be set here", nearest_hint(entry.key, known)));
    else if (!found->refused.empty())
      problems.add(entry.line, str_cat("'", entry.key, "' in [", section.key,
                                       "] may not be set: ", found->refused));
    else if (found->kind != entry.value.kind ||
             (found->kind == ValueKind::integer && entry.value.integer < 1))
      problems.add(entry.value.line,
                   str_cat("'", entry.key, "' in [", section.key, "] is ", entry.value.describe(),
                           "; it wants ", kind_name(found->kind)));
    else
      out.emplace_back(str_cat(section.key, ".", entry.key), entry.value.to_string());
  }
}

} // namespace troupe
