#include "supervisor/session_passing.hpp"

#include "client/client_core.hpp"
#include "session/connect_string.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

namespace latchkey::cli {

namespace {

std::vector<std::string> endpoints_of(const std::string& servers) {
    std::vector<std::string> all;
    for (const auto& [host, port] : parse_connect_string(servers).servers) {
        all.push_back(fmt::format("{}:{}", host, port));
    }
    return all;
}

}  // namespace

session_passing::session_passing(client& c, main_loop& loop, std::string servers, supervisor* to)
    : client_(c),
      servers_(std::move(servers)),
      supervisor_(to),
      listening_(
          c.on_change([this, &loop](connection_state) { loop.post([this] { update(); }); })) {}

void session_passing::update() {
    const session_claim now = client_core::of(client_)->claim();
    if (supervisor_ != nullptr && now != passed_.claim) {
        passed_ = {now, endpoints_of(servers_)};
        supervisor_->take_session(passed_);
    }
}

}  // namespace latchkey::cli
