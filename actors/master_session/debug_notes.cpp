#include "actors/master_session/debug_notes.hpp"

#include "kernels/framework/debug_files.hpp"

namespace troupe {

void write_debug_note(MasterSessionSelf self, const MasterSessionParts& parts, WaitingRun run) {
  auto& state = self->state;
  const ClientGraph& graph = *run.bound->graph;
  DumpedRun note;
  note.global_step = run.debug_step;
  note.of_session = state.num_finished() + static_cast<std::int64_t>(state.log.num_running()) + 1;
  note.of_signature = graph.executions;
  note.feeds = graph.signature.feeds;
  note.fetches = graph.signature.fetches;
  note.targets = graph.signature.targets;
  run.is_noted = true;
  const DebugWatches watches = graph.watches;
  look_at(self, run.due_us);
  const std::uint64_t number = state.waiting.expect_feeds(std::move(run));
  caf::actor_addr address = self->address();
  parts.services->threads->run([=, services = parts.services] {
    std::vector<std::string> urls;
    for (const DebugWatch& watch : *watches)
      for (const std::string& url : watch.urls)
        if (std::ranges::find(urls, url) == urls.end())
          urls.push_back(url);
    Status status = tell_debugger_of_run(*services->devices.all().front(), urls, note);
    if (auto actor = caf::actor_cast<caf::strong_actor_ptr>(address))
      caf::anon_send(typed<MasterSessionActor>(actor), DebugNoteWritten{number, std::move(status)});
  });
}

void debug_note_written(MasterSessionSelf self, const MasterSessionParts& parts,
                        const DebugNoteWritten& written) {
  auto run = self->state.waiting.feeds_arrived(written.number);
  if (!run)
    return; // cancelled meanwhile
  if (written.status.ok())
    return admit(self, parts, *std::move(run));
  refuse_run(self, parts, *run, written.status);
}

} // namespace troupe
