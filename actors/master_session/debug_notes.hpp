// Of the MASTER SESSION: what a debugger is told of a run before it begins.
#pragma once

#include "actors/master_session/runs.hpp"

namespace troupe {

/// Writes it down on a compute thread; the run waits meanwhile, and is admitted then.
void write_debug_note(MasterSessionSelf self, const MasterSessionParts& parts, WaitingRun run);
void debug_note_written(MasterSessionSelf self, const MasterSessionParts& parts,
                        const DebugNoteWritten& written);

} // namespace troupe
