// The code of the messages of master.hpp; see message_code.hpp.
#include "actors/protocol/worker.hpp"

#undef TROUPE_MESSAGE_TEMPLATE
#define TROUPE_MESSAGE_TEMPLATE template
#include "actors/protocol/master.hpp"
