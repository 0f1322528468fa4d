#include "api/grpc/rpc_server.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include <grpc/support/log.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "api/grpc/grpc_library.hpp"
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

// A slice that keeps the piece, so that what is large is not copied.
grpc::Slice to_slice(AnswerBytes::Piece piece) {
  constexpr std::size_t worth_keeping = 4096;
  if (piece.bytes().size() < worth_keeping)
    return grpc::Slice(piece.bytes().data(), piece.bytes().size());
  using Piece = AnswerBytes::Piece;
  auto* kept = new Piece(std::move(piece));
  // gRPC only reads them.
  return {const_cast<char*>(kept->bytes().data()), kept->bytes().size(),
          [](void* held) { delete static_cast<Piece*>(held); }, kept};
}

grpc::ByteBuffer to_buffer(AnswerBytes bytes) {
  std::vector<grpc::Slice> slices;
  for (AnswerBytes::Piece& piece : bytes.pieces())
    slices.push_back(to_slice(std::move(piece)));
  if (slices.empty()) // an empty message is one, too
    slices.emplace_back();
  return {slices.data(), slices.size()};
}

// The memory of a thread's last large request. The system gives new memory page by page, which
// takes longer than copying the request into it.
class SpareMemory {
public:
  // Empty, and with room for so many bytes if there is some to spare.
  std::string take(std::size_t bytes) {
    const bool fits = bytes >= least && bytes <= spare_.capacity();
    idle_ = fits ? 0 : idle_ + 1;
    if (idle_ > patience)
      std::string().swap(spare_);
    return fits ? std::move(spare_) : std::string();
  }
  void give(std::string bytes) {
    if (bytes.capacity() >= least && bytes.capacity() <= most &&
        bytes.capacity() > spare_.capacity()) {
      bytes.clear();
      spare_ = std::move(bytes);
    }
  }

private:
  static constexpr std::size_t least = 256 << 10, most = 96 << 20;
  static constexpr int patience = 1000; // requests that it was of no use to
  std::string spare_;
  int idle_ = 0;
};
thread_local SpareMemory t_spare;

void append_to(std::string& out, const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok())
    return;
  out = t_spare.take(buffer.Length());
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
  std::map<std::string, std::string> constants;
  std::vector<std::string> others;
  std::atomic<std::int64_t> pending_bytes = 0, waiting = 0;

  // gRPC's; used by calls that are not done, and none is once the server has ended.
  grpc::AsyncGenericService service;
  std::unique_ptr<grpc::ServerCompletionQueue> queue;

  std::mutex lock;                 // guards what follows
  bool stopping = false;           // takes no more calls
  bool closed = false;             // the queue takes nothing more
  std::unordered_set<Call*> calls; // that wait
};

