// What arrives at a node's port: a connection's bytes, a message that the port lets through, and
// the tensors in it. The first byte of the input chooses.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/message.hpp>

#include "actors/protocol/messages.hpp"
#include "core/base/check.hpp"
#include "net/transport/message_filter.hpp"
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

// All types of the protocol may come. Identities are of 32 zeros, or of ones.
const troupe::MessageRules& rules() {
  static const troupe::MessageRules rules = [] {
    troupe::MessageRules out{1 << 20, {}, std::string(troupe::MessageFilter::identity_bytes, '0')};
    Config config;
    for (const auto& [name, make] : config.value_factories_by_name)
      out.types.insert(name);
    return out;
  }();
  return rules;
}

troupe::MessageFilter open_filter() {
  troupe::MessageFilter filter(troupe::MessageFilter::Side::accepted, rules());
  std::string handshake(troupe::MessageFilter::header_bytes, '\0');
  handshake[0] = 1;
  handshake[7] = troupe::MessageFilter::identity_bytes;
  std::string peer = rules().own;
  peer.back() = '1';
  TROUPE_CHECK(filter.admit_header(handshake) && filter.admit_payload(peer), "a handshake passes");
  return filter;
}

// As the port does it: nothing is read that the filter refuses.
void read_message(caf::actor_system& system, std::span<const char> payload) {
  troupe::MessageFilter filter = open_filter();
  std::string header(troupe::MessageFilter::header_bytes, '\0');
  header[0] = 2;
  header[8] = static_cast<char>(0x90); // an answer: it may be what a request may not
  header[6] = static_cast<char>(payload.size() >> 8);
  header[7] = static_cast<char>(payload.size());
  if (payload.size() > 0xffff || !filter.admit_header(header) || !filter.admit_payload(payload)) {
    TROUPE_CHECK(!filter.is_open() || payload.size() > 0xffff || !filter.why().empty(),
                 "a refusal says why");
    return;
  }
  read_one<caf::message>(system, payload.data() + 1, payload.size() - 1);
}

// A connection from its first byte on.
void read_connection(std::span<const char> bytes) {
  troupe::MessageFilter filter(troupe::MessageFilter::Side::accepted, rules());
  for (;;) {
    std::size_t next =
        filter.payload_bytes() ? filter.payload_bytes() : troupe::MessageFilter::header_bytes;
    TROUPE_CHECK(next <= 1 << 20, "the filter keeps the limit");
    if (bytes.size() < next)
      return;
    auto piece = bytes.first(next);
    if (!(filter.payload_bytes() ? filter.admit_payload(piece) : filter.admit_header(piece))) {
      TROUPE_CHECK(!filter.why().empty(), "a refusal says why");
      return;
    }
    bytes = bytes.subspan(next);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Config config;
  static auto* system = new caf::actor_system{config}; // never destroyed: the fuzzer ends by exit
  if (size == 0)
    return 0;
  const char* bytes = reinterpret_cast<const char*>(data) + 1;
  switch (--size; data[0] % 5) {
  case 0:
    read_one<troupe::Tensor>(*system, bytes, size);
    break;
  case 1:
    read_one<troupe::WireTensor>(*system, bytes, size);
    break;
  case 2:
    read_one<troupe::TensorChunk>(*system, bytes, size);
    break;
  case 3:
    read_message(*system, {bytes, size});
    break;
  default:
    read_connection({bytes, size});
  }
  return 0;
}
