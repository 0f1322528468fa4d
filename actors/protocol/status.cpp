#include "actors/protocol/status.hpp"

#include <caf/exit_reason.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>

#include "actors/protocol/common.hpp"
#include "actors/protocol/error_text.hpp"
#include "core/base/strings.hpp"

namespace troupe {

namespace {
constexpr caf::atom_value category = caf::atom("troupe");
}

caf::error to_error(const Status& status) {
  const Origin& origin = status.origin();
  return {static_cast<std::uint8_t>(status.code()), category,
          caf::make_message(status.message(), status.derived(), origin.node, origin.op,
                            origin.device, origin.step)};
}

Status to_status(const caf::error& error, std::string_view what) {
  if (!error)
    return {};
  if (error.category() == category) {
    const caf::message& context = error.context();
    if (!context.match_elements<std::string, bool, std::string, std::string, std::string,
                                std::uint64_t>())
      return {code_of(error.code()), "an error without text"};
    Status status(code_of(error.code()), context.get_as<std::string>(0));
    status = status.with_origin({context.get_as<std::string>(2), context.get_as<std::string>(3),
                                 context.get_as<std::string>(4), context.get_as<std::uint64_t>(5)});
    return context.get_as<bool>(1) ? status.as_derived() : status;
  }
  std::string prefix = what.empty() ? std::string("a request") : std::string(what);
  if (error.category() == caf::atom("exit"))
    return unavailable(str_cat(prefix, " was not answered: the actor that had it has ended (",
                               error_text(error), ")"));
  if (error.category() == caf::atom("system"))
    switch (static_cast<caf::sec>(error.code())) {
    case caf::sec::request_timeout:
      // The runtime's own patience, not a caller's deadline.
      return unavailable(str_cat(prefix,
                                 " was not answered in time: the task that has it is frozen, "
                                 "overloaded or cut off"));
    case caf::sec::request_receiver_down:
    case caf::sec::cannot_connect_to_node:
    case caf::sec::no_route_to_receiving_node:
    case caf::sec::remote_linking_failed:
    case caf::sec::no_proxy_registry:
      return unavailable(str_cat(
          prefix, " found nobody: the actor it was sent to has ended or cannot be reached"));
    case caf::sec::unexpected_message:
    case caf::sec::unexpected_actor_messaging_interface:
      return unimplemented(str_cat(
          prefix, " is not understood by its receiver; are both nodes of the same version?"));
    default:
      break;
    }
  if (error.category() != caf::atom("system")) // of a peer of whatever making
    return internal(str_cat(prefix, " failed with code ", static_cast<int>(error.code()),
                            " of a kind that is not known here"));
  return internal(str_cat(prefix, " failed: ", error_text(error)));
}

} // namespace troupe
