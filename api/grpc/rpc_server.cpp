#include "api/grpc/rpc_server.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include <grpc/support/log.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"

namespace troupe {

namespace {

constexpr std::size_t longest_message = 3072;

grpc::Status to_grpc(const Status& status) {
  if (status.ok())
    return grpc::Status::OK;
  std::string text = status.message();
  if (constexpr std::string_view cut = "… [truncated]"; text.size() > longest_message) {
    text.resize(longest_message - cut.size());
    text += cut;
  }
  return {static_cast<grpc::StatusCode>(status.code()), text};
}

// A buffer that keeps the string, so that large answers are not copied.
grpc::ByteBuffer to_buffer(std::string bytes) {
  constexpr std::size_t worth_keeping = 4096;
  grpc::Slice slice;
  if (bytes.size() < worth_keeping) {
    slice = grpc::Slice(bytes);
  } else {
    auto* kept = new std::string(std::move(bytes));
    slice = grpc::Slice(
        kept->data(), kept->size(), [](void* text) { delete static_cast<std::string*>(text); },
        kept);
  }
  return grpc::ByteBuffer(&slice, 1);
}

void append_to(std::string& out, const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok())
    return;
  out.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices)
    out.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
}

class Call;

// What the calls of one server share; outlives it while somebody holds a call.
struct Shared {
  std::string prefix; // "/tensorflow.MasterService/"
  RpcServer::Handler handler;
  std::int64_t max_calls = 0, max_pending = 0;
  std::atomic<std::int64_t> pending_bytes = 0, waiting = 0;

  std::mutex lock; // guards what follows
  bool stopping = false;
  std::unordered_set<Call*> calls; // that are not done
};

// gRPC's side of a call. gRPC holds it until it is done, and a Handle as long as somebody may answer.
class Call final : public grpc::ServerGenericBidiReactor,
                   public std::enable_shared_from_this<Call> {
public:
  Call(std::shared_ptr<Shared> shared, grpc::GenericCallbackServerContext* context)
      : shared_(std::move(shared)), context_(context), deadline_(context->deadline()) {
    const std::string& path = context->method();
    if (path.starts_with(shared_->prefix))
      method_ = path.substr(shared_->prefix.size());
  }

  // The first step; afterwards gRPC may call us.
  void begin() {
    self_ = shared_from_this();
    if (method_.empty())
      return end(unimplemented(
          str_cat("this server has ", shared_->prefix, "METHOD and not ", context_->method())));
    Status refusal;
    {
      std::scoped_lock guard(shared_->lock);
      if (shared_->stopping)
        refusal =
            unavailable("the server is about to end; try another task, or wait until it is back");
      else if (shared_->max_calls > 0 && shared_->waiting >= shared_->max_calls)
        refusal = resource_exhausted(str_cat("as many calls wait already as this server takes at "
                                             "once (",
                                             shared_->max_calls, "): max-calls in [gateway]"));
      else
        admit();
    }
    if (!refusal.ok())
      return end(refusal);
    StartRead(&buffer_);
  }

  void OnReadDone(bool ok) override;
  void OnCancel() override {
    std::function<void()> gone;
    {
      std::scoped_lock guard(lock_);
      if (std::exchange(ended_, true))
        return;
      is_gone_ = true;
      gone = std::exchange(when_gone_, nullptr);
    }
    release();
    Finish(grpc::Status::CANCELLED);
    if (gone)
      gone();
  }
  void OnDone() override {
    {
      std::scoped_lock guard(shared_->lock);
      shared_->calls.erase(this);
    }
    std::shared_ptr<Call> last = std::move(self_); // we may end with it
  }

  const std::string& method() const { return method_; }
  std::string& request() { return request_; }
  std::chrono::microseconds time_left(std::chrono::microseconds most) const {
    auto left = deadline_ - std::chrono::system_clock::now();
    return left < most ? std::max(std::chrono::duration_cast<std::chrono::microseconds>(left),
                                  std::chrono::microseconds(0))
                       : most;
  }
  void answer(std::string bytes) {
    if (!take_end())
      return;
    release();
    buffer_ = to_buffer(std::move(bytes));
    StartWriteAndFinish(&buffer_, grpc::WriteOptions(), grpc::Status::OK);
  }
  void end(const Status& status) {
    if (!take_end())
      return;
    release();
    Finish(to_grpc(status));
  }
  void when_gone(std::function<void()> gone) {
    {
      std::scoped_lock guard(lock_);
      if (!is_gone_) {
        if (!ended_)
          when_gone_ = std::move(gone);
        return;
      }
    }
    gone();
  }

private:
  bool take_end() {
    std::function<void()> dropped; // outside of the lock
    std::scoped_lock guard(lock_);
    dropped = std::exchange(when_gone_, nullptr);
    return !std::exchange(ended_, true);
  }
  void admit() { // with the lock of what is shared
    shared_->calls.insert(this);
    ++shared_->waiting;
    is_admitted_ = true;
  }
  // Once, when we end: what we took of the server's limits.
  void release() {
    shared_->pending_bytes -= counted_;
    if (is_admitted_)
      --shared_->waiting;
  }

  std::shared_ptr<Shared> shared_;
  grpc::GenericCallbackServerContext* context_;
  std::chrono::system_clock::time_point deadline_;
  std::string method_, request_;
  grpc::ByteBuffer buffer_;
  bool is_admitted_ = false;
  std::shared_ptr<Call> self_; // until gRPC is done with us

  std::mutex lock_; // guards what follows
  bool ended_ = false, is_gone_ = false;
  std::int64_t counted_ = 0; // bytes, until we end
  std::function<void()> when_gone_;
};

