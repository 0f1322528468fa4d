#include "tests/support/rpc/rpc_client.hpp"

#include <vector>

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

// No callbacks: gRPC 1.51 aborts now and then when the last channel that had some goes.
struct RpcClient::Pending::State {
  grpc::CompletionQueue queue; // of this call alone
  grpc::ClientContext context;
  grpc::ByteBuffer answer;
  grpc::Status status;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  bool done = false;

  void finish() {
    void* tag = nullptr;
    bool ok = false;
    if (!done)
      done = queue.Next(&tag, &ok); // ends with the call's deadline
  }
  ~State() {
    context.TryCancel();
    finish();
    queue.Shutdown();
    void* tag = nullptr;
    for (bool ok = false; queue.Next(&tag, &ok);) {
    }
  }
};

RpcClient::RpcClient(const std::string& service, std::uint16_t port, Connects when)
    : impl_(std::make_unique<Impl>()) {
  impl_->service = service;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt("grpc.use_local_subchannel_pool", 1); // a connection of its own
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  impl_->channel = grpc::CreateCustomChannel(str_cat("127.0.0.1:", port),
                                             grpc::InsecureChannelCredentials(), arguments);
  impl_->stub = std::make_unique<grpc::GenericStub>(impl_->channel);
  if (when == Connects::now)
    impl_->channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10));
}
RpcClient::~RpcClient() = default;

RpcClient::Pending RpcClient::start(const std::string& method, const std::string& request,
                                    std::chrono::milliseconds timeout) {
  Pending out;
  auto state = out.state_ = std::make_shared<Pending::State>();
  grpc::Slice slice(request);
  state->context.set_deadline(std::chrono::system_clock::now() + timeout);
  state->reader =
      impl_->stub->PrepareUnaryCall(&state->context, str_cat("/", impl_->service, "/", method),
                                    grpc::ByteBuffer(&slice, 1), &state->queue);
  state->reader->StartCall();
  state->reader->Finish(&state->answer, &state->status, state.get());
  return out;
}

Result<std::string> RpcClient::Pending::wait() {
  state_->finish();
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
