#include "net/cluster/node_config.hpp"

#include <doctest/doctest.h>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

std::string errors_of(std::string_view text) {
  return parse_cluster_config(text, "c.conf").status().message();
}

constexpr std::string_view good = R"(
; one ps and two workers
scheduler { max-throughput = 70 }
[cluster]
ps = ["127.0.0.1:7000"]
worker = ["127.0.0.1:7001",
          "localhost:7002"]
[troupe]
cpu-devices = 2
compute-threads = 3
heartbeat = 200ms
lease = 1s
log-level = "warning"
restarts = 3
[job.worker]
compute-threads = 4
actor-threads = 1
[task.worker.1]
compute-threads = 5
memory-limit = "1.5 GiB"
[middleman]
max-consecutive-reads = 20
)";

TEST_CASE("node config: what is nearer to the task wins") {
  auto config = parse_cluster_config(good, "c.conf");
  REQUIRE_MESSAGE(config.ok(), config.status().message());
  CHECK(config->tasks.size() == 3);
  CHECK(config->restarts == 3);
  auto ps = config->task("ps", 0);
  auto second = config->task("worker", 1);
  REQUIRE(ps.ok());
  REQUIRE(second.ok());
  CHECK(ps->settings.compute_threads == 3);
  CHECK(config->task("worker", 0)->settings.compute_threads == 4);
  CHECK(second->settings.compute_threads == 5);
  CHECK(second->settings.actor_threads == 1);
  CHECK(second->settings.cpu_devices == 2);
  CHECK(second->settings.gpu_devices == -1);
  CHECK(second->settings.memory_limit == 1610612736);
  CHECK(second->settings.log_level == LogLevel::warning);
  CHECK(ps->settings.actor_threads == 2);
  CHECK(ps->timeouts.heartbeat == 200ms);
  CHECK(ps->timeouts.lease == 1s);
  CHECK(second->name() == "worker/1");
  CHECK(second->address.to_string() == "localhost:7002");
  CHECK(second->cluster->size() == 3);
  CHECK(second->caf_settings ==
        std::vector<std::pair<std::string, std::string>>{
            {"scheduler.max-throughput", "70"}, {"middleman.max-consecutive-reads", "20"}});
}

TEST_CASE("node config: the bounds of the port reach the network, and have bounds themselves") {
  auto text = [](std::string_view settings) {
    return "[cluster]\nps = [\"127.0.0.1:7000\"]\n[troupe]\n" + std::string(settings);
  };
  auto config = parse_cluster_config(
      text("message-limit = \"16 MiB\"\nhandshake-deadline = 2s\nconnections = 100\n"), "c.conf");
  REQUIRE_MESSAGE(config.ok(), config.status().message());
  CHECK(config->tasks[0].caf_settings ==
        std::vector<std::pair<std::string, std::string>>{{"troupe.message-limit", "16777216"},
                                                         {"troupe.handshake-deadline", "2000ms"},
                                                         {"troupe.connections", "100"}});
  for (const char* wrong : {"message-limit = \"1 MiB\"", "message-limit = \"3 GiB\"",
                            "message-limit = true", "connections = 7", "handshake-deadline = 3"}) {
    auto refused = parse_cluster_config(text(wrong), "c.conf");
    REQUIRE_FALSE(refused.ok());
    CHECK_MESSAGE(refused.status().message().find("it wants") != std::string::npos,
                  refused.status().message());
  }
}

