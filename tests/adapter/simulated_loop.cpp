#include "simulated_loop.hpp"

#include "network.hpp"

#include <array>
#include <utility>

#include <unistd.h>

namespace latchkey::test {
namespace {

/// Asked by pump(), in place of epoll.
class watched_descriptor final : public descriptor_watch, private network::watcher {
public:
    watched_descriptor(network& n, std::shared_ptr<virtual_process> process, int descriptor)
        : net_(n), process_(std::move(process)), descriptor_(descriptor) {
        net_.add(*this);
    }

    ~watched_descriptor() override {
        *alive_ = false;
        net_.remove(*this);
        ::close(descriptor_);
    }

    [[nodiscard]] int descriptor() const noexcept override { return descriptor_; }

    void await(direction d, loop::task ready) override { side_of(d).ready = std::move(ready); }

    void look() override {
        for (const direction d : {direction::read, direction::write}) {
            side& s = side_of(d);
            if (s.ready && !s.posted && net_.ready(descriptor_, identity_, d == direction::write)) {
                s.posted = true;
                process_->post([&s, alive = alive_] {
                    if (*alive) {
                        s.posted = false;
                        if (const loop::task ready = std::exchange(s.ready, nullptr)) {
                            ready();
                        }
                    }
                });
            }
        }
    }

private:
    struct side {
        loop::task ready;
        bool posted = false;
    };

    side& side_of(direction d) { return sides_[d == direction::read ? 0 : 1]; }

    network& net_;
    std::shared_ptr<virtual_process> process_;
    const int descriptor_;
    const ino_t identity_ = network::identity_of(descriptor_);
    std::array<side, 2> sides_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class simulated_loop final : public io_loop {
public:
    simulated_loop(network& n, std::shared_ptr<virtual_process> process)
        : net_(n), process_(std::move(process)) {}

    [[nodiscard]] clock::time_point now() const noexcept override { return process_->now(); }

    void post(task t) override { process_->post(std::move(t)); }

    timer_id start_timer(clock::time_point at, task t) override {
        return process_->start_timer(at, std::move(t));
    }

    void cancel_timer(timer_id id) noexcept override { process_->cancel_timer(id); }

    [[nodiscard]] std::uint64_t random() override { return process_->random(); }

    [[nodiscard]] bool on_loop() const noexcept override { return process_->on_loop(); }

    [[nodiscard]] bool stepped() const noexcept override { return true; }

    [[nodiscard]] std::unique_ptr<descriptor_watch> watch(int descriptor) override {
        return std::make_unique<watched_descriptor>(net_, process_, descriptor);
    }

private:
    network& net_;
    std::shared_ptr<virtual_process> process_;
};

}  // namespace

std::shared_ptr<io_loop> make_simulated_loop(network& n, std::shared_ptr<virtual_process> process) {
    return std::make_shared<simulated_loop>(n, std::move(process));
}

}  // namespace latchkey::test
