#include "kernels/framework/rendezvous.hpp"

#include <doctest/doctest.h>

namespace troupe {
namespace {

constexpr auto cpu = "/job:worker/replica:0/task:1/device:CPU:0";
constexpr auto gpu = "/job:ps/replica:0/task:0/device:GPU:3";

} // namespace

TEST_CASE("rendezvous key: TensorFlow's form, read back") {
  const std::string key = rendezvous_key(cpu, 0xabcdef, gpu, "edge_7_x", 2414045154581136951u, 1);
  CHECK(key == "/job:worker/replica:0/task:1/device:CPU:0;0000000000abcdef;/job:ps/replica:0/"
               "task:0/device:GPU:3;edge_7_x;2414045154581136951:1");
  auto parsed = parse_rendezvous_key(key);
  REQUIRE(parsed.ok());
  CHECK(parsed->src_device == cpu);
  CHECK(parsed->src_incarnation == 0xabcdef);
  CHECK(parsed->dst_device == gpu);
  CHECK(parsed->edge == "edge_7_x");
  CHECK(parsed->frame_iter == "2414045154581136951:1");
}

TEST_CASE("rendezvous key: a negative incarnation is 16 digits") {
  const std::string key = rendezvous_key(cpu, static_cast<std::uint64_t>(-1), cpu, "e", 0, 0);
  CHECK(key.find(";ffffffffffffffff;") != std::string::npos);
  CHECK(parse_rendezvous_key(key)->src_incarnation == ~0ull);
}

TEST_CASE("rendezvous key: what is not one is refused") {
  const std::string good = rendezvous_key(cpu, 1, gpu, "e", 0, 0);
  for (const std::string& bad :
       {std::string(), std::string("x"), good + ";0", good.substr(0, good.rfind(';')),
        rendezvous_key("/job:a", 1, gpu, "e", 0, 0), rendezvous_key(cpu, 1, "gpu", "e", 0, 0),
        rendezvous_key(cpu, 1, gpu, "", 0, 0),
        "/job:worker/replica:0/task:1/device:CPU:0;xyz;" + std::string(gpu) + ";e;0:0"}) {
    INFO(bad);
    auto parsed = parse_rendezvous_key(bad);
    CHECK(parsed.status() == invalid_argument("Invalid rendezvous key: " + bad));
  }
}

} // namespace troupe
