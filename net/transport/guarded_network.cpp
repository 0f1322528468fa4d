#include "net/transport/guarded_network.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <optional>

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <caf/actor_system_config.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/io/basp_broker.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/native_socket.hpp>
#include <caf/io/scribe.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include "core/base/check.hpp"
#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/base/random.hpp"
#include "core/base/strings.hpp"
#include "core/trace/counters.hpp"
#include "net/transport/guarded_doorman.hpp"
#include "net/transport/message_filter.hpp"
#include "net/transport/shared_loop.hpp"
#include "net/transport/tcp_dial.hpp"
#include "net/transport/wire_stream.hpp"

namespace troupe {

namespace {

using caf::io::receive_policy;
using Side = MessageFilter::Side;
namespace network = caf::io::network;

class GuardedScribe;

// What all connections share. Touched on the network's thread only.
struct Ledger {
  NetworkLimits limits;
  MessageRules rules;
  std::list<GuardedScribe*> strangers; // accepted, without a handshake; the oldest first
  std::list<GuardedScribe*> ungreeted; // dialled, without a handshake
  std::list<GuardedScribe*> known;     // with one
  std::vector<caf::intrusive_ptr<GuardedScribe>> due; // have something to send
  std::size_t accepted = 0;
  std::size_t ahead = 0;     // bytes
  std::size_t arrived = 0;   // bytes of messages that are read in pieces
  std::int64_t quiet_to = 0; // of the log, µs
  std::int64_t unsaid = 0;

  // At most one line a second: strangers decide how often this is called.
  void report(const std::string& sentence) {
    counter("refused_connections").add(1);
    if (std::int64_t now = steady_micros(); now >= quiet_to) {
      log_warning(sentence,
                  unsaid ? str_cat("; ", unsaid, " more were closed since the last such line")
                         : "");
      quiet_to = now + 1'000'000;
      unsaid = 0;
    } else {
      ++unsaid;
    }
  }
};

// Connections that were made for CAF, which has not taken them yet. Any thread.
class Introductions {
public:
  std::uint64_t add(std::string host, std::uint16_t port, data::Fd connected) {
    std::scoped_lock guard(lock_);
    waiting_.emplace(++last_, Waiting{std::move(host), port, std::move(connected)});
    return last_;
  }
  /// The oldest one to host:port, with its number.
  std::optional<std::pair<std::uint64_t, data::Fd>> take(const std::string& host,
                                                         std::uint16_t port) {
    std::scoped_lock guard(lock_);
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it)
      if (it->second.host == host && it->second.port == port) {
        std::pair out{it->first, std::move(it->second.connected)};
        waiting_.erase(it);
        return out;
      }
    return std::nullopt;
  }
  /// False if it was taken.
  bool withdraw(std::uint64_t number) {
    std::scoped_lock guard(lock_);
    return waiting_.erase(number) > 0;
  }

private:
  struct Waiting {
    std::string host;
    std::uint16_t port;
    data::Fd connected;
  };
  std::mutex lock_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Waiting> waiting_;
};

class GuardedScribe final : public caf::io::scribe {
public:
  /// `introduction`: the number of the one that it came by; 0 for none.
  GuardedScribe(network::default_multiplexer& mux, network::native_socket socket, Side side,
                Ledger& ledger, std::uint64_t introduction)
      : scribe(network::conn_hdl_from_socket(socket)), stream_(mux, socket),
        filter_(side, ledger.rules), ledger_(ledger), is_accepted_(side == Side::accepted),
        introduction_(introduction), since_us_(steady_micros()) {
    if (!is_accepted_)
      return; // made on another thread, which leaves the ledger alone
    stranger(ledger_.strangers);
    ++ledger_.accepted;
  }

  ~GuardedScribe() override {
    no_stranger();
    if (is_known_)
      ledger_.known.erase(place_);
    if (held_)
      hold(0);
    if (!whole_.empty())
      ledger_.arrived -= whole_.size();
    if (is_accepted_)
      --ledger_.accepted;
  }

  std::int64_t since_us() const { return since_us_; }
  std::uint64_t introduction() const { return introduction_; }

