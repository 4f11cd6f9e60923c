#include "ensemble/virtual/datagram_network.hpp"

#include "direct/direct_message.hpp"

#include <utility>
#include <vector>

namespace latchkey::model {
namespace {

constexpr auto shortest_latency = std::chrono::microseconds(10);
constexpr std::uint64_t latency_spread = 40'000;  // nanoseconds

}  // namespace

class datagram_network::socket final : public datagram_socket {
public:
    socket(datagram_network& network,
           std::shared_ptr<client_process> of,
           std::vector<std::string> addresses)
        : network_(network), process_(std::move(of)), addresses_(std::move(addresses)) {}

    ~socket() override {
        for (const std::string& a : addresses_) {
            network_.sockets_.erase(a);
        }
    }

    [[nodiscard]] const std::vector<std::string>& addresses() const noexcept override {
        return addresses_;
    }

    [[nodiscard]] std::string new_secret() override {
        return std::to_string(process_->loop->random());
    }

    void receive(receiver r) override {
        receiver_ = std::move(r);
        for (const std::string& a : addresses_) {
            network_.sockets_[a] = this;
        }
    }

    void send(const std::string& to, std::string_view message) override {
        network_.send(addresses_.front(), to, std::string(message));
    }

    /// As its process does everything: late, while it is stopped.
    void arrive(const std::string& from, std::string message) {
        process_->loop->post([weak = std::weak_ptr(alive_), this, from, m = std::move(message)] {
            if (!weak.expired()) {
                ++network_.arrived_;
                const receiver call = receiver_;
                call(from, m);
            }
        });
    }

private:
    datagram_network& network_;
    const std::shared_ptr<client_process> process_;
    const std::vector<std::string> addresses_;
    receiver receiver_;
    const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

datagram_network::datagram_network(const std::shared_ptr<virtual_loop>& l, random_source random)
    : loop_(l), random_(random) {}

std::unique_ptr<datagram_socket> datagram_network::open(std::shared_ptr<client_process> of,
                                                        std::size_t addresses) {
    std::vector<std::string> all;
    const std::uint32_t number = ++last_;
    for (std::size_t i = 0; i < addresses; ++i) {
        all.push_back("10." + std::to_string(i) + '.' + std::to_string(number / 256) + '.' +
                      std::to_string(number % 256) + ":1");
    }
    return std::make_unique<socket>(*this, std::move(of), std::move(all));
}

void datagram_network::send(const std::string& from, const std::string& to, std::string message) {
    if (shown_) {
        shown_(message);
    }
    if (faults_.cut_off || random_.chance(faults_.lost)) {
        return;
    }
    if (random_.chance(faults_.forged)) {
        forge(from, to, message);
    }
    deliver(from, to, message);
    if (random_.chance(faults_.doubled)) {
        deliver(from, to, std::move(message));
    }
}

/// Somebody else tells the sender that the one ahead holds no more; or changes the datagram.
void datagram_network::forge(const std::string& from, const std::string& to, std::string& message) {
    if (message.size() > direct_kind_at && random_.chance(0.5)) {
        std::string answer = message;
        answer[direct_kind_at] = static_cast<char>(direct_message::kind::hands_on);
        deliver(to, from, std::move(answer));
    } else if (!message.empty()) {
        message[random_.below(message.size())] ^= static_cast<char>(1U << random_.below(8));
    }
}

void datagram_network::deliver(const std::string& from,
                               const std::string& to,
                               std::string message) {
    const auto l = loop_.lock();
    auto after = shortest_latency + std::chrono::nanoseconds(random_.below(latency_spread));
    if (random_.chance(faults_.late)) {
        after += std::chrono::nanoseconds(
            random_.below(static_cast<std::uint64_t>(faults_.latest.count())));
    }
    l->start_timer(l->now() + after, [this, from, to, m = std::move(message)]() mutable {
        const auto found = sockets_.find(to);
        if (found != sockets_.end()) {
            found->second->arrive(from, std::move(m));
        }
    });
}

}  // namespace latchkey::model