// gRPC's side of a call: what it has begun there comes back from the queue as a tag.
//
//   accept ─▶ arrived ─▶ read ─▶ waits ── answer, end ──▶ finished
//                                  └── the client has gone ──▶ ended, told to `when_gone`
//
// It holds itself while a tag is to come back, and a Handle holds it as long as somebody may
// answer.
class Call final : public std::enable_shared_from_this<Call> {
public:
  explicit Call(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  // Takes the next call that comes. With the lock of what is shared, unless the server is stopping.
  static void accept(const std::shared_ptr<Shared>& shared) {
    auto call = std::make_shared<Call>(shared);
    call->self_ = call;
    call->begun_ = 2; // `arrived`, and `done`, which another thread may see first
    call->context_.AsyncNotifyWhenDone(&call->done_);
    shared->service.RequestCall(&call->context_, &call->stream_, shared->queue.get(),
                                shared->queue.get(), &call->arrived_);
  }

  struct Tag {
    void (Call::*come)(bool ok);
    Call* call;
  };
  // On one of the server's threads.
  static void come(void* tag, bool ok) {
    auto [step, call] = *static_cast<Tag*>(tag);
    (call->*step)(ok);
    if (--call->begun_ == 0)
      std::shared_ptr<Call> last = std::move(call->self_); // it may end with this
  }

  // Neither it nor its server has ended.
  bool waits() {
    std::scoped_lock own_guard(lock_);
    if (ended_)
      return false;
    std::scoped_lock guard(shared_->lock);
    return !shared_->stopping;
  }
  const std::string& method() const { return method_; }
  std::string& request() { return request_; }
  void drop_request() {
    t_spare.give(std::move(request_));
    request_.clear();
  }
  std::chrono::microseconds time_left(std::chrono::microseconds most) const {
    auto left = context_.deadline() - std::chrono::system_clock::now();
    return left < most ? std::max(std::chrono::duration_cast<std::chrono::microseconds>(left),
                                  std::chrono::microseconds(0))
                       : most;
  }
  void answer(AnswerBytes bytes) {
    finish([&] {
      buffer_ = to_buffer(std::move(bytes));
      stream_.WriteAndFinish(buffer_, grpc::WriteOptions(), grpc::Status::OK, &finished_);
    });
  }
  void end(const Status& status) {
    finish([&] { stream_.Finish(to_grpc(status), &finished_); });
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
  void arrived(bool ok) {
    if (!ok) {  // the server ends
      --begun_; // a call that never came is not told to be done
      return;
    }
    {
      std::scoped_lock guard(shared_->lock);
      if (!shared_->stopping)
        accept(shared_);
    }
    if (const std::string& path = context_.method(); path.starts_with(shared_->prefix))
      method_ = path.substr(shared_->prefix.size());
    else if (std::ranges::find(shared_->others, path) != shared_->others.end())
      method_ = path;
    if (auto constant = shared_->constants.find(context_.method());
        constant != shared_->constants.end())
      return answer(constant->second);
    if (Status refusal = admit(); !refusal.ok())
      return end(refusal);
    begin_at_gRPC([&] { stream_.Read(&buffer_, &read_); });
  }

  // Counts a call that is still there: `release` takes it off when it ends.
  Status admit() {
    if (method_.empty())
      return unimplemented(
          str_cat("this server has ", shared_->prefix, "METHOD and not ", context_.method()));
    std::scoped_lock own_guard(lock_);
    if (ended_)
      return {};
    std::scoped_lock guard(shared_->lock);
    if (shared_->stopping)
      return unavailable("the server is about to end; try another task, or wait until it is back");
    if (shared_->max_calls > 0 && shared_->waiting >= shared_->max_calls)
      return resource_exhausted(str_cat("as many calls wait already as this server takes at once (",
                                        shared_->max_calls, "); send it again later"));
    shared_->calls.insert(this);
    ++shared_->waiting;
    is_admitted_ = true;
    return {};
  }

  void was_read(bool ok);

  // The last that gRPC says of a call: it was answered, or the client has gone.
  void done(bool) {
    std::function<void()> gone;
    {
      std::scoped_lock guard(lock_);
      if (std::exchange(ended_, true))
        return;
      is_gone_ = true;
      gone = std::exchange(when_gone_, nullptr);
    }
    release();
    if (gone)
      gone();
  }
  void was_finished(bool) {}

  // The first end counts. `begin` starts it at gRPC. A client that has its answer finds what the
  // call took of the limits given back.
  template <class F>
  void finish(F begin) {
    std::function<void()> dropped; // outside of the lock
    std::scoped_lock guard(lock_);
    if (std::exchange(ended_, true))
      return;
    dropped = std::exchange(when_gone_, nullptr);
    release();
    begin_at_gRPC(begin);
  }
  template <class F>
  void begin_at_gRPC(F begin) {
    std::scoped_lock guard(shared_->lock);
    if (shared_->closed)
      return;
    ++begun_;
    begin();
  }
  // Once, when we have ended: what we took of the server's limits, which nobody changes any more.
  void release() {
    shared_->pending_bytes -= counted_;
    if (!is_admitted_)
      return;
    --shared_->waiting;
    std::scoped_lock guard(shared_->lock);
    shared_->calls.erase(this);
  }

  std::shared_ptr<Shared> shared_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  Tag arrived_{&Call::arrived, this}, read_{&Call::was_read, this}, done_{&Call::done, this},
      finished_{&Call::was_finished, this};
  std::string method_, request_;
  grpc::ByteBuffer buffer_;
  std::shared_ptr<Call> self_; // until every tag has come back
  std::atomic<int> begun_ = 0; // tags that are to come back

  std::mutex lock_; // guards what follows
  bool is_admitted_ = false;
  bool ended_ = false, is_gone_ = false;
  std::int64_t counted_ = 0; // bytes, until we end
  std::function<void()> when_gone_;
};

class Handle final : public RpcCall {
public:
  explicit Handle(std::shared_ptr<Call> call) : call_(std::move(call)) {}
  ~Handle() override {
    if (dropped_ && call_->waits())
      dropped_(*this);
    call_->end(unavailable("the task ended while the call waited"));
  }
  std::string_view method() const override { return call_->method(); }
  std::string& request() override { return call_->request(); }
  void drop_request() override { call_->drop_request(); }
  std::chrono::microseconds time_left(std::chrono::microseconds most) const override {
    return call_->time_left(most);
  }
  void answer(AnswerBytes bytes) override { call_->answer(std::move(bytes)); }
  void fail(const Status& status) override { call_->end(status); }
  void when_gone(std::function<void()> gone) override { call_->when_gone(std::move(gone)); }
  void when_dropped(std::function<void(RpcCall&)> dropped) override {
    dropped_ = std::move(dropped);
  }

private:
  std::shared_ptr<Call> call_;
  std::function<void(RpcCall&)> dropped_;
};

void Call::was_read(bool ok) {
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
    return end(resource_exhausted(str_cat("the requests that wait already and this ", method_,
                                          " take ", pending, " bytes, and this server takes ",
                                          shared_->max_pending, " at once; send it again later")));
  shared_->handler(std::make_shared<Handle>(shared_from_this()));
}

void log_of_grpc(gpr_log_func_args* args) {
  if (args->severity == GPR_LOG_SEVERITY_ERROR)
    log_debug("gRPC: ", args->message);
}

} // namespace

struct RpcServer::Impl {
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  std::unique_ptr<grpc::Server> server;
  std::vector<std::thread> threads; // of the queue
  int port = 0;