  // Of one that was accepted: no byte has come for so long. A long message is bytes, too.
  bool is_idle(std::chrono::milliseconds limit) const {
    if (!is_accepted_ || is_shut_)
      return false;
    tcp_info info{};
    socklen_t size = sizeof info;
    return ::getsockopt(stream_.fd(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
           std::chrono::milliseconds(info.tcpi_last_data_recv) > limit;
  }

  // The peer's end and ours are closed; the event loop finds out and tells the broker.
  void shut(const std::string& why) {
    no_stranger();
    is_shut_ = true;
    ledger_.report(
        str_cat("closed a connection ", is_accepted_ ? "from " : "to ", addr(), ": ", why));
    ::shutdown(stream_.fd(), SHUT_RDWR);
  }

  void configure_read(receive_policy::config config) override {
    std::size_t bytes = config.second;
    wanted_ = bytes;
    if (bytes > ledger_.limits.piece_bytes && !hold(bytes)) {
      pieces_ = true;
      bytes = ledger_.limits.piece_bytes;
    }
    stream_.expect(bytes);
    if (std::exchange(is_launched_, true))
      return;
    if (!is_accepted_)
      stranger(ledger_.ungreeted);
    stream_.start(*this);
  }

  bool consume(caf::execution_unit* unit, const void* data, std::size_t size) override {
    if (detached())
      return false;
    auto bytes = static_cast<const char*>(data);
    bool in_pieces = pieces_;
    if (in_pieces) {
      if (ledger_.arrived + size > ledger_.limits.arrived_bytes) {
        drop(unit, str_cat("large messages of all connections would take more than ",
                           ledger_.limits.arrived_bytes, " bytes together"));
        return false;
      }
      ledger_.arrived += size;
      whole_.insert(whole_.end(), bytes, bytes + size);
      if (whole_.size() < wanted_) {
        stream_.expect(std::min(ledger_.limits.piece_bytes, wanted_ - whole_.size()));
        return true;
      }
      ledger_.arrived -= whole_.size();
      rd_buf().swap(whole_);
      whole_ = {};
      pieces_ = false;
      bytes = rd_buf().data();
      size = rd_buf().size();
    }
    bool was_large = size > ledger_.limits.piece_bytes;
    std::span<const char> view(bytes, size);
    bool admitted =
        filter_.payload_bytes() ? filter_.admit_payload(view) : filter_.admit_header(view);
    if (!admitted) {
      drop(unit, str_cat("it ", filter_.why()));
      return false;
    }
    if (filter_.is_open() && !is_known_) {
      no_stranger();
      place_ = ledger_.known.insert(ledger_.known.end(), this);
      is_known_ = true;
    }
    if (filter_.is_selected() && !was_selected_ && replaces_another()) {
      drop(unit, "its node has lost the connection that it had before, and is to dial again");
      return false;
    }
    was_selected_ = filter_.is_selected();
    bool goes_on = scribe::consume(unit, bytes, size);
    if (in_pieces || (was_large && ledger_.ahead > ledger_.limits.ahead_bytes / 2)) {
      std::vector<char>().swap(rd_buf()); // a buffer never shrinks by itself
      hold(0);
    }
    return goes_on;
  }

  // What a broker writes in a row goes out together.
  void flush() override {
    if (is_shut_)
      return;
    if (wr_buf().size() > ledger_.limits.unsent_bytes)
      return shut(str_cat("it does not read; ", wr_buf().size(), " bytes wait for it"));
    if (wr_buf().size() > WireStream::at_once_bytes)
      return stream_.flush(*this);
    if (!is_due_ && !wr_buf().empty()) {
      is_due_ = true;
      ledger_.due.emplace_back(this);
    }
  }

  void send_due() {
    is_due_ = false;
    if (!is_shut_ && !detached())
      stream_.flush(*this);
  }

  std::vector<char>& wr_buf() override { return stream_.write_buffer(); }
  std::vector<char>& rd_buf() override { return stream_.read_buffer(); }
  void ack_writes(bool) override {} // nobody wants to know
  std::string addr() const override {
    auto text = network::remote_addr_of_fd(stream_.fd());
    return text ? *std::move(text) : "";
  }
  std::uint16_t port() const override {
    auto number = network::remote_port_of_fd(stream_.fd());
    return number ? *number : std::uint16_t{0};
  }
  void graceful_shutdown() override {
    send_due();
    stream_.graceful_shutdown();
    detach(&stream_.backend(), false);
  }
  void add_to_loop() override { stream_.start(*this); }
  void remove_from_loop() override { stream_.passivate(); }

private:
  // From within `consume` only; the caller then gives false.
  void drop(caf::execution_unit* unit, const std::string& why) {
    ledger_.report(str_cat("closed a connection from ", addr(), ": ", why));
    io_failure(unit, network::operation::read);
  }

  // Closes the connections that the node of this one must have lost.
  bool replaces_another() {
    bool found = false;
    std::int64_t youngest =
        steady_micros() - std::chrono::microseconds(ledger_.limits.crossing).count();
    for (GuardedScribe* other : ledger_.known)
      if (other != this && other->since_us_ <= youngest &&
          other->filter_.handshake().starts_with(filter_.handshake())) {
        other->shut("its node has made a new one");
        found = true;
      }
    return found;
  }

  void stranger(std::list<GuardedScribe*>& among) {
    place_ = among.insert(among.end(), this);
    is_stranger_ = true;
  }

  void no_stranger() {
    if (std::exchange(is_stranger_, false))
      (is_accepted_ ? ledger_.strangers : ledger_.ungreeted).erase(place_);
  }

  // Takes `bytes` in place of what was held. False, and nothing held, if that is too much.
  bool hold(std::size_t bytes) {
    if (bytes && bytes <= held_)
      return true;
    ledger_.ahead -= std::exchange(held_, 0);
    if (ledger_.ahead + bytes > ledger_.limits.ahead_bytes)
      return false;
    ledger_.ahead += held_ = bytes;
    return true;
  }

  WireStream stream_;
  MessageFilter filter_;
  Ledger& ledger_;
  bool is_accepted_;
  std::uint64_t introduction_;
  bool is_stranger_ = false; // in Ledger::strangers or ::ungreeted
  bool is_launched_ = false;
  bool is_due_ = false; // in Ledger::due
  bool is_shut_ = false;
  bool is_known_ = false;
  bool was_selected_ = false;
  std::list<GuardedScribe*>::iterator place_;
  std::int64_t since_us_;
  std::size_t held_ = 0;   // of Ledger::ahead: the capacity of rd_buf
  std::size_t wanted_ = 0; // bytes of the message that is read in pieces
  bool pieces_ = false;
  std::vector<char> whole_;
};

class GuardedMultiplexer final : public SharedLoop {
public:
  GuardedMultiplexer(caf::actor_system* system, Ledger& shared)
      : SharedLoop(system), ledger(shared) {}

  caf::io::scribe_ptr new_scribe(network::native_socket socket) override {
    return make(socket, Side::accepted, 0);
  }

  caf::expected<caf::io::scribe_ptr> new_tcp_scribe(const std::string& host,
                                                    std::uint16_t port) override {
    if (auto introduced = introductions.take(host, port))
      return make(introduced->second.release(), Side::dialled, introduced->first);
    // Nobody waits for it any more, or who asks does not know of introductions. All other dials of
    // the process wait meanwhile.
    auto connected = dial_tcp(host, port, uninvited);
    if (!connected.ok())
      return caf::make_error(caf::sec::cannot_connect_to_node, connected.status().message());
    return make(connected->release(), Side::dialled, 0);
  }

  caf::io::doorman_ptr new_doorman(network::native_socket socket) override {
    return caf::make_counted<GuardedDoorman>(
        *this, socket, [this](const std::string& sentence) { ledger.report(sentence); });
  }

  // Closes strangers that have been there for too long, and who shook hands and says nothing: tasks
  // beat, clients renew their sessions or greet.
  void sweep() {
    std::int64_t oldest =
        steady_micros() - std::chrono::microseconds(ledger.limits.handshake).count();
    for (auto* among : {&ledger.strangers, &ledger.ungreeted})
      while (!among->empty() && among->front()->since_us() < oldest)
        among->front()->shut(
            str_cat("no handshake within ", ledger.limits.handshake.count(), " ms"));
    for (GuardedScribe* known : ledger.known)
      if (known->is_idle(ledger.limits.idle))
        known->shut(str_cat("it has said nothing for ", ledger.limits.idle.count(), " ms"));
    forget_spawn_servers();
  }

  /// Closes the connection that came by this introduction, unless its other side has greeted.
  void give_up(std::uint64_t introduction) {
    auto& among = ledger.ungreeted;
    const auto it = std::ranges::find(among, introduction, &GuardedScribe::introduction);
    if (it != among.end())
      (*it)->shut("no handshake for as long as who dialled would wait");
  }

  Ledger& ledger;
  Introductions introductions;

protected:
  void send_due() override {
    for (std::size_t i = 0; i < ledger.due.size(); ++i)
      std::exchange(ledger.due[i], nullptr)->send_due();
    ledger.due.clear();
  }

private:
  // For each node that it has ever known CAF keeps an actor that waits to spawn others there, and
  // takes in whatever it is sent. Nobody here asks for one.
  void forget_spawn_servers() {
    auto broker = system().middleman().named_broker<caf::io::basp_broker>(caf::atom("BASP"));
    auto& servers =
        static_cast<caf::io::basp_broker*>(caf::actor_cast<caf::abstract_actor*>(broker))
            ->spawn_servers;
    for (auto& [node, server] : servers)
      caf::anon_send_exit(server, caf::exit_reason::kill);
    servers.clear();
  }

  static constexpr std::chrono::milliseconds uninvited{1000};

  caf::io::scribe_ptr make(network::native_socket socket, Side side, std::uint64_t introduction) {
    // CAF's servants for strangers (spawn an actor, look one up) are there by name; nobody inside
    // asks for them so. Not earlier: CAF names them last of all.
    std::call_once(first_, [this] {
      for (const auto& [name, actor] : system().registry().named_actors())
        system().registry().erase(name);
    });
    auto scribe = caf::make_counted<GuardedScribe>(*this, socket, side, ledger, introduction);
    if (side == Side::accepted) {
      if (ledger.accepted > ledger.limits.connections)
        scribe->shut(str_cat(ledger.limits.connections, " connections are there already"));
      else if (ledger.strangers.size() > ledger.limits.strangers)
        ledger.strangers.front()->shut(
            str_cat("no handshake yet, and ", ledger.limits.strangers, " others wait for theirs"));
    }
    return scribe;
  }

  std::once_flag first_;
};

constexpr std::chrono::milliseconds most_period{2500};

// Closes connections that do not shake hands in time, or fall silent.
caf::behavior doorkeeper(caf::event_based_actor* self, GuardedMultiplexer* mux) {
  auto period = std::max(
      std::min({mux->ledger.limits.handshake / 4, mux->ledger.limits.idle / 4, most_period}),
      std::chrono::milliseconds(1));
  self->delayed_send(self, period, caf::tick_atom::value);
  return {[=](caf::tick_atom) {
    mux->post([mux] { mux->sweep(); });
    self->delayed_send(self, period, caf::tick_atom::value);
  }};
}

// CAF makes a node's identity of the machine's network cards, the process's number and a counter of
// eight bits. Containers that share cards and numbers, and the 257th system of a process, would be
// taken for another one: then connections are closed as superfluous, and sessions are lost.
void give_identity(caf::actor_system& system) {
  // CAF offers no setter. The node_id is not a const object, and no actor has read it yet.
  const_cast<caf::node_id&>(system.node()) = new_identity();
}

MessageRules rules_of(caf::actor_system& system, const caf::actor_system_config& config,
                      const NetworkLimits& limits) {
  MessageRules out;
  out.max_payload = limits.message_bytes;
  for (const auto& [name, make] : config.value_factories_by_name)
    if (name.starts_with("troupe::"))
      out.types.insert(name);
  std::vector<char> own;
  caf::binary_serializer sink{system, own};
  caf::node_id node = system.node();
  auto error = sink(node);
  TROUPE_CHECK(!error && own.size() == MessageFilter::identity_bytes, "a node has an identity");
  out.own.assign(own.begin(), own.end());
  return out;
}

} // namespace

caf::node_id new_identity() {
  caf::node_id::default_data::host_id_type bits;
  for (std::size_t i = 0; i < bits.size();) {
    std::uint64_t word = random_id();
    for (std::size_t end = std::min(bits.size(), i + sizeof word); i < end; ++i, word >>= 8)
      bits[i] = static_cast<std::uint8_t>(word);
  }
  return caf::make_node_id(static_cast<std::uint32_t>(::getpid()), bits);
}

struct GuardedNetwork::Impl {
  explicit Impl(caf::actor_system& system) : multiplexer(&system, ledger) {}
  Ledger ledger; // before what its connections are in
  GuardedMultiplexer multiplexer;
  caf::actor doorkeeper;
};

caf::actor_system::module* GuardedNetwork::make(caf::actor_system& system,
                                                caf::detail::type_list<>) {
  return new GuardedNetwork(system);
}

GuardedNetwork::GuardedNetwork(caf::actor_system& system)
    : caf::io::middleman(system), impl_(std::make_unique<Impl>(system)) {}

GuardedNetwork::~GuardedNetwork() = default;

network::multiplexer& GuardedNetwork::backend() {
  return impl_->multiplexer;
}

GuardedNetwork& GuardedNetwork::of(caf::actor_system& system) {
  auto* network = dynamic_cast<GuardedNetwork*>(&system.middleman());
  TROUPE_CHECK(network, "every process of troupe has this network");
  return *network;
}

GuardedNetwork::Introduction GuardedNetwork::introduce(const std::string& host, std::uint16_t port,
                                                       data::Fd connected) {
  return {*this, impl_->multiplexer.introductions.add(host, port, std::move(connected))};
}

GuardedNetwork::Introduction::~Introduction() {
  if (!network_)
    return;
  GuardedMultiplexer& mux = network_->impl_->multiplexer;
  if (!mux.introductions.withdraw(number_))
    mux.post([&mux, number = number_] { mux.give_up(number); });
}

void GuardedNetwork::init(caf::actor_system_config& config) {
  middleman::init(config);
  give_identity(system());
  NetworkLimits& limits = impl_->ledger.limits;
  const auto& content = caf::content(config);
  limits.message_bytes = caf::get_or(content, "troupe.message-limit", limits.message_bytes);
  limits.ahead_bytes = caf::get_or(content, "troupe.ahead-limit", limits.ahead_bytes);
  limits.unsent_bytes = caf::get_or(content, "troupe.unsent-limit", limits.unsent_bytes);
  limits.crossing = std::chrono::duration_cast<std::chrono::milliseconds>(
      caf::get_or(content, "troupe.crossing-time", caf::timespan(limits.crossing)));
  limits.idle = std::chrono::duration_cast<std::chrono::milliseconds>(
      caf::get_or(content, "troupe.idle-limit", caf::timespan(limits.idle)));
  limits.arrived_bytes = std::max(limits.arrived_bytes, 2 * limits.message_bytes);
  limits.connections = caf::get_or(content, "troupe.connections", limits.connections);
  auto deadline =
      caf::get_or(content, "troupe.handshake-deadline", caf::timespan(limits.handshake));
  limits.handshake = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(deadline),
                              std::chrono::milliseconds(1));
  impl_->ledger.rules = rules_of(system(), config, limits);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY)
    limits.connections = std::min<std::size_t>(limits.connections, files.rlim_cur / 2);
}

void GuardedNetwork::start() {
  middleman::start();
  impl_->doorkeeper = system().spawn<caf::hidden>(doorkeeper, &impl_->multiplexer);
}

void GuardedNetwork::stop() {
  {
    caf::scoped_actor self{system(), true};
    self->send_exit(impl_->doorkeeper, caf::exit_reason::kill);
    self->wait_for(impl_->doorkeeper); // it posts to what stops next
  }
  impl_->doorkeeper = nullptr;
  middleman::stop();
}

} // namespace troupe
