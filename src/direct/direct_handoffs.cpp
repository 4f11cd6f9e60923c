#include "direct/direct_handoffs.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v0 {
namespace {

/// Between two announcements there are so many periods at most. Twice as long after its last one, a
/// participant does not wait any more.
constexpr int longest_pause = 32;

/// What the key is for that makes the keys of all participants without a contact of their own.
constexpr std::string_view shared_purpose = "shared";

}  // namespace

std::optional<direct_contact> contact_from(const direct_contact& shared, std::string_view name) {
    const auto key = direct_key_of(bytes_of(shared.key), name);
    return key ? std::optional(direct_contact{shared.addresses, *key}) : std::nullopt;
}

// ---- of one that waits ----

direct_handoffs::waiting::waiting(direct_handoffs& of,
                                  std::string own,
                                  const std::string& ahead,
                                  direct_contact contact)
    : of_(of),
      own_(std::move(own)),
      contact_(std::move(contact)),
      announcement_(write_direct_message({direct_message::kind::waits, ahead, own_}, contact_.key)),
      next_(of.loop_.now() + of.period_),
      pause_(of.period_) {
    of_.waiting_.insert_or_assign(own_, this);
    announce();
    of_.repeat_later();
}

direct_handoffs::waiting::~waiting() {
    const auto found = of_.waiting_.find(own_);
    if (found != of_.waiting_.end() && found->second == this) {
        of_.waiting_.erase(found);
    }
}

void direct_handoffs::waiting::announce() {
    for (const std::string& to : contact_.addresses) {
        of_.send(to, announcement_);
    }
}

// ---- of all ----

direct_handoffs::direct_handoffs(loop& l,
                                 std::unique_ptr<datagram_socket> socket,
                                 std::chrono::milliseconds period)
    : loop_(l), socket_(std::move(socket)), period_(period), repeat_(l) {}

void direct_handoffs::open() {
    secret_ = socket_->new_secret();
    shared_ = derived_key(secret_, shared_purpose);
    socket_->receive([this](const std::string& from, std::string_view datagram) {
        on_datagram(from, datagram);
    });
}

std::optional<direct_contact> direct_handoffs::contact_of(std::string_view name) const {
    const auto key = socket_ ? direct_key_of(secret_, name) : std::nullopt;
    return key ? std::optional(direct_contact{socket_->addresses(), *key}) : std::nullopt;
}

std::optional<direct_contact> direct_handoffs::shared_contact() const {
    return socket_ && shared_ ? std::optional(direct_contact{socket_->addresses(), *shared_})
                              : std::nullopt;
}

std::string direct_handoffs::successor_of(const std::string& name) const {
    const auto found = successors_.find(name);
    return found == successors_.end() ? std::string() : found->second.name;
}

void direct_handoffs::hand_on(const std::string& name, const std::string& text) {
    const auto found = successors_.find(name);
    if (found == successors_.end()) {
        return;
    }
    const successor next = std::move(found->second);
    successors_.erase(found);
    send(next.from,
         write_direct_message({direct_message::kind::hands_on, name, next.name, text}, next.key));
}

void direct_handoffs::on_datagram(const std::string& from, std::string_view datagram) {
    using enum direct_message::kind;
    auto m = read_direct_message(datagram);
    if (m && m->what == hands_on) {
        note_told(*std::move(m), datagram);
    } else if (m && m->what == waits) {
        note_successor(*m, from, datagram);
    } else if (m && m->what == asks) {
        if (const auto key = known_key(m->ahead, datagram)) {
            m->what = answers;
            send(from, write_direct_message(*m, *key));
        }
    }
}

/// The key of this client's participant `name`, if the sender of the datagram knows it.
std::optional<direct_key> direct_handoffs::known_key(const std::string& name,
                                                     std::string_view datagram) const {
    for (const std::string_view secret :
         {std::string_view(secret_), shared_ ? bytes_of(*shared_) : std::string_view()}) {
        const auto key = direct_key_of(secret, name);
        if (!secret.empty() && key && authenticates(datagram, *key)) {
            return key;
        }
    }
    return std::nullopt;
}

/// Only one waits behind a participant at a time. One that gave up may be heard after the next one:
/// then the message is lost.
void direct_handoffs::note_successor(const direct_message& m,
                                     const std::string& from,
                                     std::string_view datagram) {
    if (const auto key = known_key(m.ahead, datagram)) {
        successors_.insert_or_assign(m.ahead, successor{m.behind, from, *key, loop_.now()});
        repeat_later();
    }
}

/// For whom it is not, and by whom it cannot be, ignores it.
void direct_handoffs::note_told(direct_message m, std::string_view datagram) {
    const auto found = waiting_.find(m.behind);
    if (found == waiting_.end() || !authenticates(datagram, found->second->contact_.key)) {
        return;
    }
    found->second->told_ = std::make_unique<direct_message>(std::move(m));
    const resumption resume = std::exchange(found->second->resume_, {});
    resume();
}

void direct_handoffs::repeat_later() {
    if (!repeat_.running() && !(waiting_.empty() && successors_.empty())) {
        repeat_.start(period_, [this] { repeat(); });
    }
}

void direct_handoffs::repeat() {
    const auto now = loop_.now();
    std::erase_if(successors_, [this, now](const auto& one) {
        return now - one.second.heard > period_ * 2 * longest_pause;
    });
    for (const auto& [name, w] : waiting_) {
        if (w->next_ <= now) {
            w->announce();
            w->pause_ = std::min(w->pause_ * 2, period_ * longest_pause);
            w->next_ = now + w->pause_;
        }
    }
    repeat_later();
}

}  // namespace latchkey::inline v0
