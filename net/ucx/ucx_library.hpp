// UCX's shared libraries, opened at run time: a machine without them runs everything else.
#pragma once

#include <string>

#include <ucp/api/ucp.h>
#include <ucs/debug/log_def.h>

#include "core/base/status.hpp"

namespace troupe::ucx {

// What is called of libucp.so.0, and of the libucs.so.0 that it brings.
#define TROUPE_UCP_FUNCTIONS(X)                                                                    \
  X(ucp_get_version)                                                                               \
  X(ucp_config_read)                                                                               \
  X(ucp_config_modify)                                                                             \
  X(ucp_config_release)                                                                            \
  X(ucp_init_version)                                                                              \
  X(ucp_cleanup)                                                                                   \
  X(ucp_worker_create)                                                                             \
  X(ucp_worker_destroy)                                                                            \
  X(ucp_worker_get_efd)                                                                            \
  X(ucp_worker_arm)                                                                                \
  X(ucp_worker_progress)                                                                           \
  X(ucp_worker_get_address)                                                                        \
  X(ucp_worker_release_address)                                                                    \
  X(ucp_worker_set_am_recv_handler)                                                                \
  X(ucp_ep_create)                                                                                 \
  X(ucp_ep_close_nbx)                                                                              \
  X(ucp_am_send_nbx)                                                                               \
  X(ucp_am_recv_data_nbx)                                                                          \
  X(ucp_am_data_release)                                                                           \
  X(ucp_request_free)
#define TROUPE_UCS_FUNCTIONS(X)                                                                    \
  X(ucs_status_string)                                                                             \
  X(ucs_log_push_handler)

/// The functions, under their own names.
struct Library {
#define TROUPE_UCX_MEMBER(name) decltype(&::name) name = nullptr;
  TROUPE_UCP_FUNCTIONS(TROUPE_UCX_MEMBER)
  TROUPE_UCS_FUNCTIONS(TROUPE_UCX_MEMBER)
#undef TROUPE_UCX_MEMBER

  /// Opens the libraries at the first call; they stay open. FAILED_PRECONDITION, with the remedy,
  /// when they are not there or too old. The process keeps its own signal handlers, and what UCX
  /// logs goes into our log, at the level of debugging.
  static Result<const Library*> open();
};

/// `what` failed with `status`: UNAVAILABLE, with what UCX logged of it on this thread.
Status failure(const Library& library, std::string_view what, ucs_status_t status);

} // namespace troupe::ucx
