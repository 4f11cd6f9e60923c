#include "ensemble/wire/protocol_connection.hpp"

#include "ensemble/wire/four_letter_words.hpp"
#include "ensemble/wire/jute.hpp"

#include <optional>
#include <utility>

namespace latchkey::model {
namespace {

constexpr std::size_t length_size = 4;
constexpr std::size_t most_unanswered = 1000;
constexpr std::size_t most_unsent = std::size_t{1} << 20U;

}  // namespace

protocol_connection::protocol_connection(std::shared_ptr<cluster> all,
                                         std::shared_ptr<client_process> process,
                                         int server,
                                         std::string address,
                                         transport& to)
    : all_(std::move(all)),
      process_(std::move(process)),
      server_(server),
      address_(std::move(address)),
      to_(&to) {}

protocol_connection::~protocol_connection() {
    if (connection_ != nullptr) {
        all_->hang_up(connection_, server_, false);
    }
}

bool protocol_connection::saturated() const {
    return phase_ == phase::opening || unanswered_.size() >= most_unanswered ||
           to_->unsent() >= most_unsent;
}

void protocol_connection::receive(std::string_view bytes) {
    if (phase_ != phase::over) {
        received_ += bytes;
        proceed();
    }
}

void protocol_connection::proceed() {
    while (!saturated() && take_frame()) {
    }
    received_.erase(0, std::exchange(taken_, 0));
    if (phase_ != phase::over && !saturated()) {
        to_->read_on();
    }
}

/// Returns false if there is no complete frame.
bool protocol_connection::take_frame() {
    const std::string_view ahead = std::string_view(received_).substr(taken_);
    if (phase_ == phase::over || ahead.size() < length_size) {
        return false;
    }
    if (phase_ == phase::silent) {
        const std::string_view word = ahead.substr(0, length_size);
        if (const std::optional<std::string> answer = answer_to_word(word, *all_, server_)) {
            to_->send(*answer);
            end();
            return false;
        }
    }
    const std::int32_t length = jute_reader(ahead).number();
    if (length < 0 || static_cast<std::size_t>(length) > all_->how().max_request) {
        end();
        return false;
    }
    const auto size = static_cast<std::size_t>(length);
    if (ahead.size() - length_size < size) {
        return false;
    }
    taken_ += length_size + size;
    const std::string_view frame = ahead.substr(length_size, size);
    if (phase_ == phase::silent) {
        begin(frame);
    } else {
        ask(frame);
    }
    return true;
}

void protocol_connection::begin(std::string_view frame) {
    const std::optional<wire_hello> h = read_hello(frame);
    if (!h) {
        return end();
    }
    knows_read_only_ = h->knows_read_only;
    if (h->said.session != 0 && h->password != session_password(h->said.session)) {
        return session_unknown();
    }
    phase_ = phase::opening;
    connection_ = all_->connect(*process_, server_, address_);
    connection_->client = this;
    connection_->send_server([end = connection_.get(), to = &all_->at(server_), said = h->said] {
        to->clients().accept(end->shared_from_this(), said);
    });
}

void protocol_connection::ask(std::string_view frame) {
    std::optional<wire_request> r = read_request(frame);
    if (!r) {
        return end();
    }
    const bool sync = r->body.what == packet::kind::request && r->what == opcode::sync;
    unanswered_.push_back(
        {r->xid, r->what, std::move(r->parts), sync ? r->body.body.path : std::string()});
    connection_->send_server([end = connection_.get(),
                              to = &all_->at(server_),
                              p = std::make_shared<const packet>(std::move(r->body))] {
        to->clients().receive(end->shared_from_this(), p);
    });
}

void protocol_connection::answer_oldest(const reply& r, std::int64_t zxid) {
    if (phase_ != phase::open || unanswered_.empty()) {
        return;
    }
    const unanswered u = std::move(unanswered_.front());
    unanswered_.pop_front();
    to_->send(answer_frame(u, r, zxid));
    proceed();
}

void protocol_connection::end() {
    if (phase_ != phase::over) {
        phase_ = phase::over;
        unanswered_.clear();
        if (const connection_ptr c = std::exchange(connection_, nullptr)) {
            all_->hang_up(c, server_, false);
        }
        to_->hang_up();
    }
}

void protocol_connection::welcomed(std::int64_t session, std::chrono::milliseconds timeout) {
    phase_ = phase::open;
    all_->opened(session, process_);
    to_->send(connect_frame(session, timeout, session_password(session), knows_read_only_));
    proceed();
}

void protocol_connection::session_unknown() {
    to_->send(connect_frame(0, {}, std::string(16, '\0'), knows_read_only_));
    end();
}

void protocol_connection::credentials_refused() {
    // Other answers may be due before this one. They do not come any more.
    while (!unanswered_.empty() && unanswered_.front().what != opcode::auth) {
        unanswered_.pop_front();
    }
    reply r;
    r.code = result_code::auth_failed;
    answer_oldest(r, 0);
    end();
}

void protocol_connection::answered(reply r, std::int64_t zxid) {
    answer_oldest(r, zxid);
}

void protocol_connection::heard(std::int64_t zxid) {
    answer_oldest({}, zxid);
}

void protocol_connection::notified(watch_event e, const std::string& path) {
    to_->send(event_frame(e, path));
}

void protocol_connection::session_closed() {
    answer_oldest({}, 0);
    end();
}

void protocol_connection::dropped(const char*, result_code) {
    end();
}

}  // namespace latchkey::model
