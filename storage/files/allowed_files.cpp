#include "storage/files/allowed_files.hpp"

#include <algorithm>
#include <span>

#include "core/base/strings.hpp"
#include "storage/files/file_system.hpp"
#include "storage/files/internal/file_value.hpp"

namespace troupe {
namespace {

constexpr std::size_t longest_path = 4096;

bool is_below(std::string_view path, std::string_view folder) {
  return path == folder || folder == "/" ||
         (path.starts_with(folder) && path[folder.size()] == '/');
}

/// Past a '[': whether the set has `c`, and where the pattern goes on; nothing for a set without
/// end.
struct SetMatch {
  bool has = false;
  std::string_view rest;
};
std::optional<SetMatch> match_set(std::string_view pattern, char c) {
  const bool negated = pattern.starts_with('^') || pattern.starts_with('!');
  if (negated)
    pattern.remove_prefix(1);
  bool has = false;
  for (bool first = true; !pattern.empty(); first = false) {
    if (pattern[0] == ']' && !first)
      return SetMatch{has != negated, pattern.substr(1)};
    if (pattern[0] == '\\' && pattern.size() > 1)
      pattern.remove_prefix(1);
    const char from = pattern[0];
    char to = from;
    if (pattern.size() > 2 && pattern[1] == '-' && pattern[2] != ']') {
      to = pattern[2];
      pattern.remove_prefix(2);
    }
    has = has || (from <= c && c <= to);
    pattern.remove_prefix(1);
  }
  return {};
}

/// One character of the name; what is left of the pattern if it matches.
std::optional<std::string_view> match_one(char c, std::string_view pattern) {
  if (pattern[0] == '?')
    return pattern.substr(1);
  if (pattern[0] == '[') {
    const auto set = match_set(pattern.substr(1), c);
    return set && set->has ? std::optional(set->rest) : std::nullopt;
  }
  if (pattern[0] == '\\' && pattern.size() > 1)
    pattern.remove_prefix(1);
  return pattern[0] == c ? std::optional(pattern.substr(1)) : std::nullopt;
}

} // namespace

bool matches_pattern(std::string_view name, std::string_view pattern) {
  // The last '*' takes one character more whenever what follows it does not match.
  std::string_view retry_pattern, retry_name;
  bool has_star = false;
  while (!name.empty() || !pattern.empty()) {
    if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      retry_pattern = pattern;
      retry_name = name;
      has_star = true;
      continue;
    }
    if (!name.empty() && !pattern.empty())
      if (const auto rest = match_one(name[0], pattern)) {
        name.remove_prefix(1);
        pattern = *rest;
        continue;
      }
    if (!has_star || retry_name.empty())
      return false;
    retry_name.remove_prefix(1);
    name = retry_name;
    pattern = retry_pattern;
  }
  return true;
}

std::string folder_of_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos)
    return ".";
  return std::string(path.substr(0, std::max<std::size_t>(slash, 1)));
}

namespace {
FilePlace place_of(const std::string& path) {
  return {folder_of_path(path), path.substr(path.rfind('/') + 1)};
}
} // namespace

Result<std::shared_ptr<AllowedFiles>> AllowedFiles::make(const std::vector<std::string>& folders,
                                                         FileSystem& files) {
  std::vector<std::string> resolved;
  for (const std::string& folder : folders) {
    TROUPE_ASSIGN(std::string path, files.resolve(folder.empty() ? "." : folder));
    if (!files.is_folder(path))
      return not_found(str_cat("there is no folder '", folder,
                               "', which graphs are to be allowed; make it, or name another one"));
    resolved.push_back(std::move(path));
  }
  return std::shared_ptr<AllowedFiles>(new AllowedFiles(std::move(resolved), files));
}

Status AllowedFiles::refuse(std::string_view path, std::string_view why) const {
  const std::string allowed =
      folders_.empty() ? "none" : str_cat("'", str_join(folders_, "', '"), "'");
  return permission_denied(
      str_cat("'", path, "' ", why,
              "; graphs may use files below the folders that this node allows (", allowed,
              "). Allow the folder: --files=DIR of `troupe serve`, `files` in [troupe] of "
              "the config"));
}

Result<std::string> AllowedFiles::resolve(std::string_view path) const {
  std::string_view plain = path;
  if (plain.starts_with("file://"))
    plain.remove_prefix(7);
  else if (const std::size_t scheme = plain.find("://");
           scheme != std::string_view::npos && plain.find('/') > scheme)
    return unimplemented(str_cat("File system scheme '", plain.substr(0, scheme),
                                 "' not implemented (file: '", path, "')"));
  if (plain.empty())
    return not_found("the path of a file is empty; No such file or directory");
  if (plain.size() > longest_path || plain.find('\0') != std::string_view::npos)
    return invalid_argument(str_cat("a path has at most ", longest_path,
                                    " bytes, none of which is 0; this one begins '",
                                    plain.substr(0, 100), "'"));
  TROUPE_ASSIGN(std::string out, files_.resolve(std::string(plain)));
  while (out.size() > 1 && out.ends_with('/'))
    out.pop_back();
  if (std::ranges::none_of(folders_, [&](const auto& folder) { return is_below(out, folder); }))
    return refuse(path, out == plain
                            ? std::string("is outside of the allowed folders")
                            : str_cat("leads to '", out, "', outside of the allowed folders"));
  return out;
}

