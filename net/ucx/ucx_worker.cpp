#include "net/ucx/ucx_worker.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/log.hpp"
#include "core/base/strings.hpp"
#include "net/ucx/ucx_library.hpp"

namespace troupe {

namespace {

using ucx::failure;
using ucx::Library;

// UCX reads an address without being told how long it is: zeros behind it end one that is cut.
constexpr std::size_t longest_address = 4096, padding = 32 << 10;
constexpr std::size_t longest_header = 256;
// The id of our messages among UCX's active ones.
constexpr unsigned message_id = 1;
// Bytes that come without having been announced: UCX's eager messages.
constexpr std::size_t most_eager = 64 << 10;

// Shared by the workers of one choice.
class Context {
public:
  static Result<std::shared_ptr<Context>> of(const UcxChoice& choice) {
    static std::mutex lock;
    static std::map<UcxChoice, std::weak_ptr<Context>> known;
    std::scoped_lock guard(lock);
    auto& entry = known[choice];
    if (auto there = entry.lock())
      return there;
    TROUPE_ASSIGN(auto made, make(choice));
    entry = made;
    return made;
  }
  ~Context() {
    if (handle_)
      library_.ucp_cleanup(handle_);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  const Library& library() const { return library_; }
  ucp_context_h handle() const { return handle_; }
  /// Somebody has: who names only shared memory wants it, though it tells nobody that a peer has
  /// died.
  bool names_transports() const { return names_transports_; }

private:
  explicit Context(const Library& library) : library_(library) {}
  static Result<std::shared_ptr<Context>> make(const UcxChoice& choice) {
    TROUPE_ASSIGN(const Library* library, Library::open());
    ucp_config_t* config = nullptr;
    if (auto s = library->ucp_config_read(nullptr, nullptr, &config); s != UCS_OK)
      return failure(*library, "its settings cannot be read", s);
    auto s = UCS_OK;
    if (!choice.transports.empty() && !std::getenv("UCX_TLS"))
      s = library->ucp_config_modify(config, "TLS", choice.transports.c_str());
    // Over TCP, UCX 1.13 may end a process whose peer goes while it is sent bytes without a copy
    // ("Assertion `comp->count > 0' failed"). Where there is a device for RDMA it is left as it is.
    if (s == UCS_OK && !has_rdma_device() && !std::getenv("UCX_ZCOPY_THRESH"))
      s = library->ucp_config_modify(config, "ZCOPY_THRESH", "inf");
    if (const std::string devices = ucx_devices(choice.host);
        s == UCS_OK && !devices.empty() && !std::getenv("UCX_NET_DEVICES"))
      s = library->ucp_config_modify(config, "NET_DEVICES", devices.c_str());
    std::shared_ptr<Context> out(new Context(*library));
    out->names_transports_ = !choice.transports.empty() || std::getenv("UCX_TLS");
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
    params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
    params.mt_workers_shared = 1; // workers of several threads
    if (s == UCS_OK)
      s = library->ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &out->handle_);
    library->ucp_config_release(config);
    if (s != UCS_OK)
      return failure(*library, "it cannot be set up", s);
    return out;
  }

