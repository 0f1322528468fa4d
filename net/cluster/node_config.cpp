#include "net/cluster/node_config.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/base/strings.hpp"
#include "net/cluster/config_file.hpp"
#include "net/cluster/internal/nearest.hpp"
#include "net/cluster/internal/settings.hpp"

namespace troupe {
namespace {

using ValueKind = ConfigValue::Kind;

constexpr std::uint64_t most_task = 1'000'000; // number of a task

// TensorFlow's rule, so that every job can be part of a device's name.
bool is_job_name(std::string_view name) {
  auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  auto other = [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), other);
}

// So that two names of one host are one. "localhost" is an IPv4 address or ::1; a task at each
// of them on one port is most likely a mistake, too.
Address with_one_name(Address address) {
  for (char& c : address.host)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (address.host == "localhost" || address.host == "::1")
    address.host = "127.0.0.1";
  return address;
}

// Reads the tree of one file into a ClusterConfig.
class Reader {
public:
  explicit Reader(ConfigProblems& problems) : problems_(problems) {}

  ClusterConfig read(const ConfigValue& root) {
    const ConfigEntry* cluster = nullptr;
    for (const ConfigEntry& entry : root.map) {
      if (entry.value.kind != ValueKind::map)
        problems_.add(
            entry.line,
            str_cat("'", entry.key,
                    "' stands outside every section; put it below [troupe], [cluster] or another"));
      else if (entry.key == "cluster")
        cluster = &entry;
      else if (entry.key == "troupe")
        read_defaults(entry.value);
      else if (is_caf_section(entry.key))
        read_caf_section(entry, caf_settings_, problems_);
      else if (entry.key == "caf")
        problems_.add(entry.line, "there is no section [caf]: CAF's settings stand in sections of "
                                  "their own here; write [scheduler], [middleman] or [logger] "
                                  "(`troupe check --keys` lists what may be set)");
      else if (entry.key == "gateway")
        read_gateway_defaults(entry.value);
      else if (entry.key != "job" && entry.key != "task")
        problems_.add(entry.line, str_cat("there is no section [", entry.key, "]",
                                          nearest_hint(entry.key, {"cluster", "troupe", "job",
                                                                   "task", "gateway", "scheduler",
                                                                   "middleman", "logger"})));
    }
    if (cluster)
      for (const ConfigEntry& job : cluster->value.map)
        read_job(job);
    else if (problems_.empty())
      problems_.add(0, "has no section [cluster]; write one, such as:  [cluster]  worker = "
                       "[\"127.0.0.1:7000\"]");
    if (cluster && tasks_.empty() && problems_.empty())
      problems_.add(cluster->line, "the cluster has no task; give a job its addresses, such as "
                                   "worker = [\"127.0.0.1:7000\"]");
    if (const ConfigEntry* jobs = root.find("job"); jobs && jobs->value.kind == ValueKind::map)
      read_job_settings(*jobs);
    if (const ConfigEntry* tasks = root.find("task"); tasks && tasks->value.kind == ValueKind::map)
      read_task_settings(*tasks);
    if (const ConfigEntry* gateway = root.find("gateway");
        gateway && gateway->value.kind == ValueKind::map)
      read_gateway_settings(*gateway);
    return assemble();
  }

private:
  struct Described {
    NodeConfig config;
    int line = 0;
  };

  void read_defaults(const ConfigValue& section) {
    for (const ConfigEntry& entry : section.map)
      apply_setting("troupe", entry, &settings_, defaults_, problems_);
    auto line = [&](std::string_view key) {
      return section.find(key) ? section.find(key)->line : 0;
    };
    const ConfiguredTimeouts& t = settings_.timeouts;
    if (t.heartbeat >= t.lease)
      problems_.add(std::max(line("heartbeat"), line("lease")),
                    str_cat("a heartbeat every ", t.heartbeat.count(),
                            "ms cannot renew a lease of ", t.lease.count(),
                            "ms; make the lease about five heartbeats long"));
  }

  // For the network, which reads them where CAF's own settings stand.
  void add_port_settings(std::vector<std::pair<std::string, std::string>>& out) const {
    if (settings_.message_limit)
      out.emplace_back("troupe.message-limit", std::to_string(settings_.message_limit));
    if (settings_.handshake_deadline.count())
      out.emplace_back("troupe.handshake-deadline",
                       str_cat(settings_.handshake_deadline.count(), "ms"));
    if (settings_.connections)
      out.emplace_back("troupe.connections", std::to_string(settings_.connections));
  }

