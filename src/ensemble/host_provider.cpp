#include "ensemble/host_provider.hpp"

#include "session/connect_schedule.hpp"

#include <charconv>
#include <string_view>

namespace latchkey::model {
namespace {

// The hosts of an in-process ensemble are server-0, server-1, and so on. Other names lead nowhere.
std::vector<int> servers_of(const session_options& options, int count) {
    constexpr std::string_view prefix = "server-";
    std::vector<int> servers;
    for (const session_options::endpoint& e : options.servers) {
        int index = -1;
        if (e.host.starts_with(prefix)) {
            const char* const end = e.host.data() + e.host.size();
            const auto parsed = std::from_chars(e.host.data() + prefix.size(), end, index);
            index = parsed.ptr == end && index >= 0 && index < count ? index : -1;
        }
        servers.push_back(index);
    }
    if (servers.empty()) {
        for (int i = 0; i < count; ++i) {
            servers.push_back(i);
        }
    }
    return servers;
}

}  // namespace

host_provider::host_provider(const session_options& options, int count, loop& l)
    : servers_(servers_of(options, count)) {
    for (std::size_t i = servers_.size(); i > 1; --i) {
        std::swap(servers_[i - 1], servers_[l.random() % i]);
    }
}

int host_provider::next() {
    return wanted_ >= 0 ? std::exchange(wanted_, -1) : servers_[position_++ % servers_.size()];
}

loop::clock::duration host_provider::limit(std::chrono::milliseconds session_timeout) const {
    const auto round = static_cast<unsigned>(failures_ / servers_.size());
    return connect_limit(session_timeout, servers_.size(), round);
}

}  // namespace latchkey::model
