// A request of MasterService, as a gRPC client sends it. The first byte of the input chooses the
// method.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/grpc/master_codec.hpp"
#include "api/grpc/protocol.hpp"
#include "core/base/check.hpp"

namespace {

using namespace troupe;
namespace codec = master_codec;

constexpr DecodeLimits limits{.filled_bytes = std::size_t{1} << 20};

template <class Request>
void check(const Result<Request>& request) {
  TROUPE_CHECK(request.ok() || !request.status().message().empty(), "a refusal says why");
}

// What a step would answer is written as it came.
void answer(const codec::RunStep& step) {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : step.feeds) {
    TROUPE_CHECK(value.has_value(), "a feed is a tensor");
    names.push_back(name);
    tensors.push_back(value);
  }
  TROUPE_CHECK(codec::write_step_done(names, tensors, {}).ok(), "what is read can be written");
}

void check_callable(const Result<codec::MakeCallable>& request) {
  check(request);
  if (request.ok())
    (void)to_bytes(request->options.options);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr const char* methods[] = {
      "CreateSession", "ExtendSession",   "RunStep", "PartialRunSetup", "MakeCallable",
      "RunCallable",   "ReleaseCallable", "Reset",   "ListDevices",     "CloseSession"};
  const std::size_t method = data[0] % std::size(methods);
  check(codec::read_head(methods[method], bytes));
  switch (method) {
  case 0: {
    auto request = codec::read_create_session(bytes);
    check(request);
    if (request.ok()) {
      auto again = session_options_from_bytes(to_bytes(request->options));
      TROUPE_CHECK(again.ok() && to_bytes(*again) == to_bytes(request->options),
                   "options that are read are written and read again");
    }
    break;
  }
  case 1:
    check(codec::read_extend_session(bytes));
    break;
  case 2: {
    auto request = codec::read_run_step(bytes, limits);
    check(request);
    if (request.ok())
      answer(*request);
    break;
  }
  case 3:
    check(codec::read_partial_run_setup(bytes));
    break;
  case 4:
    check_callable(codec::read_make_callable(bytes));
    break;
  case 5:
    check(codec::read_run_callable(bytes, limits));
    break;
  case 6:
    check(codec::read_release_callable(bytes));
    break;
  case 7:
    check(codec::read_reset(bytes));
    break;
  default:
    break;
  }
  return 0;
}
