// The code of the messages of wire/master.hpp and local/master.hpp; see message_code.hpp.
#include "actors/protocol/local/worker.hpp"

#undef TROUPE_MESSAGE_TEMPLATE
#define TROUPE_MESSAGE_TEMPLATE template
#include "actors/protocol/local/master.hpp"
