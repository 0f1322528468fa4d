// What graphs print (the ops Print and PrintV2): lines of the log, or, in a node that stands in for
// TensorFlow's server, text on the process's own streams, as there.
#pragma once

#include <string_view>

namespace troupe {

enum class PrintStream { output, error };

/// From now on prints go to standard output and error, plain. Once, before a graph runs.
void print_to_streams();

/// The text and its end, such as "\n"; as a line of the log the text alone. Any thread. On a stream
/// it is there when this returns, so that it comes before whatever the client prints after its
/// step; but a reader that does not read is waited for no longer than 100 ms, and what then finds
/// no room is dropped and counted (line_writer.hpp).
void print(PrintStream stream, std::string_view text, std::string_view end);

} // namespace troupe
