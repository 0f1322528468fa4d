// Memory that a thread keeps between calls, so that large products do not fetch it from the system
// each time.
#pragma once
#include <cstddef>

namespace troupe::arith {

enum class Scratch : int { patches, onednn, filter, winograd };

/// At least `bytes` bytes, aligned to 64, of unspecified content; valid until this thread asks for
/// the same kind again.
void* thread_scratch(Scratch kind, size_t bytes);

} // namespace troupe::arith
