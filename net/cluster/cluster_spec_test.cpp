#include "net/cluster/cluster_spec.hpp"

#include <doctest/doctest.h>

#include "core/base/strings.hpp"
#include "net/cluster/internal/json_value.hpp"

using namespace troupe;

namespace {

std::string described(std::string_view json) {
  auto cluster = parse_cluster_spec(json);
  if (!cluster.ok())
    return cluster.status().to_string();
  std::string out;
  for (const std::string& task : cluster->tasks())
    str_append(out, task, " ", *cluster->address_of(task), "\n");
  return out;
}

void has(const std::string& text, std::string_view part) {
  CHECK_MESSAGE(text.find(part) != text.npos, text, " lacks ", part);
}

} // namespace

TEST_CASE("cluster spec: two tasks agree if both know both, whatever else each knows") {
  const std::string a = "/job:ps/replica:0/task:0", b = "/job:worker/replica:0/task:1";
  auto whole = parse_cluster_spec(R"({"ps":["h:1"],"worker":["h:2","h:3"]})");
  auto part = parse_cluster_spec(R"({"ps":["h:1"],"worker":{"1":"localhost:3"}})");
  auto other = parse_cluster_spec(R"({"ps":["h:1"],"worker":{"1":"h:4"}})");
  auto without = parse_cluster_spec(R"({"ps":["h:1"]})");
  REQUIRE((whole.ok() && part.ok() && other.ok() && without.ok()));
  const auto digest = whole->identity_between(a, b).digest;
  CHECK(part->identity_between(b, a).digest == digest);
  CHECK(other->identity_between(b, a).digest != digest);
  CHECK(without->identity_between(a, b).digest != digest);
  CHECK(whole->identity().digest != part->identity().digest);
}

TEST_CASE("cluster spec: lists, and objects with the tasks' numbers") {
  CHECK(described(R"({"ps": ["h:1"], "worker": {"0": "h:2", "7": "[::1]:3"}})") ==
        "/job:ps/replica:0/task:0 h:1\n/job:worker/replica:0/task:0 h:2\n"
        "/job:worker/replica:0/task:7 [::1]:3\n");
  CHECK(described(" {\"a_1\"\n:\t[ \"\\u\" ] }").starts_with("INVALID_ARGUMENT: no JSON"));
  CHECK(parse_cluster_spec(R"({"ps":["h:1"],"w":["h:2"]})")->identity().digest ==
        parse_cluster_spec(R"({"w":{"0":"h:2"},"ps":{"0":"h:1"}})")->identity().digest);
}

TEST_CASE("cluster spec: what is wrong is named") {
  has(described(""), "at character 1 a value is missing");
  has(described("{\"a\": [\"h:1\"]"), "',' or '}' is missing");
  has(described("{\"a\": [\"h:1\"]} x"), "goes on after its value");
  has(described("{\"a\": [\"h:1]}"), "a text has no end");
  has(described("{\"a\": [], \"a\": []}"), "key \"a\" comes a second time");
  has(described("[]"), "a cluster is a JSON object of jobs");
  has(described("{}"), "the cluster has no task");
  has(described("{\"a\": []}"), "the cluster has no task");
  has(described("{\"a\": 3}"), "job a has neither");
  has(described("{\"a\": [3]}"), "the address of /job:a/task:0 is no text");
  has(described("{\"a\": [\"h\"]}"), "/job:a/task:0: 'h' is no address");
  has(described("{\"a\": {\"-1\": \"h:1\"}}"), "\"-1\" in job a is no task");
  has(described("{\"a/b\": [\"h:1\"]}"), "\"a/b\" is no job");
  has(described("{\"a\": [\"h:1\", \"h:1\"]}"), "is also that of");
  CHECK(parse_json(std::string(100, '[')).status().message().find("too deep") != std::string::npos);
  CHECK(parse_json(std::string(2 << 20, ' ')).status().message().find("longer than") !=
        std::string::npos);
  for (const char* text : {"nul", "{\"a\" 1}", "[1,]", "{,}", "\"\\", "\"\\x\"", "\"\n\"", "--1"})
    CHECK_MESSAGE(!parse_json(text).ok(), text);
}

TEST_CASE("cluster spec: TF_CONFIG names the task, too") {
  auto spec = parse_tf_config(
      R"({"cluster": {"ps": ["h:1"], "worker": ["h:2", "h:3"]}, "task": {"type": "worker", "index": 1},
          "environment": "cloud", "rest": [null, true, -1.5e3]})");
  REQUIRE(spec.ok());
  CHECK(spec->cluster.size() == 3);
  CHECK(spec->job == "worker");
  CHECK(spec->task == 1);
  CHECK(parse_tf_config(R"({"task": {"type": "chief", "index": "0"}})")->task == 0);
  CHECK(parse_tf_config("{}")->cluster.size() == 0);
  CHECK(parse_tf_config("{}")->task < 0);
  CHECK_FALSE(parse_tf_config("[]").ok());
  CHECK_FALSE(parse_tf_config(R"({"task": {"index": "x"}})").ok());
  CHECK_FALSE(parse_tf_config(R"({"cluster": {"ps": ["h"]}})").ok());
}

TEST_CASE("cluster spec: what is written of a task is read again") {
  ClusterSpec spec;
  REQUIRE(add_task(spec.cluster, "worker", 0, "a:1").ok());
  REQUIRE(add_task(spec.cluster, "worker", 3, "[::1]:2").ok());
  REQUIRE(add_task(spec.cluster, "ps", 0, "c:3").ok());
  spec.job = "worker";
  spec.task = 3;
  auto back = parse_tf_config(write_tf_config(spec));
  REQUIRE_MESSAGE(back.ok(), back.status().to_string());
  CHECK(back->cluster.tasks() == spec.cluster.tasks());
  for (const std::string& task : spec.cluster.tasks())
    CHECK(*back->cluster.address_of(task) == *spec.cluster.address_of(task));
  CHECK(back->job == "worker");
  CHECK(back->task == 3);
}

TEST_CASE("cluster spec: a task that a client made up is looked at") {
  Cluster cluster;
  CHECK(add_task(cluster, "a\"b", 0, "a:1").code() == Code::invalid_argument);
  CHECK(add_task(cluster, "a", -1, "a:1").code() == Code::invalid_argument);
  CHECK(add_task(cluster, "a", 0, "nowhere").code() == Code::invalid_argument);
  REQUIRE(add_task(cluster, "a", 0, "a:1").ok());
  CHECK(add_task(cluster, "a", 0, "b:1").code() == Code::already_exists);
}
