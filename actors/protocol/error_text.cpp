#include "actors/protocol/error_text.hpp"

#include <caf/error.hpp>
#include <caf/exit_reason.hpp>
#include <caf/sec.hpp>

#include "actors/protocol/status.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {

std::string exit_text(caf::exit_reason reason) {
  switch (reason) {
  case caf::exit_reason::normal:
  case caf::exit_reason::user_shutdown:
    return "it was asked to end";
  case caf::exit_reason::kill:
    return "it was killed";
  case caf::exit_reason::remote_link_unreachable:
    return "the connection to it was lost";
  case caf::exit_reason::unhandled_exception:
    return "an exception ended it";
  case caf::exit_reason::unreachable:
    return "nobody could reach it any more";
  default:
    return "it ended for a reason that is not known";
  }
}

std::string system_text(caf::sec code) {
  switch (code) {
  case caf::sec::unexpected_message:
  case caf::sec::unexpected_response:
    return "it was sent what it does not know; are both nodes of the same version?";
  case caf::sec::request_receiver_down:
    return "the actor that was asked has ended";
  case caf::sec::request_timeout:
    return "no answer came in time";
  case caf::sec::disconnect_during_handshake:
    return "the connection was closed before the other side had greeted";
  case caf::sec::cannot_connect_to_node:
    return "nobody accepts connections there";
  case caf::sec::cannot_open_port:
    return "the port cannot be opened";
  case caf::sec::incompatible_versions:
  case caf::sec::incompatible_application_ids:
  case caf::sec::malformed_basp_message:
  case caf::sec::serializing_basp_payload_failed:
    return "the other side does not speak troupe's protocol";
  case caf::sec::redundant_connection:
    return "there is another connection to it already";
  case caf::sec::no_route_to_receiving_node:
  case caf::sec::remote_linking_failed:
  case caf::sec::no_proxy_registry:
    return "there is no connection to it";
  case caf::sec::runtime_error:
    return "an exception ended it";
  case caf::sec::end_of_stream:
  case caf::sec::unknown_type:
  case caf::sec::invalid_argument:
    return "a message could not be read";
  default:
    return str_cat("the actor system refused it (its code ", static_cast<int>(code), ")");
  }
}

} // namespace

std::string error_text(const caf::error& error) {
  if (!error)
    return exit_text(caf::exit_reason::normal);
  if (error.category() == caf::atom("exit"))
    return exit_text(static_cast<caf::exit_reason>(error.code()));
  if (error.category() == caf::atom("system"))
    return system_text(static_cast<caf::sec>(error.code()));
  return to_status(error).message();
}

bool is_fault(const caf::error& reason) {
  if (!reason)
    return false;
  if (reason.category() == caf::atom("exit"))
    switch (static_cast<caf::exit_reason>(reason.code())) {
    case caf::exit_reason::normal:
    case caf::exit_reason::user_shutdown:
    case caf::exit_reason::remote_link_unreachable:
    case caf::exit_reason::unreachable:
      return false;
    default:
      return true;
    }
  return to_status(reason).code() == Code::internal;
}

} // namespace troupe
