#include "queue/queue_participant.hpp"
#include "text/path.hpp"

// The znodes that a queue_participant has in the queues, and how it comes to them and loses them.

namespace latchkey {

void queue_participant::begin_attempt() {
    lose_place();
    start_attempt();
}

void queue_participant::lose_place() {
    znodes_.clear();
    admission_.reset();
    asked_back_ = false;
    behind_twin_ = false;
    confirmation_.reset();
    core_->heartbeat().withdraw(this);
    enter(state::unconnected);
    if (settings_.begins) {
        settings_.begins();
    }
}

/// While disconnected nothing happens: again with the next connection.
void queue_participant::start_attempt() {
    if (!core_->connected()) {
        return;
    }
    if (settings_.only_if_first) {
        look();
    } else {
        join();
    }
}

void queue_participant::set_znodes(const std::vector<std::string>& paths) {
    znodes_.clear();
    for (const std::string& path : paths) {
        queue_entry::owner& self = *this;
        znodes_.push_back(std::make_unique<queue_entry>(core_, path, self));
    }
}

std::vector<std::string> queue_participant::paths() const {
    std::vector<std::string> all;
    for (const auto& z : znodes_) {
        all.push_back(z->path());
    }
    return all;
}

void queue_participant::stop_waiting() {
    for (const auto& z : znodes_) {
        z->stop_waiting();
    }
}

void queue_participant::stop_watching() {
    for (const auto& z : znodes_) {
        z->stop_watching();
    }
}

void queue_participant::on_listing() {
    if (admission_ && admission_->looks_behind_each_list()) {
        admission_->look_ahead();
    }
}

void queue_participant::on_listed(const queue_entry& z, const listing& l) {
    delete_strays(z.path(), l);
}

/// A second znode of the same attempt is a create that was thought lost: ours to delete.
void queue_participant::delete_strays(const std::string& own, const listing& l) {
    for (const std::string& stray : queue_of(l, settings_.as->markers).with_prefix(prefix_)) {
        if (stray != name_of(own)) {
            core_->deletes().add(join_path(parent_of(own), stray), nullptr);
        }
    }
}

/// Somebody deleted our znode, unless we are just exchanging it for another one.
void queue_participant::on_gone(queue_entry& z) {
    if (exchange_ || (admission_ && !admission_->in_doubt().empty())) {
        return;
    }
    if (state_ != state::held) {
        // The place is lost, and the next one is at the tail. A delete costs nothing worth saving;
        // a znode of our own ahead of us would be waited for without end.
        core_->deletes().add(paths(), nullptr);
        lose_place();
        retry_.soon([this] { start_attempt(); });
        return;
    }
    std::erase_if(znodes_, [&z](const auto& one) { return one.get() == &z; });
    step_down(loss::znode_deleted);
}

}  // namespace latchkey