TEST_CASE("node config: the path of tensors is one of four names, for all or for some tasks") {
  auto text = [](std::string_view settings) {
    return "[cluster]\nps = [\"127.0.0.1:7000\"]\nworker = [\"127.0.0.1:7001\"]\n[troupe]\n" +
           std::string(settings);
  };
  auto config = parse_cluster_config(
      text("tensor-path = \"shared-memory\"\n[job.worker]\ntensor-path = \"stream\"\n"), "c.conf");
  REQUIRE_MESSAGE(config.ok(), config.status().message());
  CHECK(config->task("ps", 0)->settings.tensor_path == PathChoice::shared_memory);
  CHECK(config->task("worker", 0)->settings.tensor_path == PathChoice::stream);
  CHECK(parse_cluster_config(text(""), "c.conf")->tasks[0].settings.tensor_path ==
        PathChoice::best);
  auto off = parse_cluster_config(text("lend-memory = false\n[job.worker]\nlend-memory = "
                                       "true\nshow-variables = false\npoll-network = "
                                       "false\n"),
                                  "c.conf");
  REQUIRE_MESSAGE(off.ok(), off.status().message());
  const TaskSettings ps = off->task("ps", 0)->settings, worker = off->task("worker", 0)->settings;
  CHECK((!ps.lends_memory && ps.shows_variables && ps.polls_network));
  CHECK((worker.lends_memory && !worker.shows_variables && !worker.polls_network));
  for (const char* wrong : {"tensor-path = \"rdma\"", "tensor-path = 1", "tensor-path = true"}) {
    auto refused = parse_cluster_config(text(wrong), "c.conf");
    REQUIRE_FALSE(refused.ok());
    CHECK_MESSAGE(refused.status().message().find(
                      R"("auto", "messages", "shared-memory", "stream" or "ucx")") !=
                      std::string::npos,
                  refused.status().message());
  }
}

TEST_CASE("node config: a duration may stand in quotes, and minutes be written as m") {
  for (const char* lease : {"10m", "\"10m\"", "\"10 min\"", "10min", "\"600s\""}) {
    CAPTURE(lease);
    auto config = parse_cluster_config(
        str_cat("[cluster]\nps = [\"127.0.0.1:7000\"]\n[troupe]\nlease = ", lease, "\n"), "c.conf");
    REQUIRE_MESSAGE(config.ok(), config.status().message());
    CHECK(config->tasks[0].timeouts.lease == 10min);
  }
}

TEST_CASE("node config: every key of the reference says what it wants, its default and meaning") {
  std::vector<ConfigKey> keys = config_keys();
  CHECK(keys.size() > 20);
  for (const ConfigKey& key : keys) {
    CAPTURE(key.key);
    CHECK_FALSE(key.wants.empty());
    CHECK_FALSE(key.preset.empty());
    CHECK_FALSE(key.doc.empty());
    CHECK_FALSE(key.doc.ends_with('.'));
  }
}

TEST_CASE("node config: tasks may have gaps") {
  auto config = parse_cluster_config(
      "[cluster]\nworker = {0 = \"127.0.0.1:7001\", 7 = \"127.0.0.1:7002\"}\n", "c.conf");
  REQUIRE_MESSAGE(config.ok(), config.status().message());
  CHECK(config->task("worker", 7).ok());
  CHECK(config->task("worker", 1).status().message() ==
        "c.conf: job 'worker' has no task 1; its tasks are 0, 7");
}

TEST_CASE("node config: a job or task that is not there is answered with those that are") {
  auto config = parse_cluster_config(good, "c.conf");
  REQUIRE(config.ok());
  CHECK(config->task("wrker", 0).status().message() ==
        "c.conf: there is no job 'wrker'; the jobs are ps, worker");
  CHECK(config->task("worker", 2).status().message() ==
        "c.conf: job 'worker' has no task 2; its tasks are 0, 1");
  CHECK(config->task("worker", -1).status().code() == Code::not_found);
  CHECK(read_node_config("/no/such.conf", "ps", 0).status().code() == Code::not_found);
}

