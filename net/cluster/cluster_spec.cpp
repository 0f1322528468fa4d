#include "net/cluster/cluster_spec.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/base/device_name.hpp"
#include "core/base/strings.hpp"
#include "net/cluster/internal/json_value.hpp"

namespace troupe {

namespace {

using Kind = JsonValue::Kind;
constexpr std::int64_t most_tasks = 1'000'000;

// TensorFlow's own rule for jobs.
bool is_job(std::string_view name) {
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

Status check_job(std::string_view name) {
  if (is_job(name))
    return {};
  return invalid_argument(str_cat(str_quote(name),
                                  " is no job: its name begins with a letter and has letters, "
                                  "digits and '_' only"));
}

Status add_task(Cluster& cluster, const std::string& job, std::int64_t task,
                const JsonValue& value) {
  if (value.kind != Kind::text)
    return invalid_argument(
        str_cat("the address of /job:", job, "/task:", task, " is no text; write \"host:port\""));
  return troupe::add_task(cluster, job, task, value.text);
}

Result<Cluster> cluster_of(const JsonValue& value) {
  if (value.kind != Kind::map)
    return invalid_argument("a cluster is a JSON object of jobs, such as {\"worker\": "
                            "[\"host0:2222\", \"host1:2222\"]}");
  Cluster out;
  for (const auto& [job, tasks] : value.map) {
    TROUPE_TRY(check_job(job));
    if (tasks.kind == Kind::list) {
      for (std::size_t i = 0; i < tasks.list.size(); ++i)
        TROUPE_TRY(add_task(out, job, static_cast<std::int64_t>(i), tasks.list[i]));
    } else if (tasks.kind == Kind::map) {
      for (const auto& [number, address] : tasks.map) {
        auto task = parse_int(number);
        if (!task || *task < 0 || *task > most_tasks)
          return invalid_argument(str_cat(str_quote(number), " in job ", job,
                                          " is no task; tasks have numbers from 0 on"));
        TROUPE_TRY(add_task(out, job, *task, address));
      }
    } else {
      return invalid_argument(str_cat("job ", job,
                                      " has neither a list of addresses nor an object of tasks and "
                                      "addresses"));
    }
  }
  if (out.size() == 0)
    return invalid_argument("the cluster has no task");
  return out;
}

} // namespace

Status add_task(Cluster& cluster, std::string_view job, std::int64_t task,
                std::string_view address) {
  TROUPE_TRY(check_job(job));
  if (task < 0 || task > most_tasks)
    return invalid_argument(
        str_cat(task, " in job ", job, " is no task; tasks have numbers from 0 on"));
  auto read = Address::parse(address);
  if (!read.ok())
    return read.status().with_context(str_cat("/job:", job, "/task:", task));
  cluster.set_partial(); // clients may write each task's otherwise
  return cluster.add(job, static_cast<int>(task), *std::move(read));
}

std::string write_tf_config(const ClusterSpec& spec) {
  std::map<std::string, std::string> jobs;
  for (const std::string& task : spec.cluster.tasks()) {
    const DeviceName name = *DeviceName::parse(task);
    std::string& tasks = jobs[*name.job];
    str_append(tasks, tasks.empty() ? "" : ",", "\"", *name.task, "\":\"",
               spec.cluster.address_of(task)->to_string(), "\"");
  }
  std::string out = "{\"cluster\":{";
  for (const auto& [job, tasks] : jobs)
    str_append(out, out.ends_with('{') ? "" : ",", "\"", job, "\":{", tasks, "}");
  str_append(out, "},\"task\":{\"type\":\"", spec.job, "\",\"index\":", spec.task, "}}");
  return out;
}

Result<Cluster> parse_cluster_spec(std::string_view json) {
  TROUPE_ASSIGN(const JsonValue value, parse_json(json));
  return cluster_of(value);
}

Result<ClusterSpec> parse_tf_config(std::string_view json) {
  TROUPE_ASSIGN(const JsonValue value, parse_json(json));
  if (value.kind != Kind::map)
    return invalid_argument("TF_CONFIG is a JSON object with \"cluster\" and \"task\"");
  ClusterSpec out;
  if (const JsonValue* cluster = value.find("cluster"); cluster && !cluster->map.empty()) {
    TROUPE_ASSIGN(out.cluster, cluster_of(*cluster));
  }
  const JsonValue* task = value.find("task");
  if (!task)
    return out;
  if (const JsonValue* type = task->find("type"); type && type->kind == Kind::text)
    out.job = type->text;
  if (const JsonValue* index = task->find("index")) { // a number, or one within quotes
    auto number = parse_int(index->text);
    if (!number || *number < 0 || *number > most_tasks)
      return invalid_argument("the task's \"index\" in TF_CONFIG is no number from 0 on");
    out.task = static_cast<int>(*number);
  }
  return out;
}

} // namespace troupe
