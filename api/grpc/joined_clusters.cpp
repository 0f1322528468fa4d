#include "api/grpc/joined_clusters.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>

#include "actors/node/handles.hpp"
#include "actors/node/node.hpp"
#include "api/grpc/node_address.hpp"
#include "core/base/device_name.hpp"
#include "core/base/log.hpp"
#include "core/base/no_thread.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "net/transport/log_guard.hpp"

namespace troupe {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds look_every{5};

/// Whether somebody uses a node: a session of its master, or its part of another master's.
bool is_used(ClusterNode& node) {
  caf::scoped_actor self{node.system()};
  bool used = true; // if it does not answer now, it is asked again
  self->request(node.handles().guardian, caf::timespan(std::chrono::seconds(5)), GetActors{})
      .receive(
          [&](const ActorTree& tree) {
            used = std::ranges::any_of(tree.actors, [](const ActorInfo& actor) {
              return actor.path.find("/session-") != std::string::npos;
            });
          },
          [](caf::error&) {});
  return used;
}

} // namespace

struct JoinedClusters::Impl {
  struct Member {
    std::unique_ptr<ClusterNode> node;
    GatewayActor gateway;
    bool keeps_state = false;
    Clock::time_point used; ///< the last time that it was
    Counted counted{counter("joined_clusters")};
    ~Member() {
      gateway = GatewayActor{};
      node.reset();
    }
  };
  struct Request {
    ClusterSpec spec;
    bool keeps_state = false;
    Done done;
  };

  NodeOptions base; ///< of the node that was started
  std::string listen_host;
  std::shared_ptr<SessionTable> sessions;
  GatewayLimits limits;

  std::mutex lock; // guards what follows
  std::condition_variable changed;
  std::deque<Request> requests;
  bool stopping = false;

  std::mutex members_lock; // guards what follows; changed by `thread` alone
  std::map<std::string, std::unique_ptr<Member>>
      members; // by the cluster and task that they are of
  std::thread thread;

  void run() {
    std::unique_lock guard(lock);
    while (!stopping) {
      if (requests.empty()) {
        changed.wait_for(guard, look_every);
        if (requests.empty() && !stopping) {
          guard.unlock();
          end_unused();
          guard.lock();
        }
        continue;
      }
      Request request = std::move(requests.front());
      requests.pop_front();
      guard.unlock();
      auto joined = join(request);
      request.done(std::move(joined));
      guard.lock();
    }
  }

  Result<Joined> join(const Request& request) {
    const std::string key = write_tf_config(request.spec);
    auto found = members.find(key);
    if (found != members.end() && found->second->node->wait_for(std::chrono::milliseconds(0))) {
      erase(found); // it has ended by itself
      found = members.end();
    }
    if (found == members.end()) {
      if (members.size() >= max_joined_clusters)
        TROUPE_TRY(make_room());
      TROUPE_ASSIGN(auto member, start(request.spec, key));
      std::scoped_lock guard(members_lock);
      found = members.emplace(key, std::move(member)).first;
    }
    Member& member = *found->second;
    member.used = Clock::now();
    member.keeps_state |= request.keeps_state;
    return Joined{member.node->port(), member.gateway};
  }

  Result<std::unique_ptr<Member>> start(const ClusterSpec& spec, const std::string& tf_config) {
    NodeOptions options = base;
    options.cluster = spec.cluster;
    options.job = spec.job;
    options.task = spec.task;
    options.listen = Address{listen_host, 0};
    options.find_address = [cluster = spec.cluster](const Address& listed,
                                                    std::chrono::milliseconds budget,
                                                    const StopEvent* stop) -> Result<Address> {
      for (const std::string& task : cluster.tasks())
        if (*cluster.address_of(task) == listed) {
          const DeviceName name = *DeviceName::parse(task);
          return ask_to_join(listed, write_tf_config({cluster, *name.job, *name.task}), budget,
                             stop);
        }
      return not_found(str_cat(listed, " is of no task of the cluster that a client has sent"));
    };
    auto member = std::make_unique<Member>();
    TROUPE_ASSIGN(member->node, ClusterNode::start(options));
    ClusterNode& node = *member->node;
    GatewayLimits of_member = limits;
    of_member.splits_devices = true;
    member->gateway = node.system().spawn(gateway, Services(node.shared_services()),
                                          node.handles().master, sessions, of_member);
    TROUPE_TRY(node.adopt("gateway", member->gateway));
    log_info("runs as ", node.task(), " of a cluster that a client has sent: ", tf_config);
    return member;
  }

