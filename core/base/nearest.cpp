#include "core/base/nearest.hpp"

#include <algorithm>

#include "core/base/strings.hpp"

namespace troupe {
namespace {

constexpr std::size_t longest_name = 100; // beyond it nobody has mistyped, and the table is large

bool same_letter(char a, char b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return lower(a) == lower(b);
}

} // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table: the one before the last is for swaps.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + !same_letter(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& candidates,
                                       std::size_t count) {
  if (name.size() > longest_name)
    return {};
  std::size_t limit = std::max<std::size_t>(2, name.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest_name)
      continue;
    std::size_t distance = edit_distance(name, candidate);
    bool begins = !name.empty() && candidate.starts_with(name);
    if (begins || (distance <= limit && distance < name.size()))
      found.emplace_back(begins ? std::min<std::size_t>(distance, 1) : distance, candidate);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (auto& [distance, candidate] : found)
    if (out.size() < count)
      out.push_back(std::move(candidate));
  return out;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  auto near = nearest_names(name, candidates);
  if (near.empty())
    return {};
  std::string out = "; did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i)
    str_append(out, i == 0 ? "" : i + 1 == near.size() ? " or " : ", ", "'", near[i], "'");
  return out + "?";
}

} // namespace troupe