TEST_CASE("node config: every mistake has its sentence") {
  struct Row {
    std::string_view text;  ///< after a good [cluster] of three lines, unless it has its own
    std::string_view error; ///< what the message holds
  };
  const Row rows[] = {
      {"[troupe]\nheartbeet = 1s\n",
       "c.conf:5: [troupe] has no key 'heartbeet'; did you mean 'heartbeat'?"},
      {"[troupe]\nxyzzy = 1s\n",
       "c.conf:5: [troupe] has no key 'xyzzy'; known are cluster-name, insecure, restarts"},
      {"[troup]\nlease = 1s\n", "c.conf:4: there is no section [troup]; did you mean 'troupe'?"},
      {"[troupe]\nheartbeat = 1\n",
       "c.conf:5: 'heartbeat' in [troupe] is the number 1; it wants a duration from 1ms to a year"},
      {"[troupe]\nheartbeat = -1s\n", "it wants a duration"},
      {"[troupe]\ncpu-devices = \"two\"\n",
       "c.conf:5: 'cpu-devices' in [troupe] is the text \"two\"; it wants a number from 1 to 64"},
      {"[troupe]\ncpu-devices = 0\n", "is the number 0; it wants a number from 1 to 64"},
      {"[troupe]\ngpu-devices = 65\n", "is the number 65; it wants a number from 0 to 64"},
      {"[troupe]\ngpu-memory-fraction = 1.5\n", "it wants a number above 0 and up to 1"},
      {"[troupe]\ngpu-memory-fraction = \"half\"\n", "it wants a number above 0 and up to 1"},
      {"[troupe]\nmemory-limit = \"4 GB\"\n",
       "c.conf:5: 'memory-limit' in [troupe] is the text \"4 GB\"; it wants a size"},
      {"[troupe]\nmemory-limit = \"-4 GiB\"\n", "it wants a size"},
      {"[troupe]\nmemory-limit = \"nan GiB\"\n", "it wants a size"},
      {"[troupe]\nlog-level = \"loud\"\n",
       "c.conf:5: 'log-level' in [troupe] is the text \"loud\"; it wants \"debug\""},
      {"[troupe]\ninsecure = 1\n",
       "c.conf:5: 'insecure' in [troupe] is the number 1; it wants true or false"},
      {"[troupe]\nlease = 2s\nlease = 3s\n",
       "c.conf:6: the key 'troupe.lease' was given in line 5 already"},
      {"[troupe]\nheartbeat = 5s\nlease = 2s\n",
       "c.conf:6: a heartbeat every 5000ms cannot renew a lease of 2000ms"},
      {"[troupe]\nheartbeat = 9s\n",
       "c.conf:5: a heartbeat every 9000ms cannot renew a lease of 5000ms"},
      {"[task.ps.0]\nlease = 2s\n",
       "c.conf:5: 'lease' holds for the whole cluster; move it from [task.ps.0] to [troupe]"},
      {"[task.ps.3]\ncpu-devices = 2\n",
       "c.conf:4: job 'ps' has no task 3 in [cluster]; its tasks are 0"},
      {"[task.ps.x]\ncpu-devices = 2\n", "c.conf:4: 'x' below [task.ps] is no task"},
      {"[task.ps.4294967296]\ncpu-devices = 2\n",
       "c.conf:4: '4294967296' below [task.ps] is no task"},
      {"[task.pss.0]\ncpu-devices = 2\n",
       "c.conf:4: [task.pss] names a job that is not in [cluster]; did you mean 'ps'?"},
      {"[job.worker]\ncpu-device = 2\n", "c.conf:5: [job.worker] has no key 'cpu-device'; did you "
                                         "mean 'cpu-devices' or 'gpu-devices'?"},
      {"[middleman]\nworkers = 2\n", "c.conf:5: 'workers' in [middleman] may not be set: messages "
                                     "are read on the network's thread"},
      {"[middleman]\nenable-automatic-connections = true\n",
       "c.conf:5: 'enable-automatic-connections' in [middleman] may not be set: it opens an "
       "unencrypted port"},
      {"[middleman]\nmax-consecutive-reads = 'x'\n",
       "c.conf:5: 'max-consecutive-reads' in [middleman] is the atom 'x'; it wants a number"},
      {"[scheduler]\nmax-threads = 2\n", "c.conf:5: 'max-threads' in [scheduler] may not be set: "
                                         "write actor-threads in [troupe] instead"},
      {"[troupe]\nmemory-limit = 4\n",
       "c.conf:5: 'memory-limit' in [troupe] is the number 4; it wants a size of at least \"1 "
       "MiB\", such as \"4 GiB\", or 0 for no limit; a number without a unit counts bytes"},
      {"[troupe]\nmemory-limit = \"1 KiB\"\n", "it wants a size of at least"},
      {"[troupe]\nlease = \"10 weeks\"\n", "it wants a duration"},
      {"[caf]\nscheduler.max-threads = 2\n",
       "c.conf:4: there is no section [caf]: CAF's settings stand in sections of their own here; "
       "write [scheduler], [middleman] or [logger]"},
      {"[scheduler]\nmax-throughputs = 2\n", "did you mean 'max-throughput'?"},
  };
  for (const Row& row : rows) {
    std::string text = str_cat(
        "[cluster]\nps = [\"127.0.0.1:7000\"]\nworker = [\"127.0.0.1:7001\", \"127.0.0.1:7002\"]\n",
        row.text);
    CAPTURE(text);
    CHECK_MESSAGE(errors_of(text).find(row.error) != std::string::npos, errors_of(text));
  }
}

