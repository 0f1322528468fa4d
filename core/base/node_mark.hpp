// The mark by which TensorFlow's clients find the node that an error is of.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// The sentence, then "\n\t [[{{node NAME}}]]"; where the sentence has such a mark already, of a
/// node within a function, "\n\t [[NAME]]": clients look for the first one. NAME is the node's in
/// the body of its function, which clients know: of "cond/then/_4/check", a call that was written
/// out, "check".
std::string naming_node(std::string_view sentence, std::string_view node);

} // namespace troupe