  // `worker = ["host:port", …]` or `worker = {0 = "host:port", 2 = "host:port"}`
  void read_job(const ConfigEntry& job) {
    if (!is_job_name(job.key))
      return problems_.add(
          job.line,
          str_cat("'", job.key,
                  "' is no name for a job; use letters, digits and '_', and begin with a letter"));
    if (job.value.kind == ValueKind::list) {
      for (std::size_t i = 0; i < job.value.list.size(); ++i)
        read_task(job.key, static_cast<int>(i), job.value.list[i]);
      if (job.value.list.empty())
        problems_.add(job.line,
                      str_cat("job '", job.key, "' has no task; give it an address or remove it"));
    } else if (job.value.kind == ValueKind::map) {
      for (const ConfigEntry& entry : job.value.map) {
        auto number = parse_uint(entry.key);
        if (number && *number <= most_task)
          read_task(job.key, static_cast<int>(*number), entry.value);
        else
          problems_.add(entry.line, str_cat("'", entry.key, "' is no task of job '", job.key,
                                            "'; tasks are numbers from 0 on"));
      }
    } else {
      problems_.add(job.value.line,
                    str_cat("job '", job.key, "' is ", job.value.describe(),
                            "; it wants a list of addresses, such as [\"127.0.0.1:7000\"]"));
    }
  }

  void read_task(const std::string& job, int task, const ConfigValue& value) {
    std::string who = str_cat("task ", task, " of job '", job, "'");
    if (value.kind != ValueKind::text)
      return problems_.add(value.line,
                           str_cat(who, " is ", value.describe(),
                                   "; it wants an address, such as \"127.0.0.1:7000\""));
    auto address = Address::parse(value.text);
    if (!address)
      return problems_.add(value.line, str_cat(who, ": ", address.status().message()));
    if (address->host == "0.0.0.0" || address->host == "::")
      return problems_.add(value.line,
                           str_cat(who, ": nobody can dial ", *address,
                                   "; write the address under which the other tasks reach it, and "
                                   "bind = \"",
                                   *address, "\" in [task.", job, ".", task, "]"));
    auto [first, is_new] =
        addresses_.emplace(with_one_name(*address), std::pair(*address, value.line));
    if (!is_new) {
      const auto& [other, line] = first->second;
      return problems_.add(
          value.line,
          str_cat(who, " has the address ", *address,
                  other == *address ? std::string() : str_cat(", which is ", other, ","),
                  " that line ", line, " gives to another task; give each task its own"));
    }
    auto [described, fresh] = tasks_.emplace(std::pair(job, task), Described{});
    if (!fresh)
      return problems_.add(value.line,
                           str_cat(who, " is described in line ", described->second.line,
                                   " already; keep one of the two"));
    described->second.line = value.line;
    described->second.config.job = job;
    described->second.config.task = task;
    described->second.config.address = *std::move(address);
    described->second.config.settings = defaults_;
    job_names_.push_back(job);
  }

  // [job.worker]
  void read_job_settings(const ConfigEntry& section) {
    for (const ConfigEntry& job : section.value.map) {
      if (!check_job("job", job))
        continue;
      bool reported = false;
      for (auto& [key, described] : tasks_)
        if (key.first == job.key) {
          ConfigProblems again(problems_.file()); // the problems are those of the first task
          for (const ConfigEntry& entry : job.value.map)
            apply_setting("job." + job.key, entry, nullptr, described.config.settings,
                          reported ? again : problems_);
          reported = true;
        }
    }
  }

  // [task.worker.1]
  void read_task_settings(const ConfigEntry& section) {
    for (const ConfigEntry& job : section.value.map) {
      if (!check_job("task", job))
        continue;
      for (const ConfigEntry& task : job.value.map) {
        auto number = parse_uint(task.key);
        if (!number || *number > most_task || task.value.kind != ValueKind::map) {
          problems_.add(task.line, str_cat("'", task.key, "' below [task.", job.key,
                                           "] is no task; write a section for each, such as [task.",
                                           job.key, ".0]"));
          continue;
        }
        auto found = tasks_.find({job.key, static_cast<int>(*number)});
        if (found == tasks_.end()) {
          problems_.add(task.line, str_cat("job '", job.key, "' has no task ", *number,
                                           " in [cluster]; its tasks are ", tasks_of(job.key)));
          continue;
        }
        for (const ConfigEntry& entry : task.value.map)
          apply_setting(str_cat("task.", job.key, ".", task.key), entry, nullptr,
                        found->second.config.settings, problems_);
      }
    }
  }

