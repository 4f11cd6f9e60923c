#include "ensemble/virtual/nemesis.hpp"

#include "ensemble/ensemble_session.hpp"

#include <utility>

namespace latchkey::model {

nemesis::nemesis(cluster& all) : all_(&all), random_(&all.faults().random()), next_(all.loop()) {}

void nemesis::inject(const testing::faults& rates) {
    rates_ = rates;
    all_->faults().rates(rates.cut_before, rates.cut_after);
    next_.cancel();
    if (rates.interval > std::chrono::nanoseconds::zero()) {
        next_.start(rates.interval, [this] { strike(); });
    }
}

void nemesis::strike() {
    next_.start(rates_.interval, [this] { strike(); });
    std::erase_if(endings_, [](const auto& t) { return !t->running(); });
    trouble_a_client();
    trouble_a_server();
}

void nemesis::end_later(std::function<void()> end) {
    endings_.push_back(std::make_unique<timer>(all_->loop()));
    const auto lasting = static_cast<std::uint64_t>(rates_.lasting.count());
    endings_.back()->start(std::chrono::nanoseconds(random_->below(lasting + 1)), std::move(end));
}

std::shared_ptr<client_process> nemesis::some_client(std::int64_t& session) {
    std::vector<std::int64_t> living;
    for (const testing::ensemble::session_info& info : all_->sessions()) {
        if (info.alive) {
            living.push_back(info.id);
        }
    }
    if (living.empty()) {
        return nullptr;
    }
    session = living[random_->below(living.size())];
    return all_->process_of(session);
}

void nemesis::trouble_a_client() {
    std::int64_t session = 0;
    const std::shared_ptr<client_process> victim = some_client(session);
    if (victim == nullptr) {
        return;
    }
    ensemble_session* const client = all_->client_of(session);
    if (random_->chance(rates_.cut) && client != nullptr) {
        client->break_connection();
    }
    if (random_->chance(rates_.suspend) && client != nullptr) {
        victim->refused = true;
        client->break_connection();
        end_later([victim] { victim->refused = false; });
    }
    if (random_->chance(rates_.pause)) {
        victim->loop->pause();
        end_later([victim] { victim->loop->resume(); });
    }
    if (random_->chance(rates_.expire) && all_->leading() != nullptr) {
        all_->leading()->expire(session);
    }
}

void nemesis::trouble_a_server() {
    const int victim = static_cast<int>(random_->below(static_cast<std::uint64_t>(all_->size())));
    if (random_->chance(rates_.stop)) {
        all_->stop(victim);
        end_later([this, victim] { all_->start(victim); });
    }
    if (random_->chance(rates_.isolate)) {
        all_->isolate(victim, true);
        end_later([this, victim] { all_->isolate(victim, false); });
    }
    if (random_->chance(rates_.lag)) {
        const auto most = static_cast<std::uint64_t>(rates_.lasting.count());
        all_->lag(victim, std::chrono::nanoseconds(random_->below(most + 1)));
        end_later([this, victim] { all_->lag(victim, {}); });
    }
}

}  // namespace latchkey::model
