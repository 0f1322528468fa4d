#include <doctest/doctest.h>

#include "net/data/tensor_path.hpp"

using namespace troupe;

namespace {

PathEnd end(const char* task, PathChoice choice = PathChoice::best, const char* host = "h1") {
  return {task, choice, host, true, true};
}
std::vector<TensorPath> tried(const PathEnd& receiver, const PathEnd& sender) {
  auto out = paths_to_try(receiver, sender);
  REQUIRE_MESSAGE(out.ok(), out.status().to_string());
  return *out;
}
std::string refusal(const PathEnd& receiver, const PathEnd& sender) {
  auto out = paths_to_try(receiver, sender);
  REQUIRE(!out.ok());
  CHECK(out.status().code() == Code::failed_precondition);
  return out.status().message();
}

using Paths = std::vector<TensorPath>;
constexpr auto shm = TensorPath::shared_memory, stream = TensorPath::stream,
               messages = TensorPath::messages;

} // namespace

TEST_CASE("tensor path: auto takes what both have, the best first") {
  CHECK(tried(end("worker/0"), end("ps/0")) == Paths{shm, stream, messages});
  CHECK(tried(end("worker/0"), end("ps/0", PathChoice::best, "h2")) == Paths{stream, messages});
  PathEnd client = end("client", PathChoice::best, "h2");
  client.has_port = false;
  CHECK(tried(end("worker/0"), client) == Paths{messages});
}

TEST_CASE("tensor path: an unknown host is nobody's neighbour") {
  CHECK(tried(end("worker/0", PathChoice::best, ""), end("ps/0", PathChoice::best, "")) ==
        Paths{stream, messages});
}

TEST_CASE("tensor path: a name given by either end is taken, and nothing else") {
  CHECK(tried(end("worker/0", PathChoice::stream), end("ps/0")) == Paths{stream});
  CHECK(tried(end("worker/0"), end("ps/0", PathChoice::messages)) == Paths{messages});
  CHECK(tried(end("worker/0", PathChoice::shared_memory), end("ps/0")) == Paths{shm});
}

TEST_CASE("tensor path: a name that is not to be had is refused with both ends and the reason") {
  std::string text =
      refusal(end("worker/0", PathChoice::shared_memory), end("ps/0", PathChoice::best, "h2"));
  CHECK(text.find("ps/0") != std::string::npos);
  CHECK(text.find("worker/0") != std::string::npos);
  CHECK(text.find("different hosts") != std::string::npos);
  PathEnd deaf = end("ps/0");
  deaf.has_port = false;
  CHECK(refusal(end("worker/0", PathChoice::stream), deaf).find("does not listen") !=
        std::string::npos);
  CHECK(refusal(end("worker/0", PathChoice::stream), end("ps/0", PathChoice::messages))
            .find("give both the same") != std::string::npos);
}

TEST_CASE("tensor path: a client has no say, so a name holds for it as far as it can") {
  PathEnd client = end("client", PathChoice::best, "h2");
  client.has_port = false;
  CHECK(tried(end("worker/0", PathChoice::shared_memory), client) == Paths{messages});
  CHECK(tried(client, end("worker/0", PathChoice::messages)) == Paths{messages});
  CHECK(tried(client, end("worker/0", PathChoice::stream)) == Paths{stream, messages});
}

TEST_CASE(
    "tensor path: ucx is taken where both have RDMA, or where it is named and both have UCX") {
  PathEnd near = end("worker/0"), far = end("ps/0", PathChoice::best, "h2");
  near.ucx = far.ucx = UcxSupport::rdma;
  CHECK(tried(near, far) == Paths{TensorPath::ucx, stream, messages});
  far.ucx = UcxSupport::library;
  CHECK(tried(near, far) == Paths{stream, messages});
  far.choice = PathChoice::ucx;
  CHECK(tried(near, far) == Paths{TensorPath::ucx});
  near.ucx = UcxSupport::none;
  CHECK(refusal(near, far).find("worker/0 has no UCX; install it there") != std::string::npos);
  near.ucx = UcxSupport::library;
  far.has_port = false;
  CHECK(refusal(near, far).find("does not listen") != std::string::npos);
}

TEST_CASE("tensor path: names are read back, others are none") {
  for (PathChoice choice : {PathChoice::best, PathChoice::messages, PathChoice::shared_memory,
                            PathChoice::stream, PathChoice::ucx})
    CHECK(parse_path_choice(to_string(choice)) == choice);
  CHECK(!parse_path_choice("rdma"));
}

TEST_CASE("tensor path: a transfer is told with size, time and rate") {
  CHECK(to_string(Transfer{shm, 1 << 20, 0}) == "shared-memory, 1.0 MiB, computed there");
  CHECK(to_string(Transfer{shm, 1 << 20, 200}) == "shared-memory, 1.0 MiB in 200 us, 5.24 GB/s");
  CHECK(format_bytes(17) == "17 bytes");
  CHECK(format_rate(5, 0) == "");
}

TEST_CASE("tensor path: this system has one boot id") {
  CHECK(boot_id().size() == 36);
  CHECK(boot_id() == boot_id());
}