  // [gateway]
  void read_gateway_defaults(const ConfigValue& section) {
    for (const ConfigEntry& entry : section.map)
      if (entry.value.kind != ValueKind::map)
        apply_gateway_setting("gateway", entry, gateway_, problems_);
  }

  // [gateway.worker], [gateway.worker.1]
  void read_gateway_settings(const ConfigEntry& section) {
    for (auto& [key, described] : tasks_)
      described.config.gateway = gateway_;
    for (const ConfigEntry& job : section.value.map) {
      if (job.value.kind != ValueKind::map || !check_job("gateway", job))
        continue;
      for (const ConfigEntry& entry : job.value.map)
        if (entry.value.kind == ValueKind::map)
          read_gateway_of_task(job.key, entry);
        else
          read_gateway_of_job(job.key, entry);
    }
  }

  void read_gateway_of_job(const std::string& job, const ConfigEntry& entry) {
    bool reported = false;
    for (auto& [key, described] : tasks_)
      if (key.first == job) {
        ConfigProblems again(problems_.file()); // the problems are those of the first task
        apply_gateway_setting("gateway." + job, entry, described.config.gateway,
                              reported ? again : problems_);
        reported = true;
      }
  }

  void read_gateway_of_task(const std::string& job, const ConfigEntry& task) {
    auto number = parse_uint(task.key);
    auto found = number && *number <= most_task ? tasks_.find({job, static_cast<int>(*number)})
                                                : tasks_.end();
    if (found == tasks_.end())
      return problems_.add(task.line, str_cat("job '", job, "' has no task ", task.key,
                                              " in [cluster]; its tasks are ", tasks_of(job)));
    for (const ConfigEntry& entry : task.value.map)
      apply_gateway_setting(str_cat("gateway.", job, ".", task.key), entry,
                            found->second.config.gateway, problems_);
  }

  // What two would listen at on one host: ports of tasks, which `bind` may have moved, and
  // gateways.
  void check_listeners() {
    std::map<std::pair<std::string, Address>, std::string> taken; // by the tasks' host
    const auto take = [&](const Described& described, const Address& address, std::string_view who,
                          std::string_view remedy) {
      const NodeConfig& config = described.config;
      const std::string name = str_cat(who, "task ", config.task, " of job '", config.job, "'");
      auto [other, is_new] = taken.emplace(
          std::pair(with_one_name(config.address).host, with_one_name(address)), name);
      if (!is_new)
        problems_.add(described.line,
                      str_cat(name, " and ", other->second, " would both listen at ", address,
                              "; write an address for each, in [", remedy, ".", config.job, ".",
                              config.task, "]"));
    };
    for (const auto& [key, described] : tasks_)
      take(described, described.config.listen, "", "task");
    for (const auto& [key, described] : tasks_)
      if (described.config.gateway.address)
        take(described, *described.config.gateway.address, "the gateway of ", "gateway");
  }

  void check_open_gateways() {
    for (const auto& [key, described] : tasks_) {
      const NodeConfig& config = described.config;
      if (!config.gateway.address)
        continue;
      const Address address = with_one_name(*config.gateway.address);
      if (!settings_.insecure && !address.is_loopback())
        problems_.add(
            described.line,
            str_cat("the gateway of task ", config.task, " of job '", config.job,
                    "' is reached at ", *config.gateway.address,
                    ", beyond this machine, and nothing there is encrypted or asks who you "
                    "are; on a network that you trust, write insecure = true in [troupe]"));
    }
  }

  bool check_job(std::string_view section, const ConfigEntry& job) {
    bool known = std::find(job_names_.begin(), job_names_.end(), job.key) != job_names_.end();
    if (!known) {
      std::vector<std::string_view> names;
      for (const std::string& name : job_names_)
        if (names.empty() || names.back() != name)
          names.push_back(name);
      problems_.add(job.line,
                    str_cat("[", section, ".", job.key, "] names a job that is not in [cluster]",
                            names.empty() ? std::string() : nearest_hint(job.key, names)));
    } else if (job.value.kind != ValueKind::map) {
      problems_.add(job.line,
                    str_cat("'", job.key, "' below [", section, "] is ", job.value.describe(),
                            "; write a section [", section, ".", job.key, "]"));
      return false;
    }
    return known;
  }

