#include "client/access_check.hpp"

#include <latchkey/error.hpp>

#include "text/escape.hpp"
#include "tls/digest_identity.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <ifaddrs.h>
#include <netinet/in.h>

namespace latchkey::inline v0 {
namespace {

constexpr auto needed = permission::read | permission::create | permission::remove;

/// A SHA-1 in base64.
bool is_hash(std::string_view text) {
    constexpr std::size_t digits = 27;
    const auto is_digit = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '+' || c == '/';
    };
    return text.size() == digits + 1 && text.back() == '=' &&
           std::all_of(text.begin(), text.end() - 1, is_digit);
}

std::string_view user_of(const acl_entry& e) {
    return std::string_view(e.id).substr(0, e.id.find(':'));
}

void check_digest(const acl_entry& e) {
    const std::string_view user = user_of(e);
    if (user.size() == e.id.size() || !is_hash(std::string_view(e.id).substr(user.size() + 1))) {
        throw error(errc::invalid_argument,
                    "access control list: the id of the entry for the digest user \"" +
                        escaped(user) +
                        "\" is not USER:HASH with a hash of 28 characters, the last one '=': give "
                        "what `printf %s USER:PASSWORD | openssl dgst -sha1 -binary | base64` "
                        "prints in place of the password");
    }
}

template <class Network>
bool contains(const Network& n, decltype(n.address()) address) {
    return Network(address, n.prefix_length()).network() == n.network();
}

/// Whether an `ip` entry, ADDRESS or ADDRESS/BITS, is for an address of this machine. Servers may
/// see another one, if there is a translation in between.
bool is_of_this_machine(std::string_view id) {
    const bool v6 = id.find(':') != std::string_view::npos;
    std::string network(id);
    if (id.find('/') == std::string_view::npos) {
        network += v6 ? "/128" : "/32";
    }
    boost::system::error_code bad;
    boost::asio::ip::network_v4 net4;
    boost::asio::ip::network_v6 net6;
    v6 ? void(net6 = boost::asio::ip::make_network_v6(network, bad))
       : void(net4 = boost::asio::ip::make_network_v4(network, bad));
    ifaddrs* found = nullptr;
    if (bad || ::getifaddrs(&found) != 0) {
        return !bad;
    }
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(found, &::freeifaddrs);
    for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next) {
        const int family = one->ifa_addr != nullptr ? one->ifa_addr->sa_family : AF_UNSPEC;
        if (family == AF_INET && !v6) {
            const auto* const a = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
            if (contains(net4, boost::asio::ip::address_v4(ntohl(a->sin_addr.s_addr)))) {
                return true;
            }
        } else if (family == AF_INET6 && v6) {
            const auto* const a = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr);
            boost::asio::ip::address_v6::bytes_type bytes;
            std::copy(
                std::begin(a->sin6_addr.s6_addr), std::end(a->sin6_addr.s6_addr), bytes.begin());
            if (contains(net6, boost::asio::ip::address_v6(bytes))) {
                return true;
            }
        }
    }
    return false;
}

bool may_be_own(const acl_entry& e, const client_options& own) {
    const bool has_certificate = own.tls && !own.tls->certificate_file.empty();
    if (e.scheme == "digest") {
        return std::any_of(own.auth.begin(), own.auth.end(), [&e](const credentials& c) {
            return c.scheme == "digest" && digest_identity(c.secret).value_or(e.id) == e.id;
        });
    }
    if (e.scheme == "world") {
        return e.id == "anyone";
    }
    if (e.scheme == "auth") {
        return has_certificate || !own.auth.empty();
    }
    if (e.scheme == "x509") {
        return has_certificate;
    }
    if (e.scheme == "ip") {
        return is_of_this_machine(e.id);
    }
    return std::any_of(own.auth.begin(), own.auth.end(), [&e](const credentials& c) {
        return c.scheme == e.scheme;
    });
}

std::string described(const acl& access) {
    std::string all;
    for (const acl_entry& e : access) {
        all += (all.empty() ? "" : ", ") + escaped(e.scheme) + ':' +
               escaped(e.scheme == "digest" ? user_of(e) : e.id);
    }
    return all.empty() ? "is empty" : "(" + all + ")";
}

std::string names_of(permission missing) {
    std::string all;
    for (const auto& [one, name] : {std::pair{permission::read, "READ"},
                                    std::pair{permission::create, "CREATE"},
                                    std::pair{permission::remove, "DELETE"}}) {
        if (allows(missing, one)) {
            all += (all.empty() ? "" : ", ") + std::string(name);
        }
    }
    return all;
}

}  // namespace

void check_access(const acl& access, const client_options& own) {
    auto missing = static_cast<std::int32_t>(needed);
    for (const acl_entry& e : access) {
        if (e.scheme == "digest") {
            check_digest(e);
        }
        if (may_be_own(e, own)) {
            missing &= ~static_cast<std::int32_t>(e.allowed);
        }
    }
    if (missing != 0) {
        throw error(errc::invalid_argument,
                    "access control list " + described(access) + ": it does not give this client " +
                        names_of(static_cast<permission>(missing)) +
                        ", so what it creates would be closed to it, and perhaps to everybody, for "
                        "good: add an entry for one of its own identities, for example the "
                        "creator's (scheme auth), with READ, CREATE and DELETE");
    }
}

}  // namespace latchkey::inline v0
