// The payload of a message at a node's port: types by name, then our structs, tensors among them.
#include <cstddef>
#include <cstdint>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/message.hpp>

#include "actors/protocol/messages.hpp"
#include "core/base/check.hpp"
#include "net/wire/wire_tensor.hpp"

namespace {

struct Config : caf::actor_system_config {
  Config() {
    set("scheduler.max-threads", std::size_t{1});
    troupe::add_protocol_messages(*this);
  }
};

template <class T>
void read_one(caf::actor_system& system, const char* bytes, std::size_t size) {
  T value;
  caf::binary_deserializer source{system, bytes, size};
  if (source(value))
    return;
  std::vector<char> written;
  caf::binary_serializer sink{system, written};
  TROUPE_CHECK(!sink(value), "what is read can be written");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Config config;
  static auto* system = new caf::actor_system{config}; // never destroyed: the fuzzer ends by exit
  if (size == 0)
    return 0;
  const char* bytes = reinterpret_cast<const char*>(data) + 1;
  switch (--size; data[0] % 4) {
  case 0:
    read_one<troupe::Tensor>(*system, bytes, size);
    break;
  case 1:
    read_one<troupe::WireTensor>(*system, bytes, size);
    break;
  case 2:
    read_one<troupe::TensorChunk>(*system, bytes, size);
    break;
  default:
    read_one<caf::message>(*system, bytes, size);
  }
  return 0;
}
