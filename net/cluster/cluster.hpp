// The cluster as a config describes it: jobs, their tasks, and where each listens.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace troupe {

/// "host:port"; an IPv6 host in brackets.
struct Address {
  std::string host;
  std::uint16_t port = 0;
  /// INVALID_ARGUMENT with the form wanted. Who listens may let the system choose a port: then the
  /// lowest is 0.
  static Result<Address> parse(std::string_view text, std::uint16_t lowest_port = 1);
  /// The address of a target that is a node: "caf://host:port", or "host:port". INVALID_ARGUMENT
  /// with the forms of targets.
  static Result<Address> of_target(std::string_view target);
  std::string to_string() const;
  /// An address of 127.0.0.0/8, ::1 or "localhost"; no other name, wherever it leads.
  bool is_loopback() const;
  friend auto operator<=>(const Address&, const Address&) = default;
};

/// What two tasks compare to know whether they are of one cluster.
struct ClusterIdentity {
  std::string name;         ///< `cluster-name`; empty: none
  std::uint32_t tasks = 0;  ///< how many
  std::uint64_t digest = 0; ///< of name and tasks; 0: no cluster
  /// "cluster 'prod' (3 tasks, digest 00c0ffee00c0ffee)"
  std::string to_string() const;
};

/// Tasks by canonical name ("/job:worker/replica:0/task:1").
class Cluster {
public:
  /// ALREADY_EXISTS for a task or an address that is there already.
  Status add(std::string_view job, int task, Address address);
  /// NOT_FOUND naming the tasks that there are.
  Result<Address> address_of(std::string_view task) const;
  bool contains(std::string_view task) const { return tasks_.count(std::string(task)) > 0; }
  /// In order of name.
  std::vector<std::string> tasks() const;
  std::size_t size() const { return tasks_.size(); }
  /// How many tasks have addresses on the host of `address`; all of loopback's are one.
  int tasks_on_host_of(const Address& address) const;
  void set_name(std::string name) { name_ = std::move(name); }
  /// Each task may know a part of the cluster only, at hosts of its own naming, as TensorFlow's
  /// ClusterSpecs may have it: two tasks agree about each other alone.
  void set_partial() { is_partial_ = true; }
  bool is_partial() const { return is_partial_; }
  /// Two clusters are the same if their tasks and the tasks' addresses are. With a name, if names
  /// and tasks are: behind proxies each task may see the others at addresses of its own.
  ClusterIdentity identity() const;
  /// What `own` compares with what `peer` says. Of a partial cluster both must list both, with the
  /// ports that the other lists; of any other it is identity().
  ClusterIdentity identity_between(std::string_view own, std::string_view peer) const;

private:
  std::map<std::string, Address> tasks_;
  std::map<Address, std::string> by_address_;
  std::map<std::string, int> on_host_; // by host; loopback's by none
  std::string name_;
  bool is_partial_ = false;
  std::uint64_t digest_of_tasks_ = 0, digest_of_addresses_ = 0; // sums: in whatever order they come
};

} // namespace troupe