  const Library& library_;
  ucp_context_h handle_ = nullptr;
  bool names_transports_ = false;
};

class Worker final : public UcxWorker {
public:
  static Result<std::unique_ptr<UcxWorker>> make(const UcxChoice& choice, Arrive arrive) {
    TROUPE_ASSIGN(auto context, Context::of(choice));
    const Library& library = context->library();
    std::unique_ptr<Worker> out(new Worker(std::move(context), std::move(arrive)));
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    if (auto s = library.ucp_worker_create(out->context_->handle(), &params, &out->handle_);
        s != UCS_OK)
      return failure(library, "a worker cannot be made", s);
    if (auto s = library.ucp_worker_get_efd(out->handle_, &out->fd_); s != UCS_OK)
      return failure(library, "a worker cannot be waited for", s);
    ucp_am_handler_param_t handler{};
    handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                         UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = message_id;
    handler.cb = [](void* self, const void* header, std::size_t header_bytes, void* data,
                    std::size_t bytes, const ucp_am_recv_param_t* param) {
      return static_cast<Worker*>(self)->came({static_cast<const char*>(header), header_bytes},
                                              data, bytes,
                                              (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
    };
    handler.arg = out.get();
    if (auto s = library.ucp_worker_set_am_recv_handler(out->handle_, &handler); s != UCS_OK)
      return failure(library, "a worker takes no messages", s);
    ucp_address_t* address = nullptr;
    std::size_t bytes = 0;
    if (auto s = library.ucp_worker_get_address(out->handle_, &address, &bytes); s != UCS_OK)
      return failure(library, "a worker has no address", s);
    out->address_.assign(reinterpret_cast<const char*>(address), bytes);
    library.ucp_worker_release_address(out->handle_, address);
    out->turn(); // the descriptor tells of what comes from now on
    return std::unique_ptr<UcxWorker>(std::move(out));
  }
  ~Worker() override {
    if (handle_ && break_off())
      library().ucp_worker_destroy(handle_);
    else if (handle_)
      keep_for_good();
  }

  int fd() const override { return fd_; }
  // Whatever is begun needs a round of progress, and the descriptor to be armed again behind it.
  bool turn() override {
    constexpr int most_rounds = 8; // then others have their turn
    for (int i = 0; i < most_rounds; ++i) {
      while (library().ucp_worker_progress(handle_) != 0) {
      }
      if (!announced_.empty() || !ended_.empty())
        pass_on();
      else if (library().ucp_worker_arm(handle_) != UCS_ERR_BUSY)
        return false;
    }
    return true;
  }
  const Status& broken() const override { return broken_; }
  const std::string& address() const override { return address_; }

  // A peer that dies is told of where a transport can; shared memory cannot.
  Status connect(const std::string& address) override {
    if (address.empty() || address.size() > longest_address)
      return invalid_argument("a peer's UCX address is too long, or too short, to be one");
    std::string bytes = address;
    bytes.append(padding, '\0');
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(bytes.data());
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {
        [](void* self, ucp_ep_h, ucs_status_t why) { static_cast<Worker*>(self)->lost(why); },
        this};
    auto s = library().ucp_ep_create(handle_, &params, &peer_);
    if (s == UCS_ERR_UNREACHABLE && context_->names_transports()) {
      can_break_ = false;
      params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
      s = library().ucp_ep_create(handle_, &params, &peer_);
    }
    return s == UCS_OK ? Status{} : failure(library(), "the peer cannot be reached", s);
  }

  void send(std::string header, std::span<const std::byte> bytes, BufferRef keep,
            Done done) override {
    if (!broken_.ok())
      return end(std::move(done), broken_);
    Operation* sending = begin(std::move(keep), std::move(done));
    sending->header = std::move(header);
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = [](void* request, ucs_status_t status, void* user) {
      finish_request(request, status, user);
    };
    param.user_data = sending;
    if (bytes.size() > most_eager) {
      param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
      param.flags = UCP_AM_SEND_FLAG_RNDV;
    }
    begun(sending,
          library().ucp_am_send_nbx(peer_, message_id, sending->header.data(),
                                    sending->header.size(), bytes.data(), bytes.size(), &param));
  }

private:
  // What UCX has and we hold.
  struct Operation {
    Worker* worker;
    BufferRef keep;
    Done done;
    std::string header;
  };
  // A message that has come, or can be had.
  struct Announced {
    std::string header;
    void* descriptor = nullptr; // of a rendezvous
    std::string data;           // of an eager message
    std::size_t bytes = 0;
  };

  Worker(std::shared_ptr<Context> context, Arrive arrive)
      : context_(std::move(context)), arrive_(std::move(arrive)) {}
  const Library& library() const { return context_->library(); }

  // Within UCX: what it leads to waits until UCX is done.
  ucs_status_t came(std::string_view header, void* data, std::size_t bytes, bool is_rendezvous) {
    if (header.size() > longest_header || (!is_rendezvous && bytes > most_eager))
      return UCS_OK; // nobody of ours
    Announced message{std::string(header), nullptr, {}, bytes};
    if (is_rendezvous)
      message.descriptor = data;
    else
      message.data.assign(static_cast<const char*>(data), bytes);
    announced_.push_back(std::move(message));
    return is_rendezvous ? UCS_INPROGRESS : UCS_OK;
  }
  void receive(Announced message) {
    auto arrival = arrive_(message.header, message.bytes);
    if (!arrival || arrival->into.size() != message.bytes) {
      if (message.descriptor)
        library().ucp_am_data_release(handle_, message.descriptor);
      return;
    }
    if (!message.descriptor) {
      if (message.bytes != 0)
        std::memcpy(arrival->into.data(), message.data.data(), message.bytes);
      return end(std::move(arrival->done), {});
    }
    Operation* receiving = begin(std::move(arrival->keep), std::move(arrival->done));
    ucp_request_param_t param{};
    param.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    param.cb.recv_am = [](void* request, ucs_status_t status, std::size_t, void* user) {
      finish_request(request, status, user);
    };
    param.user_data = receiving;
    begun(receiving, library().ucp_am_recv_data_nbx(handle_, message.descriptor,
                                                    arrival->into.data(), message.bytes, &param));
  }

  // Outside of UCX.
  void pass_on() {
    for (Announced& message : std::exchange(announced_, {}))
      receive(std::move(message));
    for (auto& [done, status] : std::exchange(ended_, {}))
      done(status);
  }
  Operation* begin(BufferRef keep, Done done) {
    auto* out = new Operation{this, std::move(keep), std::move(done), {}};
    under_way_.insert(out);
    return out;
  }
  void begun(Operation* operation, ucs_status_ptr_t request) {
    if (!UCS_PTR_IS_PTR(request)) // it has ended already
      finish(operation, UCS_PTR_RAW_STATUS(request));
  }
  static void finish_request(void* request, ucs_status_t status, void* user) {
    auto* operation = static_cast<Operation*>(user);
    const Library& library = operation->worker->library();
    operation->worker->finish(operation, status);
    library.ucp_request_free(request);
  }
  void finish(Operation* operation, ucs_status_t status) {
    std::unique_ptr<Operation> ended(operation);
    under_way_.erase(operation);
    ended->keep = {};
    end(std::move(ended->done),
        status == UCS_OK ? Status{} : failure(library(), "a transfer failed", status));
  }
  // `done` is called outside of UCX, by this turn or the next.
  void end(Done done, Status status) { ended_.emplace_back(std::move(done), std::move(status)); }

  void lost(ucs_status_t why) {
    if (broken_.ok())
      broken_ = failure(library(), "the peer is not reached any more", why);
  }

  // UCX ends the process if a worker ends before what is under way: that is broken off, where the
  // transports can do so. False where they cannot, over shared memory alone: then UCX keeps the
  // worker for good, and moves nothing any more, since it takes no turn.
  bool break_off() {
    for (Announced& message : announced_)
      if (message.descriptor)
        library().ucp_am_data_release(handle_, message.descriptor);
    if (peer_ && can_break_) {
      ucp_request_param_t param{};
      param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
      param.flags = UCP_EP_CLOSE_FLAG_FORCE;
      ucs_status_ptr_t closing = library().ucp_ep_close_nbx(peer_, &param);
      constexpr int most_turns = 10'000; // a handful is enough
      for (int i = 0; i < most_turns && !under_way_.empty(); ++i)
        library().ucp_worker_progress(handle_);
      if (UCS_PTR_IS_PTR(closing))
        library().ucp_request_free(closing);
    }
    const bool have_ended = under_way_.empty();
    if (!have_ended)
      log_warning("UCX: a worker with ", under_way_.size(),
                  " transfers cannot be ended over these transports; it stays");
    for (Operation* operation : under_way_)
      operation->keep = {};
    return have_ended;
  }

  // UCX's worker needs its context, and the two are never given up.
  void keep_for_good() {
    static std::mutex lock;
    static auto* kept = new std::vector<std::pair<std::shared_ptr<Context>, ucp_worker_h>>;
    std::scoped_lock guard(lock);
    kept->emplace_back(context_, handle_);
  }

  const std::shared_ptr<Context> context_;
  const Arrive arrive_;
  ucp_worker_h handle_ = nullptr;
  int fd_ = -1;
  std::string address_;
  ucp_ep_h peer_ = nullptr; // ends with the worker
  bool can_break_ = true;   // what is under way
  std::unordered_set<Operation*> under_way_;
  std::vector<Announced> announced_;
  std::vector<std::pair<Done, Status>> ended_;
  Status broken_;
};

} // namespace

Status ucx_is_there() {
  return Library::open().status();
}

Result<std::unique_ptr<UcxWorker>> UcxWorker::make(const UcxChoice& choice, Arrive arrive) {
  return Worker::make(choice, std::move(arrive));
}

} // namespace troupe
