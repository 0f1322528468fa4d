// Memory that a thread keeps between calls, so that large products do not fetch it from the system
// each time.
#pragma once
#include <cstddef>
#include <functional>

namespace troupe::arith {

enum class Scratch : int {
  patches,
  onednn,
  filter,
  winograd,
  ranges,
  sums,
  fourier,
  parts,
  padded
};
constexpr size_t num_scratch_kinds = 9;

/// At least `bytes` bytes, aligned to 64, of unspecified content; valid until this thread asks for
/// the same kind again.
void* thread_scratch(Scratch kind, size_t bytes);

/// Calls `run` with memory of at least `bytes` bytes, as above, and a margin after it as long
/// again: for foreign code that says itself how much it needs, the first time that it runs. False
/// if it wrote to the margin; what it computed is then not to be trusted.
bool runs_within(Scratch kind, size_t bytes, const std::function<void(void*)>& run);

/// For tests. While it lives, every request of thread_scratch gets memory of its own that ends at a
/// page which nobody may touch: code that leaves its block ends the program at once. Up to 63 bytes
/// lie between the block and that page, for the alignment; `num_spoilt` counts the blocks, given
/// back so far, whose own were written to. `runs_within` then has no margin. One at a time.
class GuardedScratch {
public:
  GuardedScratch();
  ~GuardedScratch();
  GuardedScratch(const GuardedScratch&) = delete;
  GuardedScratch& operator=(const GuardedScratch&) = delete;

  static int num_spoilt();
};

} // namespace troupe::arith
