// The name somebody probably meant.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Insertions, deletions and replacements that turn one into the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

/// "; did you mean 'lease'?" for the nearest of the names, if one is near, otherwise "; known are
/// …".
inline std::string nearest_hint(std::string_view name, const std::vector<std::string_view>& known) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (std::string_view candidate : known)
    if (std::size_t d = edit_distance(name.substr(0, 64), candidate); d < least) {
      least = d;
      best = candidate;
    }
  if (!best.empty())
    return "; did you mean '" + std::string(best) + "'?";
  std::string out = "; known are ";
  for (std::size_t i = 0; i < known.size(); ++i)
    out.append(i ? ", " : "").append(known[i]);
  return out;
}

} // namespace troupe
