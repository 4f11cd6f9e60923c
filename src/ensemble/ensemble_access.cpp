#include "ensemble/ensemble_access.hpp"

#include "ensemble/ensemble_session.hpp"
#include "ensemble/ensemble_state.hpp"
#include "loop/callback_thread.hpp"

#include <utility>

namespace latchkey::inline v0::testing {
namespace {

class ensemble_sessions final : public session_factory {
public:
    ensemble_sessions(std::shared_ptr<model::cluster> all,
                      std::shared_ptr<model::client_process> process)
        : all_(std::move(all)), process_(std::move(process)) {}

    [[nodiscard]] std::unique_ptr<session> open(const session_options& options,
                                                session::event_handler events) override {
        return std::make_unique<model::ensemble_session>(
            all_, process_, options, std::move(events));
    }

private:
    std::shared_ptr<model::cluster> all_;
    std::shared_ptr<model::client_process> process_;
};

}  // namespace

runtime ensemble_access::runtime_of(ensemble& e) {
    const std::shared_ptr<model::cluster> all = e.state_->all;
    const auto process = e.state_->on_loop([](model::cluster& c) { return c.make_process(); });
    runtime made;
    made.loop = process->loop;
    made.sessions = std::make_shared<ensemble_sessions>(all, process);
    made.datagrams = [all, process](const std::vector<datagram_address>& at) {
        return all->datagrams().open(process, at.size());
    };
    if (e.state_->loop->stepped()) {
        made.callbacks = [l = process->loop,
                          clients = e.state_->clients](const char*) -> runtime::executor {
            return [l, clients](move_only_function<void()> f) {
                l->post([clients, f = std::make_shared<move_only_function<void()>>(std::move(f))] {
                    if (!clients->silent) {
                        (*f)();
                    }
                });
            };
        };
        made.started = [clients = e.state_->clients](std::function<void()> close) {
            clients->close.push_back(std::move(close));
        };
    } else {
        made.callbacks = [](const char* name) -> runtime::executor {
            const auto thread = std::make_shared<callback_thread>(name);
            return [thread](move_only_function<void()> f) { thread->run(std::move(f)); };
        };
    }
    return made;
}

bool ensemble_access::servers_agree(ensemble& e) {
    return e.state_->on_loop([](model::cluster& all) {
        const model::server* first = nullptr;
        for (int i = 0; i < all.size(); ++i) {
            const model::server& s = all.at(i);
            if (s.serving() && first == nullptr) {
                first = &s;
            } else if (s.serving() && !(s.applied() == first->applied())) {
                return false;
            }
        }
        return true;
    });
}

model::cluster& ensemble_access::cluster_of(ensemble& e) {
    return *e.state_->all;
}

virtual_loop& ensemble_access::loop_of(ensemble& e) {
    return *e.state_->loop;
}

}  // namespace latchkey::inline v0::testing