class Handle final : public RpcCall {
public:
  explicit Handle(std::shared_ptr<Call> call) : call_(std::move(call)) {}
  ~Handle() override { call_->end(unavailable("the task ended while the call waited")); }
  std::string_view method() const override { return call_->method(); }
  std::string& request() override { return call_->request(); }
  std::chrono::microseconds time_left(std::chrono::microseconds most) const override {
    return call_->time_left(most);
  }
  void answer(std::string bytes) override { call_->answer(std::move(bytes)); }
  void fail(const Status& status) override { call_->end(status); }
  void when_gone(std::function<void()> gone) override { call_->when_gone(std::move(gone)); }

private:
  std::shared_ptr<Call> call_;
};

void Call::OnReadDone(bool ok) {
  if (!ok)
    return end(invalid_argument(str_cat(method_, " came without a request")));
  append_to(request_, buffer_);
  buffer_.Clear();
  std::int64_t pending = 0;
  {
    std::scoped_lock guard(lock_);
    if (ended_)
      return; // the client went while we read
    counted_ = static_cast<std::int64_t>(request_.size());
    pending = shared_->pending_bytes += counted_;
  }
  if (shared_->max_pending > 0 && pending > shared_->max_pending)
    return end(
        resource_exhausted(str_cat("the requests that wait already and this ", method_, " take ",
                                   pending, " bytes, and this server takes ", shared_->max_pending,
                                   " at once: max-pending in [gateway]")));
  shared_->handler(std::make_shared<Handle>(shared_from_this()));
}

class Service final : public grpc::CallbackGenericService {
public:
  explicit Service(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  grpc::ServerGenericBidiReactor*
  CreateReactor(grpc::GenericCallbackServerContext* context) override {
    auto call = std::make_shared<Call>(shared_, context);
    call->begin();
    return call.get();
  }

private:
  std::shared_ptr<Shared> shared_;
};

void log_of_grpc(gpr_log_func_args* args) {
  if (args->severity == GPR_LOG_SEVERITY_ERROR)
    log_debug("gRPC: ", args->message);
}

} // namespace

struct RpcServer::Impl {
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  std::unique_ptr<Service> service;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
};

RpcServer::RpcServer() : impl_(std::make_unique<Impl>()) {}

Result<std::unique_ptr<RpcServer>> RpcServer::start(const RpcServerOptions& options,
                                                    Handler handler) {
  gpr_set_log_function(log_of_grpc);
  std::unique_ptr<RpcServer> out(new RpcServer);
  Impl& impl = *out->impl_;
  impl.shared->prefix = str_cat("/", options.service, "/");
  impl.shared->handler = std::move(handler);
  impl.shared->max_calls = options.max_calls;
  impl.shared->max_pending = options.max_pending;
  impl.service = std::make_unique<Service>(impl.shared);
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT,
                             0); // a second server must not share the port
  builder.SetMaxSendMessageSize(-1);
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(options.max_request > 0 ? std::min(options.max_request, most) : most));
  builder.AddListeningPort(options.address.to_string(), grpc::InsecureServerCredentials(),
                           &impl.port);
  builder.RegisterCallbackGenericService(impl.service.get());
  impl.server = builder.BuildAndStart();
  if (!impl.server || impl.port == 0)
    return unavailable(str_cat("cannot listen at ", options.address,
                               " for gRPC clients; `ss -ltnp` shows who has the port, and "
                               "`ip address` the addresses of this machine"));
  return out;
}

RpcServer::~RpcServer() {
  if (!impl_->server)
    return;
  std::vector<std::shared_ptr<Call>> waiting;
  {
    std::scoped_lock guard(impl_->shared->lock);
    impl_->shared->stopping = true;
    for (Call* call : impl_->shared->calls)
      if (auto held = call->weak_from_this().lock())
        waiting.push_back(std::move(held));
  }
  for (const auto& call : waiting)
    call->end(unavailable("the server ended while the call waited"));
  impl_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
}

std::uint16_t RpcServer::port() const {
  return static_cast<std::uint16_t>(impl_->port);
}

std::int64_t RpcServer::calls_waiting() const {
  return impl_->shared->waiting;
}

} // namespace troupe
