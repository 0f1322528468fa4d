#include "api/internal/session_impl.hpp"

#include <algorithm>

#include "api/internal/settings.hpp"
#include "api/scope.hpp"
#include "core/base/clock.hpp"
#include "core/base/machine.hpp"
#include "devices/factory.hpp"
#include "net/transport/log_guard.hpp"

namespace troupe {

std::chrono::nanoseconds Session::Impl::step_budget(std::int64_t timeout_ms) const {
  std::int64_t us =
      limit_us(timeout_ms > 0 ? timeout_ms : operation_timeout_ms, timeouts.step.count());
  return us > 0 ? std::chrono::microseconds(us) + timeouts.cancel + timeouts.request
                : timeouts.step;
}

Result<OpenSession> Session::Impl::prepare(const SessionOptions& options) {
  OpenSession request;
  TROUPE_ASSIGN(request.request.settings, settings_of(options, timeouts.step.count()));
  operation_timeout_ms = options.operation_timeout_ms;
  request.operation_timeout_us = request.request.settings.operation_timeout_us;
  // Without a time of its own a call ends when silence has been judged.
  timeouts.dial =
      options.operation_timeout_ms > 0
          ? std::min(std::chrono::milliseconds(options.operation_timeout_ms), timeouts.step)
          : timeouts.verdict();
  return request;
}

std::chrono::milliseconds Session::Impl::opening_budget() const {
  return timeouts.dial + 4 * timeouts.request + timeouts.compile;
}

Result<SessionCreated> Session::Impl::create(OpenSession request, std::chrono::milliseconds budget,
                                             const std::string& where) {
  return ask<SessionCreated>(std::move(request), budget,
                             str_cat("opening a session at '", where, "'"));
}

Status Session::Impl::open_on_node(OpenSession request, const std::string& where) {
  local = true;
  actor = node->system().spawn(session, node->shared_services(), node->handles().master,
                               node->handles().transport);
  std::chrono::milliseconds budget = opening_budget();
  if (request.timeout_us > 0)
    budget = std::chrono::milliseconds(request.timeout_us / 1000);
  TROUPE_ASSIGN(SessionCreated created, create(std::move(request), budget, where));
  handle = created.session_handle;
  master = created.session;
  direct = std::move(created.direct);
  return {};
}

void Session::Impl::end() {
  if (actor && !ended.exchange(true))
    (void)ask<caf::ok_atom>(CloseSession{}, timeouts.request, "closing");
}

Session::Impl::~Impl() {
  end();
  if (actor)
    stop(actor);
  actor = SessionActor{};
  master = MasterSessionActor{};
  idle.clear();
}

Status moved_from_session() {
  return failed_precondition("this Session was moved from; ask the one that it was moved to");
}

Session::Session(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&& other) noexcept {
  if (this != &other) {
    Session ending(std::move(*this));
    impl_ = std::move(other.impl_);
  }
  return *this;
}
Session::~Session() {
  if (impl_)
    impl_->end();
}

Result<Session> Session::open(const std::string& target, const SessionOptions& options) {
  LogGuard log_guard;
  auto impl = std::make_shared<Impl>();
  const bool own_process = target.empty() || target == "local";
  if (own_process) {
    NodeOptions node;
    node.compute_threads = options.intra_op_threads;
    node.memory_limit =
        options.memory_limit > 0 ? options.memory_limit : default_memory_limit(machine_memory());
    for (const DeviceFactory& factory : device_factories())
      if (auto it = options.device_count.find(std::string(factory.type));
          it != options.device_count.end())
        node.device_count[it->first] = it->second;
    OpenSession request;
    TROUPE_ASSIGN(request, impl->prepare(options));
    TROUPE_TRY(check_thread_pools(options));
    impl->num_thread_pools = options.thread_pools.size();
    request.request.settings.isolate_session_state = true; // variables of its own
    TROUPE_ASSIGN(impl->node,
                  options.per_session_threads ? own_local_node(node) : shared_local_node(node));
    TROUPE_TRY(impl->open_on_node(std::move(request), target));
    return Session(std::move(impl));
  }
  std::int64_t began_us = steady_micros();
  OpenSession request;
  TROUPE_ASSIGN(request, impl->prepare(options));
  TROUPE_TRY(refuse_own_threads(options));
  TROUPE_ASSIGN(Address address, Address::of_target(target));
  if (options.memory_limit > 0)
    return invalid_argument(str_cat("SessionOptions::memory_limit is for a session in this "
                                    "process; the tasks that '",
                                    target,
                                    "' leads to have theirs from their config file, "
                                    "memory-limit in [troupe]"));
  impl->client = shared_client_node();
  TROUPE_ASSIGN(GuardianActor guardian, impl->client->dial(address, impl->timeouts.dial));
  request.guardian = guardian;
  request.master = address;
  impl->actor = impl->client->system().spawn(session, impl->client->services(), MasterActor{},
                                             impl->client->transport());
  std::chrono::milliseconds budget = impl->opening_budget();
  if (options.operation_timeout_ms > 0) { // what dialling has left of it
    auto spent = std::chrono::milliseconds((steady_micros() - began_us) / 1000);
    auto left = std::chrono::milliseconds(options.operation_timeout_ms) - spent;
    budget = std::max(left, std::chrono::milliseconds(1));
    request.timeout_us = std::chrono::microseconds(budget).count();
  }
  TROUPE_ASSIGN(SessionCreated created, impl->create(std::move(request), budget, target));
  impl->handle = created.session_handle;
  return Session(std::move(impl));
}

Result<Session> Session::open(std::shared_ptr<ClusterNode> node, const SessionOptions& options) {
  LogGuard log_guard;
  if (!node)
    return invalid_argument("Session::open was given no node; start one with ClusterNode::start");
  if (options.memory_limit > 0)
    return invalid_argument(
        str_cat("SessionOptions::memory_limit is for a session with a node of its "
                "own; ",
                node->task(), " was started with NodeOptions::memory_limit"));
  auto impl = std::make_shared<Impl>();
  impl->timeouts = node->services().timeouts;
  TROUPE_TRY(refuse_own_threads(options));
  OpenSession request;
  TROUPE_ASSIGN(request, impl->prepare(options));
  impl->node = std::move(node);
  request.timeout_us = request.operation_timeout_us;
  request.request.timeout_us = request.timeout_us - request.timeout_us / 10; // names who is silent
  const std::string where = impl->node->task();
  TROUPE_TRY(impl->open_on_node(std::move(request), where));
  return Session(std::move(impl));
}

Status Session::extend(const Scope& scope) {
  if (!impl_)
    return moved_from_session();
  TROUPE_TRY(scope.status());
  std::scoped_lock guard(impl_->extending);
  auto& extended = impl_->extended;
  std::erase_if(extended, [](const auto& entry) { return entry.first.expired(); });
  auto known = std::find_if(extended.begin(), extended.end(),
                            [&](const auto& entry) { return entry.first.lock() == scope.graph(); });
  NodeId from = known == extended.end() ? 0 : known->second;
  NodeId to = scope.graph()->capacity();
  if (from == to)
    return {};
  TROUPE_ASSIGN(std::string bytes, scope.graph_def_from(from));
  TROUPE_TRY(extend_graph_def(bytes));
  if (known == extended.end())
    extended.emplace_back(scope.graph(), to);
  else
    known->second = to;
  return {};
}

Status Session::extend_graph_def(const std::string& bytes) {
  if (!impl_)
    return moved_from_session();
  return impl_->ask<GraphExtended>(ExtendGraph{bytes, -1}, impl_->timeouts.compile, "ExtendGraph")
      .status();
}

const std::string& Session::handle() const {
  static const std::string none;
  return impl_ ? impl_->handle : none;
}

ClusterNode* Session::local_node() const {
  return impl_ ? impl_->node.get() : nullptr;
}

Status Session::close() {
  if (!impl_)
    return moved_from_session();
  return impl_->ask<caf::ok_atom>(CloseSession{}, impl_->timeouts.request, "CloseSession").status();
}

} // namespace troupe
