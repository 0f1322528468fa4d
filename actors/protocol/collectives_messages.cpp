// The code of the messages of wire/collectives.hpp and local/collectives.hpp; see message_code.hpp.
#include "actors/protocol/local/node.hpp"

#undef TROUPE_MESSAGE_TEMPLATE
#define TROUPE_MESSAGE_TEMPLATE template
#include "actors/protocol/local/collectives.hpp"
