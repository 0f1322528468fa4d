// The threads of one block of a cooperative kernel, as fibres.
#pragma once

#include <functional>
#include <string>

namespace troupe::testing {

/// Runs `thread` for each of `threads` threads of a block; they may wait for each other. Returns
/// what was wrong: nothing, or that some ended while others wait for them.
std::string run_block(unsigned threads, const std::function<void()>& thread);

} // namespace troupe::testing
