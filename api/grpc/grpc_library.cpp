#include "api/grpc/grpc_library.hpp"

#include <grpc/grpc.h>

namespace troupe {

void keep_grpc_library() {
  [[maybe_unused]] static const bool kept = (grpc_init(), true);
}

} // namespace troupe