  void erase(std::map<std::string, std::unique_ptr<Member>>::iterator member) {
    std::unique_ptr<Member> last;
    std::scoped_lock guard(members_lock);
    last = std::move(member->second);
    members.erase(member);
  }

  // Of those that only keep their variables, the one that was not used for longest goes.
  Status make_room() {
    auto oldest = members.end();
    for (auto member = members.begin(); member != members.end(); ++member)
      if (!is_used(*member->second->node) &&
          (oldest == members.end() || member->second->used < oldest->second->used))
        oldest = member;
    if (oldest == members.end())
      return resource_exhausted(str_cat("this task is in ", max_joined_clusters,
                                        " clusters that clients have sent, and sessions use all of "
                                        "them; close some"));
    erase(oldest);
    return {};
  }

  void end_unused() {
    for (auto member = members.begin(); member != members.end();) {
      auto next = std::next(member);
      if (is_used(*member->second->node))
        member->second->used = Clock::now();
      else if (!member->second->keeps_state &&
               Clock::now() - member->second->used > joined_cluster_stays)
        erase(member);
      member = next;
    }
  }
};

JoinedClusters::JoinedClusters(const ClusterNode& node, std::string listen_host,
                               std::shared_ptr<SessionTable> sessions, GatewayLimits limits)
    : impl_(std::make_shared<Impl>()) {
  impl_->base = node.options();
  impl_->listen_host = std::move(listen_host);
  impl_->sessions = std::move(sessions);
  impl_->limits = limits;
}

JoinedClusters::~JoinedClusters() {
  {
    std::scoped_lock guard(impl_->lock);
    impl_->stopping = true;
    impl_->changed.notify_all();
  }
  if (impl_->thread.joinable())
    impl_->thread.join();
  for (auto& request : impl_->requests)
    request.done(
        unavailable("the task is about to end; try another one, or wait until it is back"));
  shut_down("its task is about to end", std::chrono::milliseconds(0));
  impl_->members.clear();
}

void JoinedClusters::join(ClusterSpec spec, bool keeps_state, Done done) {
  std::unique_lock guard(impl_->lock);
  if (!impl_->thread.joinable()) { // most servers never need it
    try {
      impl_->thread = std::thread([impl = impl_.get()] {
        LogGuard log_guard;
        impl->run();
      });
    } catch (const std::system_error& refused) {
      guard.unlock();
      return done(no_thread(refused, "for clusters that clients send"));
    }
  }
  impl_->requests.push_back({std::move(spec), keeps_state, std::move(done)});
  impl_->changed.notify_all();
}

void JoinedClusters::shut_down(const std::string& reason, std::chrono::milliseconds grace) {
  std::scoped_lock guard(impl_->members_lock);
  for (auto& [key, member] : impl_->members)
    member->node->shut_down(reason, grace);
}

Result<ClusterSpec> find_own_task(const std::vector<ClusterTask>& told, const std::string& target,
                                  const std::string& own_task) {
  constexpr std::string_view scheme = "grpc://";
  const std::string_view address =
      target.starts_with(scheme) ? std::string_view(target).substr(scheme.size()) : target;
  ClusterSpec out;
  std::string all; // of them, for errors
  for (const ClusterTask& task : told)
    str_append(all, all.empty() ? "" : ", ", "/job:", task.job, "/task:", task.task, " at ",
               task.address);
  for (const ClusterTask& task : told) {
    if (task.address != address)
      continue;
    if (out.task >= 0)
      return invalid_argument(
          str_cat("Found multiple matching tasks that correspond to to the master. "
                  "Master target: '",
                  target, "'. ClusterDef: ", all));
    out.job = task.job;
    out.task = task.task;
  }
  if (out.task < 0)
    return invalid_argument(str_cat("The master (current machine) is not included in the provided "
                                    "cluster_def. ",
                                    all));
  if (task_name(out.job, out.task) == own_task)
    return invalid_argument(
        str_cat("The ClusterSpec names the job and task index to be the same names "
                "that were provided when the server booted. This is currently not "
                "allowed. Job: ",
                out.job, ", task index: ", out.task));
  for (const ClusterTask& task : told)
    TROUPE_TRY(add_task(out.cluster, task.job, task.task, task.address));
  return out;
}

} // namespace troupe
