#include "fenced_register.hpp"

#include <latchkey/boottime_clock.hpp>

#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

namespace latchkey::test {

using boost::system::error_code;

fenced_register::fenced_register(const std::filesystem::path& socket, policy p)
    : policy_(p), acceptor_(context_, stream_protocol::endpoint(socket.string())) {
    accept();
    thread_ = std::thread([this] { context_.run(); });
}

fenced_register::~fenced_register() {
    context_.stop();
    thread_.join();
}

std::vector<history::access> fenced_register::accesses() const {
    const std::lock_guard guard(mutex_);
    return accesses_;
}

fenced_register::cell fenced_register::cell_of(const std::string& lock) const {
    const auto found = cells_.find(lock);
    return found == cells_.end() ? cell() : found->second;
}

std::int64_t fenced_register::value(const std::string& lock) const {
    const std::lock_guard guard(mutex_);
    return cell_of(lock).value;
}

std::optional<int> fenced_register::next_claimant(const std::string& lock,
                                                  std::chrono::milliseconds limit) const {
    std::unique_lock guard(mutex_);
    const std::size_t before = cell_of(lock).claims;
    const bool claimed =
        claimed_.wait_for(guard, limit, [&] { return cell_of(lock).claims > before; });
    return claimed ? std::optional(cell_of(lock).claimant) : std::nullopt;
}

void fenced_register::accept() {
    acceptor_.async_accept([this](error_code error, stream_protocol::socket socket) {
        if (!error) {
            serve(std::make_shared<connection>(std::move(socket)));
        }
        if (error != boost::asio::error::operation_aborted) {
            accept();
        }
    });
}

void fenced_register::serve(const std::shared_ptr<connection>& c) {
    const auto answered = [this, c](error_code error, std::size_t) {
        if (!error) {
            serve(c);
        }
    };
    boost::asio::async_read_until(
        c->socket, c->input, '\n', [this, c, answered](error_code error, std::size_t) {
            if (!error) {
                std::istream in(&c->input);
                c->answer = work_on(in) + '\n';
                boost::asio::async_write(c->socket, boost::asio::buffer(c->answer), answered);
            }
        });
}

std::string fenced_register::work_on(std::istream& request) {
    std::string line;
    std::getline(request, line);
    std::istringstream words(line);
    history::access a;
    words >> a.lock >> a.worker >> a.token;
    if (std::int64_t value = 0; words >> value) {
        a.written = value;
    }
    a.at = boottime_clock::now().time_since_epoch();
    const std::lock_guard guard(mutex_);
    cell& c = cells_[a.lock];
    a.accepted = policy_ == policy::takes_everything || a.token >= c.token;
    accesses_.push_back(a);
    if (!a.accepted) {
        return "refused";
    }
    c.token = a.token;
    if (a.written) {
        c.value = *a.written;
    } else {
        c.claimant = a.worker;
        ++c.claims;
        claimed_.notify_all();
    }
    return std::to_string(c.value);
}

register_connection::register_connection(const std::filesystem::path& socket, int worker)
    : stream_(boost::asio::local::stream_protocol::endpoint(socket.string())), worker_(worker) {
    if (!stream_) {
        throw std::runtime_error("no register at " + socket.string());
    }
}

std::string register_connection::ask(const std::string& request) {
    std::string answer;
    if (!(stream_ << request << '\n' << std::flush) || !std::getline(stream_, answer)) {
        throw std::runtime_error("the register is gone");
    }
    return answer;
}

std::optional<std::int64_t> register_connection::claim(const std::string& lock,
                                                       std::int64_t token) {
    const std::string answer =
        ask(lock + ' ' + std::to_string(worker_) + ' ' + std::to_string(token));
    return answer == "refused" ? std::nullopt : std::optional(std::stoll(answer));
}

bool register_connection::write(const std::string& lock, std::int64_t token, std::int64_t value) {
    return ask(lock + ' ' + std::to_string(worker_) + ' ' + std::to_string(token) + ' ' +
               std::to_string(value)) != "refused";
}

}  // namespace latchkey::test
