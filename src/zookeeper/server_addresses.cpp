#include "zookeeper/server_addresses.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// For a look-up.
constexpr std::chrono::seconds long_time{1};

}  // namespace

server_addresses::server_addresses(const std::shared_ptr<io_loop>& l,
                                   name_resolver resolver,
                                   const std::vector<session_options::endpoint>& endpoints,
                                   bool names_count,
                                   std::function<void(const answer&)> resolved)
    : loop_(l), resolver_(std::move(resolver)), resolved_(std::move(resolved)), slow_(*l) {
    servers_ = server_list(names_count);
    for (const auto& e : endpoints) {
        const auto numeric = numeric_address(e);
        hosts_.push_back({.endpoint = e, .addresses = {}, .numeric = numeric.has_value()});
        if (numeric) {
            hosts_.back().addresses.push_back(*numeric);
        }
    }
    use_known();
}

/// Begins with any of them: the one that is answered first is connected to first, and clients are
/// to spread over the servers.
void server_addresses::look_up() {
    const auto l = loop_.lock();
    const auto first = hosts_.empty() ? 0 : static_cast<std::size_t>(l->random() % hosts_.size());
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        host& h = hosts_[(first + i) % hosts_.size()];
        if (!h.numeric && !h.asked) {
            h.asked = l->now();
            ask((first + i) % hosts_.size());
        }
    }
    if (is_asking()) {
        slow_.start(loop::clock::duration(long_time), [this] {
            if (std::string names = slow_look_ups(); !names.empty()) {
                const auto resolved = resolved_;  // it may destroy this object
                resolved({.trouble = std::move(names)});
            }
        });
    }
}

void server_addresses::ask(std::size_t which) {
    resolver_(hosts_[which].endpoint,
              [weak = std::weak_ptr(self_), weak_loop = loop_, which](name_resolution result) {
                  if (const auto l = weak_loop.lock()) {
                      l->post([weak, which, result = std::move(result)]() mutable {
                          if (const auto self = weak.lock()) {
                              (*self)->answered(which, std::move(result));
                          }
                      });
                  }
              });
}

void server_addresses::answered(std::size_t which, name_resolution result) {
    host& h = hosts_[which];
    h.asked.reset();
    const bool first = h.addresses.empty() && !result.addresses.empty();
    if (!result.addresses.empty()) {
        h.addresses = std::move(result.addresses);
        use_known();
    }
    const auto resolved = resolved_;  // it may destroy this object
    resolved({.trouble = std::move(result.failure), .is_first = first});
}

void server_addresses::use_known() {
    servers_.replace(all(), [l = loop_.lock()] { return l->random(); });
}

std::vector<server_address> server_addresses::all() const {
    std::vector<server_address> known;
    for (const host& h : hosts_) {
        known.insert(known.end(), h.addresses.begin(), h.addresses.end());
    }
    return known;
}

bool server_addresses::is_asking() const noexcept {
    return std::any_of(
        hosts_.begin(), hosts_.end(), [](const host& h) { return h.asked.has_value(); });
}

std::string server_addresses::slow_look_ups(const char* prefix) const {
    std::string names;
    for (const host& h : hosts_) {
        if (h.asked && loop_.lock()->now() - *h.asked >= long_time) {
            names += names.empty() ? std::string(prefix) + "looking up '" : ", '";
            names += h.endpoint.host + '\'';
        }
    }
    return names;
}

}  // namespace latchkey::inline v0
