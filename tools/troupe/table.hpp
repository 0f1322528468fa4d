// Rows of text in columns, for people.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Letters of a UTF-8 text.
inline std::size_t letters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

/// Columns are as wide as their longest cell, two blanks apart; lines have no blanks at their end.
inline std::string format_table(const std::vector<std::vector<std::string>>& rows,
                                std::string_view indent = "") {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1), 0);
      widths[i] = std::max(widths[i], letters_of(row[i]));
    }
  std::string out;
  for (const auto& row : rows) {
    out.append(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      out.append(row[i]);
      if (i + 1 < row.size())
        out.append(widths[i] - letters_of(row[i]) + 2, ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out.push_back('\n');
  }
  return out;
}

} // namespace troupe
