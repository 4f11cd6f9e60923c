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

std::optional<std::string> numeric_address(const std::string& host) {
    boost::system::error_code ec;
    const auto address = boost::asio::ip::make_address(host, ec);
    if (ec) {
        return std::nullopt;
    }
    return address.to_string();
}

std::string address_of(const addrinfo& entry) {
    boost::asio::ip::tcp::endpoint endpoint;
    std::memcpy(endpoint.data(), entry.ai_addr, entry.ai_addrlen);
    return endpoint.address().to_string();
}

void resolve(const session_options::endpoint& e, name_resolution& result) {
    addrinfo hints{};
    hints.ai_flags = AI_ADDRCONFIG;
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int rc = ::getaddrinfo(e.host.c_str(), nullptr, &hints, &found);
    if (rc != 0) {
        const std::string why =
            rc == EAI_SYSTEM ? std::generic_category().message(errno) : ::gai_strerror(rc);
        result.failures.push_back("cannot resolve '" + e.host + "': " + why);
        return;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> entries(found, &::freeaddrinfo);
    for (const auto* entry = found; entry != nullptr; entry = entry->ai_next) {
        if (entry->ai_family == AF_INET || entry->ai_family == AF_INET6) {
            result.addresses.push_back({address_of(*entry), e.port, e.host});
        }
    }
}

name_resolution resolve_all(const std::vector<session_options::endpoint>& endpoints) {
    name_resolution result;
    for (const auto& e : endpoints) {
        if (auto numeric = numeric_address(e.host)) {
            result.addresses.push_back({std::move(*numeric), e.port, e.host});
        } else {
            resolve(e, result);
        }
    }
    return result;
}

}  // namespace

std::optional<std::vector<server_address>> numeric_addresses(
    const std::vector<session_options::endpoint>& endpoints) {
    std::vector<server_address> result;
    for (const auto& e : endpoints) {
        auto numeric = numeric_address(e.host);
        if (!numeric) {
            return std::nullopt;
        }
        result.push_back({std::move(*numeric), e.port, e.host});
    }
    return result;
}

void resolve_names(std::vector<session_options::endpoint> endpoints,
                   const std::function<void(name_resolution)>& done) {
    try {
        start_background_thread("latchkey-names", [endpoints = std::move(endpoints), done] {
            done(resolve_all(endpoints));
        }).detach();
    } catch (const error& e) {
        done({.addresses = {}, .failures = {std::string("cannot look up names: ") + e.what()}});
    }
}

}  // namespace latchkey::inline v0
