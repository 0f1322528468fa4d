// Cases of Abort and Timestamp.
#include <doctest/doctest.h>

#include "tests/support/ops/op_cases.hpp"

namespace troupe {
namespace {

TROUPE_OP_CASES(Abort) {
  return {
      {
          .name = "the step fails with the message",
          .attrs = {{"error_msg", "enough"}},
          .error = "enough",
      },
      {
          .name = "without an error, too",
          .attrs = {{"exit_without_error", true}},
          .error = "Abort: the graph asked for the step to end",
      },
  };
}

TROUPE_OP_CASES(Timestamp) {
  return {{.name = "now", .outputs = {"?"}}};
}

} // namespace
} // namespace troupe
