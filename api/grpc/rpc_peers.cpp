#include "api/grpc/rpc_peers.hpp"

#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

#include "api/grpc/grpc_library.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

/// Servers close the connection of whoever asks more often than every five minutes whether they
/// live.
constexpr int ask_if_alive_ms = 310'000, answer_within_ms = 20'000;
/// A peer that starts again is found so soon.
constexpr int longest_pause_ms = 1000;

std::shared_ptr<grpc::Channel> peer_channel(const Address& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, longest_pause_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ask_if_alive_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, answer_within_ms);
  arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
  arguments.SetMaxSendMessageSize(-1);
  return grpc::CreateCustomChannel(address.to_string(), grpc::InsecureChannelCredentials(),
                                   arguments);
}

std::string text_of(const grpc::ByteBuffer& buffer) {
  std::string out;
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok())
    return out;
  out.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices)
    out.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return out;
}

Status to_status(const grpc::Status& status) {
  const int code = status.error_code();
  const Status out(code > 0 && code <= static_cast<int>(Code::unauthenticated)
                       ? static_cast<Code>(code)
                       : Code::unknown,
                   status.error_message());
  return status.error_details().find("tensorflow.DerivedStatus") == std::string::npos
             ? out
             : out.as_derived();
}

struct PeerCall {
  std::uint64_t number = 0;
  RpcPeers::Done done;
  grpc::ClientContext context;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  grpc::ByteBuffer answer;
  grpc::Status status;
};

} // namespace

struct RpcPeers::Impl {
  std::mutex lock; // guards what follows
  bool ended = false;
  std::uint64_t last_number = 0;
  std::map<Address, std::shared_ptr<grpc::Channel>> channels;
  std::map<std::uint64_t, std::unique_ptr<PeerCall>> calls; // under way

  grpc::CompletionQueue queue;
  std::thread thread;

  void run() {
    void* tag = nullptr;
    for (bool ok = false; queue.Next(&tag, &ok);) {
      std::unique_ptr<PeerCall> call;
      {
        std::scoped_lock guard(lock);
        auto found = calls.extract(static_cast<PeerCall*>(tag)->number);
        call = std::move(found.mapped());
      }
      if (call->status.ok())
        call->done(text_of(call->answer));
      else
        call->done(to_status(call->status));
    }
  }
};

RpcPeers::RpcPeers() : impl_((keep_grpc_library(), std::make_shared<Impl>())) {
  impl_->thread = std::thread([impl = impl_] { impl->run(); });
}

RpcPeers::~RpcPeers() {
  shut_down();
}

std::uint64_t RpcPeers::start(const Address& address, const std::string& path,
                              const std::string& request, std::chrono::milliseconds budget,
                              Done done, Absent absent) {
  auto owned = std::make_unique<PeerCall>();
  PeerCall& call = *owned;
  call.context.set_wait_for_ready(absent == Absent::waits);
  call.context.set_deadline(std::chrono::system_clock::now() + budget);
  const grpc::Slice bytes(request);
  const grpc::ByteBuffer buffer(&bytes, 1);
  {
    std::scoped_lock guard(impl_->lock);
    if (!impl_->ended) {
      call.done = std::move(done);
      call.number = ++impl_->last_number;
      std::shared_ptr<grpc::Channel>& channel = impl_->channels[address];
      if (!channel)
        channel = peer_channel(address);
      grpc::GenericStub stub(channel);
      call.reader = stub.PrepareUnaryCall(&call.context, path, buffer, &impl_->queue);
      call.reader->StartCall();
      impl_->calls.emplace(call.number, std::move(owned));
      call.reader->Finish(&call.answer, &call.status, &call); // it comes when we let go of the lock
      return call.number;
    }
  }
  done(unavailable("the task is about to end, and calls no other task any more"));
  return 0;
}

void RpcPeers::cancel(std::uint64_t number) {
  std::scoped_lock guard(impl_->lock);
  if (auto call = impl_->calls.find(number); call != impl_->calls.end())
    call->second->context.TryCancel();
}

void RpcPeers::shut_down() {
  {
    std::scoped_lock guard(impl_->lock);
    if (std::exchange(impl_->ended, true))
      return;
    for (auto& [number, call] : impl_->calls)
      call->context.TryCancel();
    impl_->queue.Shutdown(); // it gives what is under way before
  }
  // The last user may be a `done`: what it stands on stays until the thread ends.
  if (impl_->thread.get_id() == std::this_thread::get_id())
    impl_->thread.detach();
  else
    impl_->thread.join();
}

} // namespace troupe
