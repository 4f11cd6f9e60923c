#include "fenced_register.hpp"

#include <latchkey/boottime_clock.hpp>

#include <condition_variable>
#include <istream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

namespace latchkey::test {

using boost::asio::local::stream_protocol;
using boost::system::error_code;

/// Connections are served by one thread, a request at a time: its order is the register's.
class fenced_register::engine {
public:
    engine(const std::filesystem::path& socket, policy p)
        : policy_(p), acceptor_(context_, stream_protocol::endpoint(socket.string())) {
        accept();
        thread_ = std::thread([this] { context_.run(); });
    }

    ~engine() {
        context_.stop();
        thread_.join();
    }

    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    std::vector<history::access> accesses() const {
        const std::lock_guard guard(mutex_);
        return accesses_;
    }

    std::int64_t value(const std::string& lock) const {
        const std::lock_guard guard(mutex_);
        const auto found = cells_.find(lock);
        return found == cells_.end() ? 0 : found->second.value;
    }

    std::optional<int> next_claimant(const std::string& lock,
                                     std::chrono::milliseconds limit) const {
        std::unique_lock guard(mutex_);
        const auto claims = [&] {
            const auto found = cells_.find(lock);
            return found == cells_.end() ? 0 : found->second.claims;
        };
        const std::size_t before = claims();
        if (!claimed_.wait_for(guard, limit, [&] { return claims() > before; })) {
            return std::nullopt;
        }
        return cells_.at(lock).claimant;
    }

private:
    struct cell {
        std::int64_t token = 0;
        std::int64_t value = 0;
        std::size_t claims = 0;
        int claimant = 0;
    };

    struct connection {
        explicit connection(stream_protocol::socket s) : socket(std::move(s)) {}

        stream_protocol::socket socket;
        boost::asio::streambuf input;
        std::string answer;
    };

    void accept() {
        acceptor_.async_accept([this](error_code error, stream_protocol::socket socket) {
            if (!error) {
                serve(std::make_shared<connection>(std::move(socket)));
            }
            if (error != boost::asio::error::operation_aborted) {
                accept();
            }
        });
    }

    void serve(const std::shared_ptr<connection>& c) {
        boost::asio::async_read_until(
            c->socket, c->input, '\n', [this, c](error_code error, std::size_t) {
                if (error) {
                    return;
                }
                std::istream in(&c->input);
                std::string request;
                std::getline(in, request);
                c->answer = work_on(request) + '\n';
                boost::asio::async_write(c->socket,
                                         boost::asio::buffer(c->answer),
                                         [this, c](error_code failed, std::size_t) {
                                             if (!failed) {
                                                 serve(c);
                                             }
                                         });
            });
    }

    std::string work_on(const std::string& request) {
        std::istringstream words(request);
        history::access a;
        words >> a.lock >> a.worker >> a.token;
        if (std::int64_t value = 0; words >> value) {
            a.written = value;
        }
        a.at = boottime_clock::now().time_since_epoch();
        return apply(a);
    }

    std::string apply(history::access& a) {
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

    policy policy_;
    boost::asio::io_context context_;
    stream_protocol::acceptor acceptor_;
    mutable std::mutex mutex_;
    mutable std::condition_variable claimed_;
    std::map<std::string, cell> cells_;
    std::vector<history::access> accesses_;
    std::thread thread_;
};

fenced_register::fenced_register(std::filesystem::path socket, policy p)
    : socket_(std::move(socket)), engine_(std::make_unique<engine>(socket_, p)) {}

fenced_register::~fenced_register() = default;

std::vector<history::access> fenced_register::accesses() const {
    return engine_->accesses();
}

std::int64_t fenced_register::value(const std::string& lock) const {
    return engine_->value(lock);
}

std::optional<int> fenced_register::next_claimant(const std::string& lock,
                                                  std::chrono::milliseconds limit) const {
    return engine_->next_claimant(lock, limit);
}

register_connection::register_connection(const std::filesystem::path& socket, int worker)
    : stream_(stream_protocol::endpoint(socket.string())), worker_(worker) {
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
