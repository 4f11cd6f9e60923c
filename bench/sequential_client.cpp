#include "sequential_client.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <utility>

#include <poll.h>
#include <zookeeper/zookeeper.h>

namespace latchkey::bench {
namespace {

using clock = std::chrono::steady_clock;

constexpr auto patience = std::chrono::seconds(30);

/// "_c_<36 characters>-", as long as what Latchkey puts before its names.
constexpr const char* participant_name = "_c_00000000-0000-4000-8000-000000000000-lock-";
constexpr std::size_t digits = 10;

std::string sequence_of(const std::string& name) {
    return name.size() < digits ? name : name.substr(name.size() - digits);
}

}  // namespace

class sequential_client::connection {
public:
    /// One question at a time, and its answer.
    int answer = ZOK;
    bool answered = false;
    bool woken = false;
    std::string path;
    std::vector<std::string> names;

    explicit connection(const std::string& server) {
        zoo_set_debug_level(static_cast<ZooLogLevel>(0));
        handle_ = zookeeper_init(server.c_str(), nullptr, 30'000, nullptr, this, 0);
        if (handle_ == nullptr) {
            throw std::runtime_error("zookeeper_init: " + server);
        }
        zoo_set_servers_resolution_delay(handle_, -1);
        work_until([this] { return zoo_state(handle_) == ZOO_CONNECTED_STATE; });
    }

    ~connection() { zookeeper_close(handle_); }

    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    [[nodiscard]] zhandle_t* handle() const { return handle_; }

    /// Runs the C client until the question that was just sent (with the code `sent`) is answered.
    void await_answer(int sent, const char* what) {
        answer = sent;
        answered = false;
        if (sent == ZOK) {
            work_until([this] { return answered; });
        }
        if (answer != ZOK) {
            throw std::runtime_error(std::string(what) + ": " + zerror(answer));
        }
    }

    template <class Condition>
    void work_until(Condition done) {
        const auto end = clock::now() + patience;
        while (!done()) {
            if (clock::now() > end) {
                throw std::runtime_error("no answer");
            }
            pollfd wanted = interest();
            const int ready = ::poll(&wanted, 1, timeout_);
            work(wanted, ready);
        }
    }

    /// What this client waits for, until `timeout_`.
    pollfd interest() {
        pollfd p{-1, 0, 0};
        int events = 0;
        timeval limit{};
        if (zookeeper_interest(handle_, &p.fd, &events, &limit) != ZOK) {
            throw std::runtime_error("the connection is lost");
        }
        p.events = static_cast<short>(((events & ZOOKEEPER_READ) != 0 ? POLLIN : 0) |
                                      ((events & ZOOKEEPER_WRITE) != 0 ? POLLOUT : 0));
        timeout_ = static_cast<int>(limit.tv_sec * 1000 + limit.tv_usec / 1000) + 1;
        return p;
    }

    [[nodiscard]] int timeout() const { return timeout_; }

    void work(const pollfd& p, int ready) {
        const int events = ready <= 0
                               ? 0
                               : ((p.revents & (POLLIN | POLLHUP)) != 0 ? ZOOKEEPER_READ : 0) |
                                     ((p.revents & POLLOUT) != 0 ? ZOOKEEPER_WRITE : 0);
        zookeeper_process(handle_, events);
    }

    static connection& of(const void* context) {
        return *static_cast<connection*>(const_cast<void*>(context));
    }

    static void on_created(int rc, const char* value, const Stat* /*stat*/, const void* context) {
        connection& c = of(context);
        c.path = rc == ZOK ? value : "";
        c.finish(rc);
    }

    static void on_listed(int rc, const String_vector* found, const void* context) {
        connection& c = of(context);
        c.names.clear();
        for (int i = 0; rc == ZOK && i < found->count; ++i) {
            c.names.emplace_back(found->data[i]);
        }
        c.finish(rc);
    }

    static void on_stat(int rc, const Stat* /*stat*/, const void* context) {
        of(context).finish(rc);
    }

    static void on_done(int rc, const void* context) { of(context).finish(rc); }

    static void on_watch(zhandle_t* /*h*/, int type, int /*state*/, const char* /*path*/, void* c) {
        if (type == ZOO_DELETED_EVENT) {
            of(c).woken = true;
        }
    }

private:
    void finish(int rc) {
        answer = rc;
        answered = true;
    }

    zhandle_t* handle_ = nullptr;
    int timeout_ = 0;
};

sequential_client::sequential_client(const std::string& server)
    : connection_(std::make_unique<connection>(server)) {}

sequential_client::~sequential_client() = default;

void sequential_client::create_directory(const std::string& path) {
    connection& c = *connection_;
    c.await_answer(zoo_acreate2(c.handle(),
                                path.c_str(),
                                "",
                                0,
                                &ZOO_OPEN_ACL_UNSAFE,
                                ZOO_PERSISTENT,
                                &connection::on_created,
                                &c),
                   "create");
}

std::string sequential_client::create_participant(const std::string& directory) {
    connection& c = *connection_;
    const std::string data(110, 'x');  // about what Latchkey writes there
    c.await_answer(zoo_acreate2(c.handle(),
                                (directory + '/' + participant_name).c_str(),
                                data.data(),
                                static_cast<int>(data.size()),
                                &ZOO_OPEN_ACL_UNSAFE,
                                ZOO_EPHEMERAL_SEQUENTIAL,
                                &connection::on_created,
                                &c),
                   "create");
    return c.path;
}

std::vector<std::string> sequential_client::participants(const std::string& directory) {
    connection& c = *connection_;
    c.await_answer(zoo_aget_children(c.handle(), directory.c_str(), 0, &connection::on_listed, &c),
                   "get_children");
    std::sort(c.names.begin(), c.names.end(), [](const auto& a, const auto& b) {
        return sequence_of(a) < sequence_of(b);
    });
    return c.names;
}

void sequential_client::watch(const std::string& path) {
    connection& c = *connection_;
    c.woken = false;
    c.await_answer(
        zoo_awexists(c.handle(), path.c_str(), &connection::on_watch, &c, &connection::on_stat, &c),
        "exists");
}

void sequential_client::remove(const std::string& path) {
    connection& c = *connection_;
    c.await_answer(zoo_adelete(c.handle(), path.c_str(), -1, &connection::on_done, &c), "delete");
}

void sequential_client::start_removing(const std::string& path) {
    connection& c = *connection_;
    c.answered = false;
    if (zoo_adelete(c.handle(), path.c_str(), -1, &connection::on_done, &c) != ZOK) {
        throw std::runtime_error("delete");
    }
}

void sequential_client::finish_removing() {
    connection_->work_until([this] { return connection_->answered; });
}

void sequential_client::work_until_woken(sequential_client& leaving, sequential_client& waiting) {
    connection& a = *leaving.connection_;
    connection& b = *waiting.connection_;
    const auto end = clock::now() + patience;
    while (!b.woken) {
        if (clock::now() > end) {
            throw std::runtime_error("not woken");
        }
        std::array<pollfd, 2> wanted{a.interest(), b.interest()};
        const int ready = ::poll(wanted.data(), wanted.size(), std::min(a.timeout(), b.timeout()));
        b.work(wanted[1], ready);
        if (!b.woken) {
            a.work(wanted[0], ready);
        }
    }
}

}  // namespace latchkey::bench
