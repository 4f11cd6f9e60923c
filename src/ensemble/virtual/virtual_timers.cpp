#include "ensemble/virtual/virtual_timers.hpp"

#include "ensemble/virtual/virtual_process.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {

loop::timer_id virtual_timers::start(
    std::uint32_t process, time_point at, time_point due, std::uint64_t tie, task t) {
    if (free_slots_.empty()) {
        free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.emplace_back();
    }
    const std::uint32_t index = free_slots_.back();
    free_slots_.pop_back();
    slot& s = slots_[index];
    s.run = std::move(t);
    s.at = at;
    s.process = process;
    const timer_id id = (static_cast<timer_id>(s.generation) << 32U) | index;
    heap_.push_back({due, tie, id});
    std::push_heap(heap_.begin(), heap_.end(), later);
    return id;
}

virtual_timers::slot* virtual_timers::find(timer_id id) noexcept {
    const auto index = static_cast<std::uint32_t>(id);
    if (index >= slots_.size() || slots_[index].generation != id >> 32U || !slots_[index].run) {
        return nullptr;
    }
    return &slots_[index];
}

loop::task virtual_timers::take(timer_id id) noexcept {
    slot* const s = find(id);
    if (s == nullptr) {
        return {};
    }
    ++s->generation;
    task run = std::exchange(s->run, {});
    free_slots_.push_back(static_cast<std::uint32_t>(id));
    return run;
}

std::vector<loop::task> virtual_timers::take_all() {
    heap_.clear();
    std::vector<task> all;
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
        if (task run = take((static_cast<timer_id>(slots_[i].generation) << 32U) | i)) {
            all.push_back(std::move(run));
        }
    }
    return all;
}

void virtual_timers::remove_next() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
}

const virtual_timers::time_point* virtual_timers::next_due() {
    while (!heap_.empty() && find(heap_.front().id) == nullptr) {
        remove_next();
    }
    return heap_.empty() ? nullptr : &heap_.front().due;
}

virtual_timers::fallen_due virtual_timers::pop() {
    const timer_id id = heap_.front().id;
    remove_next();
    return {id, find(id)->process};
}

void virtual_timers::set_again(const virtual_process& of) {
    for (entry& e : heap_) {
        if (const slot* const s = find(e.id); s != nullptr && s->process == of.number()) {
            e.due = of.due(s->at);
        }
    }
    std::make_heap(heap_.begin(), heap_.end(), later);
}

}  // namespace latchkey::inline v0