Result<std::unique_ptr<StorageReader>> AllowedFiles::open(std::string_view path) {
  TROUPE_ASSIGN(const std::string real, resolve(path));
  auto out = read_file_value(files_, real, std::string(path));
  if (out.status().code() == Code::not_found)
    return not_found(str_cat(path, "; No such file or directory"));
  return out;
}

Result<std::unique_ptr<StorageWriter>> AllowedFiles::write(std::string_view path) {
  TROUPE_ASSIGN(const std::string real, resolve(path));
  return write_file_value(files_, place_of(real));
}

Status AllowedFiles::rename(std::string_view from, std::string_view to) {
  TROUPE_ASSIGN(const std::string old, resolve(from));
  TROUPE_ASSIGN(const std::string real, resolve(to));
  return rename_file_value(files_, place_of(old), place_of(real));
}

Status AllowedFiles::remove(std::string_view path) {
  TROUPE_ASSIGN(const std::string real, resolve(path));
  TROUPE_TRY(files_.remove(real));
  return files_.sync_folder(folder_of_path(real));
}

Result<std::vector<std::string>> AllowedFiles::list(std::string_view folder) {
  TROUPE_ASSIGN(const std::string real, resolve(folder));
  TROUPE_ASSIGN(auto out, files_.list(real));
  std::erase_if(out, [](const std::string& name) { return name.starts_with(unfinished_prefix); });
  return out;
}

Status AllowedFiles::clear_unfinished(std::string_view folder) {
  TROUPE_ASSIGN(const std::string real, resolve(folder));
  TROUPE_ASSIGN(auto names, files_.list(real));
  for (const std::string& name : names)
    if (name.starts_with(unfinished_prefix))
      TROUPE_TRY(files_.remove(str_cat(real, "/", name)));
  return {};
}

Result<std::unique_ptr<File>> AllowedFiles::create(std::string_view path) {
  TROUPE_ASSIGN(const std::string real, resolve(path));
  return files_.create(real);
}

Status AllowedFiles::append_to(std::string_view path, std::string_view bytes) {
  TROUPE_ASSIGN(const std::string real, resolve(path));
  TROUPE_ASSIGN(const auto file, files_.open_to_append(real));
  return file->append(std::as_bytes(std::span(bytes)));
}

Status AllowedFiles::make_folders(std::string_view path) {
  TROUPE_ASSIGN(const std::string real, resolve(path));
  for (std::size_t slash = real.find('/', 1);; slash = real.find('/', slash + 1)) {
    const std::string folder = real.substr(0, slash);
    if (!files_.is_folder(folder)) {
      TROUPE_TRY(files_.make_folder(folder));
      TROUPE_TRY(files_.sync_folder(folder_of_path(folder)));
    }
    if (slash == std::string::npos)
      return {};
  }
}

Status AllowedFiles::remove_folder(std::string_view path) {
  TROUPE_ASSIGN(const std::string real, resolve(path));
  return files_.remove_folder(real);
}

Result<bool> AllowedFiles::exists(std::string_view path) {
  TROUPE_ASSIGN(const std::string real, resolve(path));
  if (files_.is_folder(real))
    return true;
  auto file = files_.open(real);
  if (file.ok() || file.status().code() == Code::not_found)
    return file.ok();
  return file.status();
}

Result<bool> AllowedFiles::is_folder(std::string_view path) {
  TROUPE_ASSIGN(const std::string real, resolve(path));
  return files_.is_folder(real);
}

Result<std::vector<std::string>> AllowedFiles::match(std::string_view pattern, std::size_t most) {
  constexpr std::string_view special = "*?[\\";
  const std::size_t first = pattern.find_first_of(special);
  if (first == std::string_view::npos) {
    TROUPE_ASSIGN(const bool there, exists(pattern));
    return there ? std::vector<std::string>{std::string(pattern)} : std::vector<std::string>{};
  }
  // Part by part: the folders that match so far, each as it is written.
  const std::size_t slash = pattern.substr(0, first).rfind('/');
  std::vector<std::string> found{
      std::string(slash == std::string_view::npos ? "" : pattern.substr(0, slash + 1))};
  std::string_view rest = slash == std::string_view::npos ? pattern : pattern.substr(slash + 1);
  for (bool is_last = false; !is_last;) {
    const std::size_t end = rest.find('/');
    is_last = end == std::string_view::npos;
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(is_last ? rest.size() : end + 1);
    std::vector<std::string> next;
    for (const std::string& folder : found) {
      TROUPE_ASSIGN(const std::string real, resolve(folder.empty() ? "." : folder));
      if (!files_.is_folder(real))
        continue;
      TROUPE_ASSIGN(std::vector<std::string> names, files_.list_folders(real));
      if (is_last) {
        TROUPE_ASSIGN(const std::vector<std::string> more, files_.list(real));
        names.insert(names.end(), more.begin(), more.end());
      }
      for (const std::string& name : names)
        if (!name.starts_with(unfinished_prefix) && matches_pattern(name, part))
          next.push_back(str_cat(folder, name, is_last ? "" : "/"));
      if (next.size() > most)
        return Status(Code::resource_exhausted,
                      str_cat("more than ", most, " files match '", pattern, "'"));
    }
    found = std::move(next);
  }
  std::ranges::sort(found);
  return found;
}

} // namespace troupe
