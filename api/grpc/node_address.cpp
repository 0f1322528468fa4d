#include "api/grpc/node_address.hpp"

#include <algorithm>
#include <string>

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

#include "core/base/strings.hpp"
#include "net/transport/stop_event.hpp"

namespace troupe {

namespace {

constexpr std::chrono::milliseconds look_at_stop{50};

// Of its own for each call: a channel that has failed waits ever longer before it tries again.
std::shared_ptr<grpc::Channel> channel_to(const Address& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address.to_string(), grpc::InsecureChannelCredentials(),
                                   arguments);
}

Result<Address> read_answer(const Address& address, const grpc::Status& status,
                            const grpc::ByteBuffer& answer) {
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED)
    return unimplemented(str_cat("who answers gRPC at ", address, " is no node of troupe"));
  if (status.error_code() == grpc::StatusCode::INVALID_ARGUMENT ||
      status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED)
    return Status(static_cast<Code>(status.error_code()),
                  str_cat("the task at ", address, ": ", status.error_message()));
  if (!status.ok())
    return unavailable(str_cat("the task at ", address,
                               " does not tell its port: ", status.error_message().substr(0, 200)));
  std::vector<grpc::Slice> slices;
  std::string text;
  if (answer.Dump(&slices).ok())
    for (const grpc::Slice& slice : slices)
      text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  auto port = parse_uint(text);
  if (!port || *port == 0 || *port > 65535)
    return unimplemented(str_cat("who answers gRPC at ", address, " tells no port"));
  return Address{address.host, static_cast<std::uint16_t>(*port)};
}

} // namespace

namespace {

Result<Address> ask_port(const Address& grpc_address, std::string_view method,
                         const std::string& request_bytes, std::chrono::milliseconds budget,
                         const StopEvent* stop) {
  using Clock = std::chrono::system_clock; // gRPC's
  const auto end = Clock::now() + budget;
  grpc::GenericStub stub(channel_to(grpc_address));
  grpc::ClientContext context;
  context.set_deadline(end);
  const grpc::Slice bytes(request_bytes);
  const grpc::ByteBuffer request(&bytes, 1);
  grpc::CompletionQueue queue;
  auto call = stub.PrepareUnaryCall(&context, std::string(method), request, &queue);
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->StartCall();
  call->Finish(&answer, &status, &queue);
  void* tag = nullptr;
  bool ok = false;
  while (queue.AsyncNext(&tag, &ok, std::min(end + look_at_stop, Clock::now() + look_at_stop)) ==
         grpc::CompletionQueue::TIMEOUT)
    if ((stop && stop->is_set()) || Clock::now() > end)
      context.TryCancel(); // its end comes at once
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return read_answer(grpc_address, status, answer);
}

} // namespace

Result<Address> ask_node_address(const Address& grpc_address, std::chrono::milliseconds budget,
                                 const StopEvent* stop) {
  return ask_port(grpc_address, node_address_method, {}, budget, stop);
}

Result<Address> ask_to_join(const Address& grpc_address, const std::string& tf_config,
                            std::chrono::milliseconds budget, const StopEvent* stop) {
  return ask_port(grpc_address, join_cluster_method, tf_config, budget, stop);
}

} // namespace troupe