TEST_CASE("node config: mistakes in the cluster") {
  struct Row {
    std::string_view text;
    std::string_view error;
  };
  const Row rows[] = {
      {"", "c.conf: has no section [cluster]"},
      {"[cluster]\n[troupe]\nlease = 9s\n", "c.conf:1: the cluster has no task"},
      {"cluster { }\n", "c.conf:1: the cluster has no task"},
      {"[cluster]\nps = []\n", "c.conf:2: job 'ps' has no task; give it an address or remove it"},
      {"[cluster]\nps = \"127.0.0.1:7000\"\n",
       "c.conf:2: job 'ps' is the text \"127.0.0.1:7000\"; it wants a list of addresses"},
      {"[cluster]\nps = [\n7000]\n",
       "c.conf:3: task 0 of job 'ps' is the number 7000; it wants an address"},
      {"[cluster]\nps = [\"127.0.0.1:77000\"]\n",
       "c.conf:2: task 0 of job 'ps': '77000' in '127.0.0.1:77000' is no port; use 1 to 65535"},
      {"[cluster]\nps = [\"127.0.0.1:0\"]\n", "is no port"},
      {"[cluster]\nps = [\"127.0.0.1\"]\n",
       "c.conf:2: task 0 of job 'ps': '127.0.0.1' is no address; write host:port"},
      {"[cluster]\nps = [\"127.0.0.1:7000\"]\nworker = [\n\"127.0.0.1:7000\"]\n",
       "c.conf:4: task 0 of job 'worker' has the address 127.0.0.1:7000 that line 2 gives to "
       "another task"},
      {"[cluster]\nps = [\"127.0.0.1:7000\"]\nworker = [\"localhost:7000\"]\n",
       "c.conf:3: task 0 of job 'worker' has the address localhost:7000, which is 127.0.0.1:7000, "
       "that line 2 gives to another task"},
      {"[cluster]\nps = [\"127.0.0.1:7000\"]\nps = [\"127.0.0.1:7001\"]\n",
       "c.conf:3: the key 'cluster.ps' was given in line 2 already"},
      {"[cluster]\nps = [\"10.0.0.1:7000\"]\n",
       "c.conf:2: task 0 of job 'ps' is reached at 10.0.0.1:7000, beyond this machine"},
      {"[cluster]\nps = [\"0.0.0.0:7000\"]\n[troupe]\ninsecure = true\n",
       "c.conf:2: task 0 of job 'ps': nobody can dial 0.0.0.0:7000"},
      {"[cluster]\nps = [\"127.0.0.1.evil.example:7000\"]\n", "beyond this machine"},
      {"[cluster]\nps = [\"127.zero.example:7000\"]\n", "beyond this machine"},
      {"[cluster]\nps = [\"caf://127.0.0.1:7000\"]\n",
       "c.conf:2: task 0 of job 'ps': 'caf://127.0.0.1:7000' is no address; write host:port"},
      {"[cluster]\nps = [\"::1:7000\"]\n", "write an IPv6 host in brackets"},
      {"[cluster]\nps = [\"[]:7000\"]\n", "is no IPv6 host"},
      {"[cluster]\nps = [\" 127.0.0.1:7000\"]\n", "a host consists of letters"},
      {"[cluster]\nparameter-server = [\"127.0.0.1:7000\"]\n",
       "c.conf:2: 'parameter-server' is no name for a job"},
      {"[cluster]\nps = {one = \"127.0.0.1:7000\"}\n", "c.conf:2: 'one' is no task of job 'ps'"},
      {"[cluster]\nps = {0 = \"127.0.0.1:7000\", 00 = \"127.0.0.1:7001\"}\n",
       "c.conf:2: task 0 of job 'ps' is described in line 2 already"},
      {"job = \"ps\"\n[cluster]\nps = [\"127.0.0.1:7000\"]\n",
       "c.conf:1: 'job' stands outside every section"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK_MESSAGE(errors_of(row.text).find(row.error) != std::string::npos, errors_of(row.text));
  }
}

TEST_CASE("node config: a task may listen elsewhere than where it is dialled") {
  auto listen = [](std::string_view bind) {
    auto config = parse_cluster_config(
        str_cat("[cluster]\nps = [\"10.0.0.1:7000\"]\n[troupe]\ninsecure = true\n[task.ps.0]\n",
                "bind = \"", bind, "\"\n"),
        "c.conf");
    REQUIRE_MESSAGE(config.ok(), config.status().message());
    CHECK(config->tasks[0].address.to_string() == "10.0.0.1:7000");
    CHECK(config->tasks[0].cluster->address_of("/job:ps/replica:0/task:0")->to_string() ==
          "10.0.0.1:7000");
    return config->tasks[0].listen.to_string();
  };
  CHECK(listen("0.0.0.0") == "0.0.0.0:7000");
  CHECK(listen("0.0.0.0:9000") == "0.0.0.0:9000");
  CHECK(listen("[::]") == "[::]:7000");
  CHECK(listen("[::1]:9000") == "[::1]:9000");
  auto plain = parse_cluster_config("[cluster]\nps = [\"127.0.0.1:7000\"]\n", "c.conf");
  REQUIRE(plain.ok());
  CHECK(plain->tasks[0].listen == plain->tasks[0].address);
  for (std::string_view wrong : {"bind = \"\"", "bind = \"*\"", "bind = 7000", "bind = \"::\"",
                                 "bind = \"0.0.0.0:70000\""}) {
    CAPTURE(wrong);
    CHECK(errors_of(str_cat("[cluster]\nps = [\"127.0.0.1:7000\"]\n[job.ps]\n", wrong, "\n"))
              .find("c.conf:4: 'bind' in [job.ps] is") == 0);
  }
}

TEST_CASE("node config: who listens beyond this machine needs insecure = true, wherever it is "
          "dialled") {
  std::string text = "[cluster]\nps = [\"127.0.0.1:7000\"]\n[task.ps.0]\nbind = \"0.0.0.0\"\n";
  CHECK(errors_of(text).find("is reached at 0.0.0.0:7000, beyond this machine") !=
        std::string::npos);
  CHECK(errors_of(text + "[troupe]\ninsecure = true\n").empty());
}

TEST_CASE("node config: without memory-limit the tasks of a host share most of its memory") {
  auto config = parse_cluster_config("[cluster]\nps = [\"127.0.0.1:7000\"]\n"
                                     "worker = [\"localhost:7001\", \"10.0.0.2:7000\"]\n"
                                     "[troupe]\ninsecure = true\n[job.ps]\nmemory-limit = 0\n",
                                     "c.conf");
  REQUIRE_MESSAGE(config.ok(), config.status().message());
  CHECK(config->task("ps", 0)->memory_limit(1000) == 0);
  CHECK(config->task("worker", 0)->tasks_on_host() == 2);
  CHECK(config->task("worker", 0)->memory_limit(1000) == 400);
  CHECK(config->task("worker", 1)->memory_limit(1000) == 800);
}

TEST_CASE("node config: an address beyond this machine needs insecure = true") {
  constexpr std::string_view text =
      "[cluster]\nps = [\"10.0.0.1:7000\"]\n[troupe]\ninsecure = true\n";
  auto config = parse_cluster_config(text, "c.conf");
  REQUIRE_MESSAGE(config.ok(), config.status().message());
  CHECK(config->insecure);
}

TEST_CASE("node config: the tasks of a large cluster share what they know of it") {
  std::string text = "[cluster]\nworker = [";
  for (int i = 0; i < 2000; ++i)
    str_append(text, i ? ", " : "", "\"127.0.", i / 250, ".", i % 250 + 1, ":7000\"");
  auto config = parse_cluster_config(text + "]\n", "c.conf");
  REQUIRE_MESSAGE(config.ok(), config.status().message());
  REQUIRE(config->tasks.size() == 2000);
  CHECK(config->tasks.front().cluster == config->tasks.back().cluster);
  CHECK(config->tasks.front().cluster->size() == 2000);
}

TEST_CASE(
    "node config: a cluster is known by its tasks and their addresses, or by its name and tasks") {
  auto identity = [](std::string_view name, std::string_view first, std::string_view second) {
    std::string text = str_cat("[cluster]\nps = [\"", first, "\"]\nworker = [\"", second, "\"]\n");
    if (!name.empty())
      text += str_cat("[troupe]\ncluster-name = \"", name, "\"\n");
    auto config = parse_cluster_config(text, "c.conf");
    REQUIRE_MESSAGE(config.ok(), config.status().message());
    return config->tasks.at(0).cluster->identity();
  };
  constexpr std::string_view a = "127.0.0.1:7000", b = "127.0.0.1:7001", c = "127.0.0.1:7002";
  auto plain = identity("", a, b), named = identity("training", a, b);
  CHECK(plain.digest == identity("", a, b).digest);
  CHECK(plain.digest != identity("", b, a).digest);
  CHECK(plain.digest != identity("", a, c).digest);
  CHECK(plain.digest != named.digest);
  CHECK(named.digest == identity("training", a, c).digest);
  CHECK(named.digest != identity("other", a, b).digest);
  CHECK(named.to_string().starts_with("cluster 'training' (2 tasks, digest "));
  CHECK(plain.to_string().starts_with("a cluster without a name (2 tasks, digest "));
  CHECK(Cluster().identity().digest == 0);
  Cluster forth, back; // in whatever order the tasks are added
  REQUIRE(forth.add("ps", 0, {"host", 1}).ok());
  REQUIRE(forth.add("worker", 0, {"host", 2}).ok());
  REQUIRE(back.add("worker", 0, {"host", 2}).ok());
  REQUIRE(back.add("ps", 0, {"host", 1}).ok());
  CHECK(forth.identity().digest == back.identity().digest);
}

TEST_CASE("node config: one reading tells all mistakes") {
  std::string errors =
      errors_of("[cluster]\nps = [\"127.0.0.1\"]\nworker = [\"10.0.0.1:1\"]\n[troupe]\nlease = "
                "3\nfoo = \n[middleman]\nworkers = 1\n");
  std::vector<std::string> lines;
  for (std::string_view line : str_split(errors, '\n'))
    lines.emplace_back(line.substr(0, 9));
  CHECK(lines ==
        std::vector<std::string>{"c.conf:2:", "c.conf:3:", "c.conf:5:", "c.conf:6:", "c.conf:8:"});
}

TEST_CASE(
    "node config: a task has a face for TensorFlow's clients if its file gives it an address") {
  auto config = parse_cluster_config(R"(
[cluster]
ps = ["127.0.0.1:7000"]
worker = ["127.0.0.1:7001", "127.0.0.1:7002"]
[gateway]
sessions = 7
idle-session = 2h
[gateway.worker]
calls = 9
[gateway.worker.0]
address = "127.0.0.1:2222"
message-limit = "1 MiB"
[gateway.worker.1]
address = "localhost:2223"
call-bytes = "3 MiB"
calls = 10
)",
                                     "c.conf");
  REQUIRE_MESSAGE(config.ok(), config.status().message());
  CHECK_FALSE(config->tasks[0].gateway.address);
  const GatewaySettings &first = config->tasks[1].gateway, &second = config->tasks[2].gateway;
  CHECK(*first.address == Address{"127.0.0.1", 2222});
  CHECK(first.message_limit == 1 << 20);
  CHECK(first.calls == 9);
  CHECK(first.sessions == 7);
  CHECK(first.idle_session == 2h);
  CHECK(*second.address == Address{"localhost", 2223});
  CHECK(second.message_limit == 0);
  CHECK(second.call_bytes == 3 << 20);
  CHECK(second.calls == 10);
  auto plain = parse_cluster_config("[cluster]\nps = [\"127.0.0.1:7000\"]\n", "c.conf");
  REQUIRE(plain.ok());
  CHECK_FALSE(plain->tasks[0].gateway.address);
}

