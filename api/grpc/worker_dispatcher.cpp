#include "api/grpc/worker_dispatcher.hpp"

#include <caf/send.hpp>

#include "api/grpc/foreign_run.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

constexpr std::string_view service = "/tensorflow.WorkerService/";

using Request = decltype(WorkerCall::request);
using Read = Result<Request> (*)(std::string_view, const DecodeLimits&);

template <auto read>
Result<Request> plain(std::string_view bytes, const DecodeLimits&) {
  TROUPE_ASSIGN(auto request, read(bytes));
  return Request(std::move(request));
}

Result<Request> run_graph(std::string_view bytes, const DecodeLimits& limits) {
  TROUPE_ASSIGN(auto request, worker_codec::read_run_graph(bytes, limits));
  return Request(std::move(request));
}

Result<Request> get_status(std::string_view, const DecodeLimits&) {
  return Request(WorkerCall::GetStatus{});
}

struct Method {
  std::string_view name;
  Read read;
};
constexpr Method methods_of_actor[] = {
    {"GetStatus", get_status},
    {"CreateWorkerSession", plain<worker_codec::read_create_worker_session>},
    {"DeleteWorkerSession", plain<worker_codec::read_delete_worker_session>},
    {"RegisterGraph", plain<worker_codec::read_register_graph>},
    {"DeregisterGraph", plain<worker_codec::read_deregister_graph>},
    {"RunGraph", run_graph},
    {"RecvTensor", plain<worker_codec::read_recv_tensor>},
    {"CleanupGraph", plain<worker_codec::read_cleanup_graph>},
    {"CleanupAll", plain<worker_codec::read_cleanup_all>},
    {"Logging", plain<worker_codec::read_logging>},
};
/// Their masters and peers go on without what these would do: TensorFlow's servers do nothing for
/// Tracing either, and no answer is kept for who asks again.
constexpr std::string_view methods_of_nothing[] = {"Tracing", "MarkRecvFinished"};
/// Of collectives.
constexpr std::string_view refused_methods[] = {"RecvBuf", "CompleteGroup", "CompleteInstance",
                                                "GetStepSequence"};

} // namespace

std::vector<std::string> WorkerDispatcher::methods() {
  std::vector<std::string> out;
  for (const Method& method : methods_of_actor)
    out.push_back(str_cat(service, method.name));
  for (std::string_view name : methods_of_nothing)
    out.push_back(str_cat(service, name));
  for (std::string_view name : refused_methods)
    out.push_back(str_cat(service, name));
  return out;
}

bool WorkerDispatcher::is_for_worker(std::string_view method) {
  return method.starts_with(service);
}

void WorkerDispatcher::operator()(const std::shared_ptr<RpcCall>& call) const {
  const std::string_view name = call->method().substr(service.size());
  std::string& bytes = call->request();
  for (const Method& method : methods_of_actor) {
    if (method.name != name)
      continue;
    auto request = method.read(bytes, limits_);
    if (request.ok()) {
      std::string().swap(bytes); // its tensors have their own memory
      caf::anon_send(gateway_, WorkerCall{call, *std::move(request)});
    } else if (name == "RunGraph" && worker_codec::wants_errors_in_body(bytes)) {
      call->answer(worker_codec::write_run_failed(request.status().code(),
                                                  worker_message(request.status())));
    } else {
      call->fail(request.status());
    }
    return;
  }
  if (std::ranges::find(methods_of_nothing, name) != std::end(methods_of_nothing))
    return call->answer({});
  call->fail(unimplemented(
      str_cat("tensorflow.WorkerService/", name,
              ": collectives between tasks of troupe and TensorFlow's servers; let the tasks "
              "of a collective be of one kind")));
}

} // namespace troupe
