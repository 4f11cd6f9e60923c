#include "stage.hpp"

#include <chrono>
#include <memory>

namespace latchkey::bench {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<stage> current;

int chosen(const test::real_ensemble& e, setting::role r) {
    return r == setting::role::follower ? e.follower() : e.leader();
}

}  // namespace

std::string setting::name() const {
    std::string text = server == role::standalone ? "1 server"
                       : server == role::leader   ? "3 servers, leader"
                                                  : "3 servers, follower";
    if (distant) {
        text += ", +1 ms";
    }
    if (!busy) {
        text += ", alone";
    }
    return text;
}

stage& stage::of(const setting& s) {
    if (!current || current->setting_.name() != s.name()) {
        clear();
        current = std::make_unique<stage>(s);
    }
    return *current;
}

void stage::clear() {
    current.reset();
}

stage::stage(const setting& s) : setting_(s), ensemble_({.servers = s.servers(), .settings = {}}) {
    const std::string server = ensemble_.address(chosen(ensemble_, s.server));
    if (s.distant) {
        proxy_.emplace(server);
        proxy_->delay(test::tcp_proxy::direction::to_server, 1ms);
    }
    address_ = proxy_ ? proxy_->address() : server;
    const client_options options{.session_timeout = 30s};
    one_.emplace(client::connect(address_, options));
    other_.emplace(client::connect(address_, options));
    plain_one_.emplace(address_);
    plain_other_.emplace(address_);
    plain_one_->create_directory(plain_path_);
    if (s.busy) {
        busy_.emplace(server);
    }
}

stage::~stage() = default;

}  // namespace latchkey::bench
