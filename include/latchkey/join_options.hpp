#pragma once

#include <latchkey/option.hpp>

#include <stop_token>
#include <string>

namespace latchkey::inline v0 {

/// How a member joins.
struct join_options {
    option<std::string> data = {};      ///< what the member publishes
    option<std::stop_token> stop = {};  ///< a request cancels: join() returns an empty membership

    ~join_options() {
        data.drop();
        stop.drop();
    }
};

}  // namespace latchkey::inline v0
