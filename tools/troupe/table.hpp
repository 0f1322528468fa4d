// Rows of text in columns, for people.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace troupe {

/// Columns are as wide as their longest cell, two blanks apart; lines have no blanks at their end.
inline std::string format_table(const std::vector<std::vector<std::string>>& rows,
                                std::string_view indent = "") {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1), 0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string out;
  for (const auto& row : rows) {
    out.append(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      out.append(row[i]);
      if (i + 1 < row.size())
        out.append(widths[i] - row[i].size() + 2, ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out.push_back('\n');
  }
  return out;
}

} // namespace troupe
