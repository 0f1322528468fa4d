// A request of WorkerService, as TensorFlow's masters and workers send it, or an answer of one of
// its tasks, or a graph of its masters. The first byte of the input chooses which.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/grpc/foreign_graph.hpp"
#include "api/grpc/foreign_part.hpp"
#include "api/grpc/worker_client_codec.hpp"
#include "api/grpc/worker_codec.hpp"
#include "core/base/check.hpp"

namespace {

using namespace troupe;
namespace codec = worker_codec;

constexpr DecodeLimits limits{.filled_bytes = std::size_t{1} << 20};

template <class Message>
void check(const Result<Message>& message) {
  TROUPE_CHECK(message.ok() || !message.status().message().empty(), "a refusal says why");
}

// What a step sends along is written as it came.
void check_run(const Result<codec::RunGraph>& run) {
  check(run);
  if (!run.ok())
    return;
  codec::RunGraphWords words;
  words.sends = run->sends;
  auto bytes = codec::write_run_graph(words);
  TROUPE_CHECK(bytes.ok() && codec::read_run_graph(*bytes, limits).ok(),
               "what is read can be written, and read again");
}

// A graph that is written out has nothing more to be written out.
void check_graph(const Result<std::string>& plain) {
  check(plain);
  if (plain.ok())
    TROUPE_CHECK(without_fused_ops(*plain).ok(), "a plain graph stays one");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 16) {
  case 0:
    check(codec::read_create_worker_session(bytes));
    break;
  case 1:
    check(codec::read_delete_worker_session(bytes));
    break;
  case 2:
    check(codec::read_register_graph(bytes));
    break;
  case 3:
    check(codec::read_deregister_graph(bytes));
    break;
  case 4:
    check_run(codec::read_run_graph(bytes, limits));
    (void)codec::wants_errors_in_body(bytes);
    break;
  case 5:
    check(codec::read_cleanup_graph(bytes));
    break;
  case 6:
    check(codec::read_cleanup_all(bytes));
    break;
  case 7:
    check(codec::read_recv_tensor(bytes));
    break;
  case 8:
    check(codec::read_logging(bytes));
    break;
  case 9:
    check(codec::read_graph_run(bytes, limits));
    break;
  case 10:
    check(codec::read_tensor(bytes, limits));
    break;
  case 11:
    check(codec::read_devices(bytes));
    break;
  case 12:
    check(codec::read_graph_registered(bytes));
    break;
  case 13:
    check_graph(without_fused_ops(std::string(bytes)));
    break;
  case 14:
    check(foreign_part(bytes, [](std::string_view) { return std::uint64_t{1}; }));
    break;
  default:
    check(codec::read_get_step_sequence(bytes));
    break;
  }
  return 0;
}
