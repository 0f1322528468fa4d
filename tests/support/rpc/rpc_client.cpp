#include "tests/support/rpc/rpc_client.hpp"

#include <condition_variable>
#include <mutex>
#include <vector>

#include <grpc/grpc.h>
#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

#include "core/base/strings.hpp"

namespace troupe::testing {

struct RpcClient::Impl {
  std::string service;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<grpc::GenericStub> stub;
};

struct RpcClient::Pending::State {
  grpc::ClientContext context;
  grpc::ByteBuffer request, answer;
  std::mutex lock;
  std::condition_variable changed;
  bool done = false;
  grpc::Status status;
};

RpcClient::RpcClient(const std::string& service, std::uint16_t port)
    : impl_(std::make_unique<Impl>()) {
  // gRPC 1.51 aborts when its last user goes while a thread of its callbacks ends: it stays.
  static const bool stays = (grpc_init(), true);
  (void)stays;
  impl_->service = service;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt("grpc.use_local_subchannel_pool", 1); // a connection of its own
  impl_->channel = grpc::CreateCustomChannel(str_cat("127.0.0.1:", port),
                                             grpc::InsecureChannelCredentials(), arguments);
  impl_->stub = std::make_unique<grpc::GenericStub>(impl_->channel);
}
RpcClient::~RpcClient() = default;

RpcClient::Pending RpcClient::start(const std::string& method, const std::string& request,
                                    std::chrono::milliseconds timeout) {
  Pending out;
  auto state = out.state_ = std::make_shared<Pending::State>();
  grpc::Slice slice(request);
  state->request = grpc::ByteBuffer(&slice, 1);
  state->context.set_deadline(std::chrono::system_clock::now() + timeout);
  impl_->stub->UnaryCall(&state->context, str_cat("/", impl_->service, "/", method),
                         grpc::StubOptions(), &state->request, &state->answer,
                         [state](grpc::Status status) {
                           std::scoped_lock guard(state->lock);
                           state->status = std::move(status);
                           state->done = true;
                           state->changed.notify_all();
                         });
  return out;
}

Result<std::string> RpcClient::Pending::wait() {
  std::unique_lock guard(state_->lock);
  state_->changed.wait(guard, [&] { return state_->done; }); // ends with the call's deadline
  if (!state_->status.ok())
    return Status(static_cast<Code>(state_->status.error_code()), state_->status.error_message());
  std::vector<grpc::Slice> slices;
  (void)state_->answer.Dump(&slices);
  std::string out;
  for (const grpc::Slice& slice : slices)
    out.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return out;
}

void RpcClient::Pending::cancel() {
  state_->context.TryCancel();
}

} // namespace troupe::testing
