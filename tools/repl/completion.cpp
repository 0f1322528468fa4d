#include "tools/repl/completion.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/strings.hpp"
#include "devices/device.hpp"
#include "kernels/framework/op_library.hpp"

namespace troupe {
namespace {

// What the word after these may be.
std::vector<ArgumentKind> kinds_at(const std::vector<std::string>& words) {
  const ReplCommand* command = find_repl_command(words[0]);
  if (!command || command->kinds.empty() || words.size() > command->max_arguments)
    return {};
  // A filter may be a node's name as well as a device's: kinds are by position only for commands
  // with several arguments.
  if (command->max_arguments == 1)
    return command->kinds;
  return {command->kinds[std::min(words.size(), command->kinds.size()) - 1]};
}

} // namespace

std::vector<std::string> complete(std::string_view text, const CompletionSources& sources) {
  PartialStatement partial = last_statement(text);
  std::vector<std::string> candidates;
  if (partial.words.empty()) {
    candidates = repl_command_names();
  } else {
    for (ArgumentKind kind : kinds_at(partial.words)) {
      if (kind == ArgumentKind::file) {
        candidates = files_with_prefix(partial.prefix);
      } else if (auto source = sources.find(kind); source != sources.end()) {
        auto more = source->second();
        candidates.insert(candidates.end(), more.begin(), more.end());
      }
    }
  }
  std::erase_if(candidates,
                [&](const std::string& name) { return !name.starts_with(partial.prefix); });
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}

std::vector<std::string> files_with_prefix(const std::string& prefix) {
  namespace fs = std::filesystem;
  std::size_t slash = prefix.rfind('/');
  std::string folder = slash == std::string::npos ? "" : prefix.substr(0, slash + 1);
  std::string name = prefix.substr(folder.size());
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end;
       it.increment(error)) {
    std::string file = it->path().filename().string();
    // Hidden files only for whoever asks for them.
    if (!file.starts_with(name) || (name.empty() && file.starts_with('.')))
      continue;
    std::error_code ignored;
    out.push_back(str_cat(folder, file, it->is_directory(ignored) ? "/" : ""));
  }
  return out;
}

CompletionSources sources_of(Workspace& workspace) {
  CompletionSources out;
  out[ArgumentKind::command] = repl_command_names;
  out[ArgumentKind::target] = [] { return std::vector<std::string>{"local", "caf://"}; };
  out[ArgumentKind::node] = [&workspace] {
    std::vector<std::string> names;
    for (const Node* node : std::as_const(workspace).graph().nodes())
      names.push_back(node->name);
    return names;
  };
  out[ArgumentKind::op] = [] {
    std::vector<std::string> names;
    for (const OpSchema* op : op_library().ops.all())
      names.push_back(op->name);
    return names;
  };
  out[ArgumentKind::device] = [&workspace] {
    std::vector<std::string> names;
    if (auto session = workspace.session())
      if (auto devices = (*session)->devices())
        for (const DeviceAttributes& device : *devices)
          names.push_back(device.name);
    return names;
  };
  out[ArgumentKind::actor] = [&workspace] {
    std::vector<std::string> names;
    if (auto watch = workspace.watch())
      if (auto tree = (*watch)->actors())
        for (const ActorInfo& actor : tree->actors)
          names.push_back(actor.path);
    return names;
  };
  out[ArgumentKind::step_verb] = [] { return std::vector<std::string>{"why"}; };
  out[ArgumentKind::step] = [&workspace] {
    std::vector<std::string> ids;
    auto watch = workspace.watch();
    auto session = workspace.session();
    if (!watch || !session)
      return ids;
    if (auto list = (*watch)->steps((*session)->handle()))
      for (const StepInfo& info : list->steps)
        if (info.state == "running")
          ids.push_back(str_cat(info.step_id));
    return ids;
  };
  out[ArgumentKind::session] = [&workspace] {
    std::vector<std::string> names;
    if (auto watch = workspace.watch())
      if (auto list = (*watch)->sessions())
        for (const SessionInfo& session : list->sessions)
          names.push_back(session.session_handle);
    return names;
  };
  return out;
}

} // namespace troupe
