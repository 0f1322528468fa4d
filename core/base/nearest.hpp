// "Did you mean …": the names closest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Insertions, deletions, replacements and swaps of neighbours that turn one into the other; a
/// letter's case counts for nothing.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// At most `count` candidates that differ from `name` by no more than a third of its length (at
/// least 2), or that begin with it; nearest first, then in the candidates' order. None for a name
/// of more than 100 bytes.
std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& candidates,
                                       std::size_t count = 3);

/// "; did you mean 'a' or 'b'?", or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

} // namespace troupe
