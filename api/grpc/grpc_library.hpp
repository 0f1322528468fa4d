// How long gRPC's library lives.
#pragma once

namespace troupe {

/// From now on the library lives as long as the process. It would end with its last server or
/// connection, and wait there for up to ten seconds for a poller of its own that large messages
/// leave behind.
void keep_grpc_library();

} // namespace troupe
