#include "zookeeper/name_resolution.hpp"

#include <latchkey/error.hpp>

#include "loop/background_thread.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <netdb.h>
#include <sys/socket.h>

namespace latchkey::inline v0 {
namespace {

std::string address_of(const addrinfo& entry) {
    boost::asio::ip::tcp::endpoint endpoint;
    std::memcpy(endpoint.data(), entry.ai_addr, entry.ai_addrlen);
    return endpoint.address().to_string();
}

name_resolution resolve(const session_options::endpoint& e) {
    name_resolution result;
    addrinfo hints{};
    hints.ai_flags = AI_ADDRCONFIG;
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int rc = ::getaddrinfo(e.host.c_str(), nullptr, &hints, &found);
    if (rc != 0) {
        const std::string why =
            rc == EAI_SYSTEM ? std::generic_category().message(errno) : ::gai_strerror(rc);
        result.failure = "cannot resolve '" + e.host + "': " + why;
        return result;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> entries(found, &::freeaddrinfo);
    for (const auto* entry = found; entry != nullptr; entry = entry->ai_next) {
        if (entry->ai_family == AF_INET || entry->ai_family == AF_INET6) {
            result.addresses.push_back({address_of(*entry), e.port, e.host});
        }
    }
    return result;
}

}  // namespace

std::optional<server_address> numeric_address(const session_options::endpoint& e) {
    boost::system::error_code ec;
    const auto address = boost::asio::ip::make_address(e.host, ec);
    if (ec) {
        return std::nullopt;
    }
    return server_address{address.to_string(), e.port, e.host};
}

void resolve_name(session_options::endpoint name,
                  const std::function<void(name_resolution)>& done) {
    try {
        background_thread("latchkey-names", [name = std::move(name), done] {
            done(resolve(name));
        }).detach();
    } catch (const error& e) {
        done({.addresses = {}, .failure = std::string("cannot look up a name: ") + e.what()});
    }
}

}  // namespace latchkey::inline v0