  void start_threads() {
    for (int i = 0; i < num_threads; ++i) {
      Call::accept(shared);
      threads.emplace_back([queue = shared->queue.get()] {
        void* tag = nullptr;
        for (bool ok = false; queue->Next(&tag, &ok);)
          Call::come(tag, ok);
      });
    }
  }
};

RpcServer::RpcServer() : impl_(std::make_unique<Impl>()) {}

Result<std::unique_ptr<RpcServer>> RpcServer::start(const RpcServerOptions& options,
                                                    Handler handler) {
  gpr_set_log_function(log_of_grpc);
  keep_grpc_library();
  std::unique_ptr<RpcServer> out(new RpcServer);
  Impl& impl = *out->impl_;
  impl.shared->prefix = str_cat("/", options.service, "/");
  impl.shared->handler = std::move(handler);
  impl.shared->max_calls = options.max_calls;
  impl.shared->max_pending = options.max_pending;
  impl.shared->constants = options.constants;
  impl.shared->others = options.others;
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT,
                             0); // a second server must not share the port
  // A connection that says nothing would hold its descriptor for gRPC's two minutes.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder.SetMaxSendMessageSize(-1);
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(options.max_request > 0 ? std::min(options.max_request, most) : most));
  builder.AddListeningPort(options.address.to_string(), grpc::InsecureServerCredentials(),
                           &impl.port);
  builder.RegisterAsyncGenericService(&impl.shared->service);
  impl.shared->queue = builder.AddCompletionQueue();
  impl.server = builder.BuildAndStart();
  if (!impl.server || impl.port == 0)
    return unavailable(str_cat("cannot listen at ", options.address,
                               " for gRPC clients; `ss -ltnp` shows who has the port, and "
                               "`ip address` the addresses of this machine"));
  impl.start_threads();
  return out;
}

RpcServer::~RpcServer() {
  Impl& impl = *impl_;
  std::vector<std::shared_ptr<Call>> waiting;
  {
    std::scoped_lock guard(impl.shared->lock);
    impl.shared->stopping = true;
    for (Call* call : impl.shared->calls)
      if (auto held = call->weak_from_this().lock())
        waiting.push_back(std::move(held));
  }
  for (const auto& call : waiting)
    call->end(unavailable("the server ended while the call waited"));
  if (impl.server)
    impl.server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  if (!impl.shared->queue)
    return;
  {
    std::scoped_lock guard(impl.shared->lock);
    impl.shared->closed = true;
    impl.shared->queue->Shutdown();
  }
  for (std::thread& thread : impl.threads)
    thread.join();
  if (impl.threads.empty()) { // it never listened
    void* tag = nullptr;
    for (bool ok = false; impl.shared->queue->Next(&tag, &ok);) {
    }
  }
}

std::uint16_t RpcServer::port() const {
  return static_cast<std::uint16_t>(impl_->port);
}

std::int64_t RpcServer::calls_waiting() const {
  return impl_->shared->waiting;
}

} // namespace troupe
