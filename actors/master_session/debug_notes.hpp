// Part of the MASTER SESSION: writes the description of a watched run into the debugger's folder
// before it begins.
#pragma once

#include "actors/master_session/runs.hpp"

namespace troupe {

/// Writes on a compute thread; the run is admitted when that is done.
void write_debug_note(MasterSessionSelf self, const MasterSessionParts& parts, WaitingRun run);
void debug_note_written(MasterSessionSelf self, const MasterSessionParts& parts,
                        const DebugNoteWritten& written);

} // namespace troupe
