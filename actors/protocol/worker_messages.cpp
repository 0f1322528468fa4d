// The code of the messages of wire/worker.hpp and local/worker.hpp; see message_code.hpp.
#include "actors/protocol/local/node.hpp"

#undef TROUPE_MESSAGE_TEMPLATE
#define TROUPE_MESSAGE_TEMPLATE template
#include "actors/protocol/local/worker.hpp"
