#include "api/grpc/joined_clusters.hpp"

#include <doctest/doctest.h>

using namespace troupe;

namespace {

const std::string own = "/job:local/replica:0/task:0";

Result<ClusterSpec> find(const std::vector<ClusterTask>& told,
                         const std::string& target = "grpc://h:1") {
  return find_own_task(told, target, own);
}

} // namespace

TEST_CASE("joined clusters: a server is the task that has its address, as the client writes it") {
  auto spec = find({{"worker", 0, "a:1"}, {"worker", 3, "h:1"}, {"ps", 0, "b:1"}});
  REQUIRE_MESSAGE(spec.ok(), spec.status().to_string());
  CHECK(spec->job == "worker");
  CHECK(spec->task == 3);
  CHECK(spec->cluster.size() == 3);
  CHECK(find({{"worker", 0, "h:1"}}, "h:1").ok());
  // The other tasks are told of the cluster in writing, and agree with this one.
  const std::string ps = task_name("ps", 0), worker = task_name("worker", 3);
  auto told = parse_tf_config(write_tf_config({spec->cluster, "ps", 0}));
  REQUIRE_MESSAGE(told.ok(), told.status().to_string());
  CHECK(told->cluster.identity_between(ps, worker).digest ==
        spec->cluster.identity_between(worker, ps).digest);
}

TEST_CASE("joined clusters: one without the server, with it twice, or as what it is already") {
  auto refused = [](const Result<ClusterSpec>& spec, std::string_view begin) {
    CHECK(spec.status().code() == Code::invalid_argument);
    CHECK_MESSAGE(spec.status().message().find(begin) == 0, spec.status().message());
  };
  refused(find({{"worker", 0, "a:1"}}), "The master (current machine) is not included");
  refused(find({}), "The master (current machine) is not included");
  refused(find({{"worker", 0, "h:1"}, {"worker", 1, "h:1"}}), "Found multiple matching tasks");
  refused(find({{"local", 0, "h:1"}}),
          "The ClusterSpec names the job and task index to be the same");
  refused(find({{"worker", 0, "h:1"}, {"w x", 0, "a:1"}}), "");
  CHECK(find({{"worker", 0, "h:1"}, {"worker", 1, "a:1"}, {"worker", 2, "a:1"}}).status().code() ==
        Code::already_exists);
}
