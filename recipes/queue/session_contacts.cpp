#include "queue/session_contacts.hpp"

#include "queue/participant_record.hpp"
#include "text/path.hpp"

#include <cstddef>
#include <sstream>

namespace latchkey::inline v0 {
namespace {

/// An election has few clients. Those of all sessions that ever were are not kept.
constexpr std::size_t most_known = 1000;

}  // namespace

std::string session_contacts::path_of(std::int64_t session) const {
    std::ostringstream name;
    name << "direct-" << std::hex << session;
    return join_path(directory_, name.str());
}

void session_contacts::publish(const std::shared_ptr<client_core>& core) {
    const std::int64_t session = core->session_id();
    if (core->direct() != nullptr && core->connected() &&
        std::exchange(published_, session) != session) {
        create(core, session, true);
    }
}

void session_contacts::create(const std::shared_ptr<client_core>& core,
                              std::int64_t session,
                              bool again) {
    const auto contact = core->direct()->shared_contact();
    if (!contact) {
        return;
    }
    const std::string path = path_of(session);
    core->submit(request::create(path, record_of(*contact), create_mode::ephemeral, *access_),
                 [self = shared_from_this(), core, session, again, path](const reply& r) {
                     if (r.code == result_code::no_node && again && core->session_id() == session) {
                         static_cast<void>(core->create_parents(path, *self->access_));
                         self->create(core, session, false);
                     } else if (!r.ok() && r.code != result_code::node_exists &&
                                self->published_ == session) {
                         self->published_ = 0;  // the next connection tries it again
                     }
                 });
}

task<std::optional<direct_contact>> session_contacts::find(client_core& core,
                                                           std::string name,
                                                           std::int64_t session) {
    auto known = known_.find(session);
    if (known == known_.end()) {
        auto asked = core.send(request::get(path_of(session)));
        const reply r = co_await asked;
        const auto contact =
            r.ok() && r.stat.ephemeral_owner == session ? contact_in(r.data) : std::nullopt;
        if (!contact) {
            co_return std::nullopt;
        }
        if (known_.size() >= most_known) {
            known_.clear();
        }
        known = known_.insert_or_assign(session, *contact).first;
    }
    co_return contact_from(known->second, name);
}

}  // namespace latchkey::inline v0