TEST_CASE("node config: mistakes in [gateway]") {
  struct Row {
    std::string_view text, error;
  };
  const Row rows[] = {
      {"[gateway]\naddres = \"127.0.0.1:1\"\n", "did you mean 'address'?"},
      {"[gateway]\naddress = 7\n", "c.conf:5: 'address' in [gateway] is the number 7; it wants an "
                                   "address of this machine"},
      {"[gateway]\ncalls = -1\n", "it wants a number from 0"},
      {"[gateway]\nmessage-limit = \"much\"\n", "it wants a size"},
      {"[gateway]\nidle-session = 0s\n", "it wants a duration"},
      {"[gateway]\naddress = \"127.0.0.1:2222\"\n", "the gateway of task 0 of job 'worker' and the "
                                                    "gateway of task 0 of job 'ps' would both "
                                                    "listen at 127.0.0.1:2222; write an address "
                                                    "for each, in [gateway.worker.0]"},
      {"[gateway.ps.0]\naddress = \"localhost:7001\"\n",
       "the gateway of task 0 of job 'ps' and task 0 of job 'worker' would both listen at "
       "localhost:7001; write an address for each, in [gateway.ps.0]"},
      {"[task.ps.0]\nbind = \"127.0.0.1:7001\"\n", "task 0 of job 'worker' and task 0 of job 'ps' "
                                                   "would both listen at 127.0.0.1:7001; write an "
                                                   "address for each, in [task.worker.0]"},
      {"[gateway.worker.0]\naddress = \"0.0.0.0:2222\"\n",
       "the gateway of task 0 of job 'worker' is reached at 0.0.0.0:2222, beyond this machine"},
      {"[gateway.wurker]\ncalls = 1\n", "names a job that is not in [cluster]"},
      {"[gateway.worker.7]\ncalls = 1\n", "job 'worker' has no task 7 in [cluster]"},
      {"[gateways]\ncalls = 1\n", "did you mean 'gateway'?"},
  };
  for (const Row& row : rows) {
    const std::string text =
        str_cat("[cluster]\nps = [\"127.0.0.1:7000\"]\nworker = [\"127.0.0.1:7001\"]\n", row.text);
    CAPTURE(text);
    CHECK_MESSAGE(errors_of(text).find(row.error) != std::string::npos, errors_of(text));
  }
}

TEST_CASE("node config: sizes as files and command lines have them") {
  CHECK(parse_config_size("512 MiB") == 512LL << 20);
  CHECK(parse_config_size("1.5GiB") == 3LL << 29);
  CHECK(parse_config_size(" 0 ") == 0);
  CHECK(parse_config_size("77") == 77);
  for (const char* text : {"", "-1", "GiB", "4 GB", "1e30 TiB", "nan MiB"})
    CHECK_FALSE(parse_config_size(text));
}

} // namespace
} // namespace troupe
