// The code of the messages of worker.hpp; see message_code.hpp.
#include "actors/protocol/node.hpp"

#undef TROUPE_MESSAGE_TEMPLATE
#define TROUPE_MESSAGE_TEMPLATE template
#include "actors/protocol/worker.hpp"