  std::string tasks_of(std::string_view job) const {
    std::vector<int> numbers;
    for (const auto& [key, described] : tasks_)
      if (key.first == job)
        numbers.push_back(key.second);
    return str_join(numbers, ", ");
  }

  ClusterConfig assemble() {
    ClusterConfig out;
    out.file = problems_.file();
    out.insecure = settings_.insecure;
    out.restarts = settings_.restarts;
    out.restart_window = settings_.restart_window;
    auto cluster = std::make_shared<Cluster>();
    cluster->set_name(settings_.name);
    for (auto& [key, described] : tasks_) {
      NodeConfig& config = described.config;
      config.listen = config.address;
      if (!config.settings.bind_host.empty())
        config.listen.host = config.settings.bind_host;
      if (config.settings.bind_port)
        config.listen.port = config.settings.bind_port;
      const Address& open = config.address.is_loopback() ? config.listen : config.address;
      if (!settings_.insecure && !open.is_loopback())
        problems_.add(described.line, str_cat("task ", config.task, " of job '", config.job,
                                              "' is reached at ", open,
                                              ", beyond this machine, and nothing there is "
                                              "encrypted or asks who you are; on a network that "
                                              "you trust, write insecure = true in [troupe]"));
      Status added = cluster->add(config.job, config.task, config.address);
      if (!added.ok())
        problems_.add(described.line, added.message());
    }
    check_listeners();
    check_open_gateways();
    for (auto& [key, described] : tasks_) {
      described.config.timeouts = settings_.timeouts;
      described.config.cluster = cluster;
      described.config.handshake_deadline = settings_.handshake_deadline;
      described.config.connections = settings_.connections;
      described.config.caf_settings = caf_settings_;
      add_port_settings(described.config.caf_settings);
      out.tasks.push_back(std::move(described.config));
    }
    return out;
  }

  ConfigProblems& problems_;
  ClusterSettings settings_;
  TaskSettings defaults_;
  GatewaySettings gateway_;
  std::vector<std::pair<std::string, std::string>> caf_settings_;
  std::map<std::pair<std::string, int>, Described> tasks_;
  std::map<Address, std::pair<Address, int>> addresses_; // as written, and in which line
  std::vector<std::string> job_names_;
};

} // namespace

std::string NodeConfig::name() const {
  return str_cat(job, "/", task);
}

int NodeConfig::tasks_on_host() const {
  return std::max(cluster->tasks_on_host_of(address), 1);
}

std::int64_t NodeConfig::memory_limit(std::int64_t machine_bytes) const {
  return settings.memory_limit ? *settings.memory_limit : machine_bytes / 5 * 4 / tasks_on_host();
}

Result<NodeConfig> ClusterConfig::task(std::string_view job, int task) const {
  std::vector<std::string> jobs;
  std::vector<int> numbers;
  for (const NodeConfig& config : tasks) {
    if (config.job == job && config.task == task)
      return config;
    if (config.job == job)
      numbers.push_back(config.task);
    if (jobs.empty() || jobs.back() != config.job)
      jobs.push_back(config.job);
  }
  if (numbers.empty())
    return not_found(
        str_cat(file, ": there is no job '", job, "'; the jobs are ", str_join(jobs, ", ")));
  return not_found(str_cat(file, ": job '", job, "' has no task ", task, "; its tasks are ",
                           str_join(numbers, ", ")));
}

namespace {

Result<ClusterConfig> parse(std::string_view text, ConfigProblems& problems) {
  ConfigValue root = parse_config(text, problems);
  ClusterConfig config = Reader(problems).read(root);
  TROUPE_TRY(problems.to_status());
  return config;
}

} // namespace

Result<ClusterConfig> parse_cluster_config(std::string_view text, const std::string& file) {
  ConfigProblems problems(file);
  return parse(text, problems);
}

Result<ClusterConfig> read_cluster_config(const std::string& path,
                                          std::vector<ConfigProblem>* out) {
  TROUPE_ASSIGN(std::string text, load_config_text(path));
  ConfigProblems problems(path);
  auto config = parse(text, problems);
  if (out)
    for (ConfigProblems::Problem& problem : problems.sorted())
      out->push_back({problem.line, std::move(problem.sentence)});
  return config;
}

Result<NodeConfig> read_node_config(const std::string& path, std::string_view job, int task) {
  TROUPE_ASSIGN(ClusterConfig config, read_cluster_config(path));
  return config.task(job, task);
}

} // namespace troupe
