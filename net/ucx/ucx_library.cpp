#include "net/ucx/ucx_library.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include <csignal>
#include <dlfcn.h>

#include "core/base/log.hpp"
#include "core/base/strings.hpp"

namespace troupe::ucx {

namespace {

// What UCX last complained of on this thread, since `failure` was called.
thread_local std::string complaint;

ucs_log_func_rc_t log_of_ucx(const char*, unsigned, const char*, ucs_log_level_t level,
                             const ucs_log_component_config_t*, const char* format, va_list args) {
  if (level > UCS_LOG_LEVEL_WARN)
    return UCS_LOG_FUNC_RC_CONTINUE; // only if somebody asked UCX for it
  char text[512];
  std::vsnprintf(text, sizeof text, format, args);
  complaint = text;
  log_debug("UCX: ", text);
  return UCS_LOG_FUNC_RC_STOP;
}

// Libraries that set signal handlers as they are loaded leave ours as they were.
class KeptSignals {
public:
  KeptSignals() {
    for (std::size_t i = 0; i < kept.size(); ++i)
      ::sigaction(kept[i], nullptr, &actions_[i]);
  }
  ~KeptSignals() {
    for (std::size_t i = 0; i < kept.size(); ++i)
      ::sigaction(kept[i], &actions_[i], nullptr);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

private:
  static constexpr std::array kept{SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGTERM, SIGINT,
                                   SIGHUP,  SIGUSR1, SIGUSR2, SIGPIPE, SIGCHLD, SIGTRAP, SIGALRM};
  std::array<struct sigaction, kept.size()> actions_{};
};

Status not_there(std::string_view why) {
  return failed_precondition(
      str_cat("UCX is not to be had on this machine: ", why, "; install it (Debian: libucx0)"));
}

Result<Library> load() {
  KeptSignals kept;
  void* ucp = ::dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!ucp)
    return not_there(::dlerror());
  void* ucs = ::dlopen("libucs.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!ucs)
    return not_there(::dlerror());
  Library out;
  const char* missing = nullptr;
#define TROUPE_UCX_FIND(library, name)                                                             \
  if (!(out.name = reinterpret_cast<decltype(out.name)>(::dlsym(library, #name))))                 \
    missing = #name;
#define TROUPE_UCX_FIND_UCP(name) TROUPE_UCX_FIND(ucp, name)
#define TROUPE_UCX_FIND_UCS(name) TROUPE_UCX_FIND(ucs, name)
  TROUPE_UCP_FUNCTIONS(TROUPE_UCX_FIND_UCP)
  TROUPE_UCS_FUNCTIONS(TROUPE_UCX_FIND_UCS)
#undef TROUPE_UCX_FIND_UCS
#undef TROUPE_UCX_FIND_UCP
#undef TROUPE_UCX_FIND
  if (missing)
    return not_there(str_cat("its libraries are too old, they have no ", missing));
  unsigned major = 0, minor = 0, release = 0;
  out.ucp_get_version(&major, &minor, &release);
  if (major != UCP_API_MAJOR || minor < UCP_API_MINOR)
    return not_there(str_cat("its version is ", major, ".", minor, " where ", UCP_API_MAJOR, ".",
                             UCP_API_MINOR, " or a later ", UCP_API_MAJOR, " is needed"));
  out.ucs_log_push_handler(log_of_ucx);
  return out;
}

} // namespace

Result<const Library*> Library::open() {
  static const Result<Library> library = load();
  if (!library.ok())
    return library.status();
  return &*library;
}

Status failure(const Library& library, std::string_view what, ucs_status_t status) {
  const std::string why = std::exchange(complaint, {});
  return unavailable(str_cat("UCX: ", what, ": ", library.ucs_status_string(status),
                             why.empty() ? "" : str_cat(" (", why, ")")));
}

} // namespace troupe::ucx
