#include "pipelined_client.hpp"

#include <chrono>
#include <stdexcept>

#include <poll.h>
#include <zookeeper/zookeeper.h>

namespace latchkey::bench {
namespace {

using clock = std::chrono::steady_clock;

constexpr auto patience = std::chrono::seconds(60);

/// "_c_<36 characters>-", as long as what Latchkey puts before its names.
constexpr const char* participant_name = "/_c_00000000-0000-4000-8000-000000000000-lock-";

}  // namespace

class pipelined_client::connection {
public:
    std::size_t under_way = 0;
    std::function<void(const char* path)> created;

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

    void create(const std::string& path, int flags) {
        sent(zoo_acreate2(handle_,
                          path.c_str(),
                          data_.data(),
                          static_cast<int>(data_.size()),
                          &ZOO_OPEN_ACL_UNSAFE,
                          flags,
                          &connection::on_created,
                          this));
    }

    void list(const std::string& path) {
        sent(zoo_aget_children(handle_, path.c_str(), 0, &connection::on_listed, this));
    }

    void remove(const char* path) {
        sent(zoo_adelete(handle_, path, -1, &connection::on_done, this));
    }

    template <class Condition>
    void work_until(Condition done) {
        const auto end = clock::now() + patience;
        while (!done()) {
            if (clock::now() > end || failed_ != ZOK) {
                throw std::runtime_error(failed_ != ZOK ? zerror(failed_) : "no answer");
            }
            work();
        }
    }

private:
    void work() {
        pollfd wanted{-1, 0, 0};
        int events = 0;
        timeval limit{};
        if (zookeeper_interest(handle_, &wanted.fd, &events, &limit) != ZOK) {
            throw std::runtime_error("the connection is lost");
        }
        wanted.events = static_cast<short>(((events & ZOOKEEPER_READ) != 0 ? POLLIN : 0) |
                                           ((events & ZOOKEEPER_WRITE) != 0 ? POLLOUT : 0));
        const auto most = limit.tv_sec * 1000 + limit.tv_usec / 1000 + 1;
        const bool ready = ::poll(&wanted, 1, static_cast<int>(most)) > 0;
        const int happened =
            ready ? ((wanted.revents & (POLLIN | POLLHUP)) != 0 ? ZOOKEEPER_READ : 0) |
                        ((wanted.revents & POLLOUT) != 0 ? ZOOKEEPER_WRITE : 0)
                  : 0;
        // One frame a call: the next ones are read without another poll, until none is left.
        while (zookeeper_process(handle_, happened) == ZOK && (happened & ZOOKEEPER_READ) != 0) {
        }
    }

    void sent(int code) {
        if (code != ZOK) {
            throw std::runtime_error(zerror(code));
        }
        ++under_way;
    }

    void finish(int code) {
        --under_way;
        failed_ = failed_ == ZOK && code != ZNODEEXISTS ? code : failed_;
    }

    static connection& of(const void* context) {
        return *static_cast<connection*>(const_cast<void*>(context));
    }

    static void on_created(int rc, const char* path, const Stat* /*stat*/, const void* context) {
        connection& c = of(context);
        c.finish(rc);
        if (rc == ZOK && c.created) {
            c.created(path);
        }
    }

    static void on_listed(int rc, const String_vector* names, const void* context) {
        of(context).finish(rc == ZOK && names->count == 0 ? ZNONODE : rc);
    }

    static void on_done(int rc, const void* context) { of(context).finish(rc); }

    const std::string data_ = std::string(110, 'x');  // about what Latchkey writes there
    zhandle_t* handle_ = nullptr;
    int failed_ = ZOK;
};

pipelined_client::pipelined_client(const std::string& server)
    : connection_(std::make_unique<connection>(server)) {}

pipelined_client::~pipelined_client() = default;

void pipelined_client::create_directory(const std::string& path) {
    for (std::size_t i = path.find('/', 1); i != std::string::npos; i = path.find('/', i + 1)) {
        connection_->create(path.substr(0, i), ZOO_PERSISTENT);
    }
    connection_->create(path, ZOO_PERSISTENT);
    settle();
}

std::string pipelined_client::join(const std::string& directory) {
    connection& c = *connection_;
    std::string own;
    c.created = [&](const char* path) { own = path; };
    c.create(directory + participant_name, ZOO_EPHEMERAL_SEQUENTIAL);
    c.list(directory);
    // Answers come in order: those to earlier deletes come first.
    c.work_until([&c] { return c.under_way == 0; });
    c.created = nullptr;
    return own;
}

void pipelined_client::start_removing(const std::string& path) {
    connection_->remove(path.c_str());
}

void pipelined_client::settle() {
    connection_->work_until([this] { return connection_->under_way == 0; });
}

void pipelined_client::create_and_delete(
    std::size_t pairs,
    std::size_t depth,
    const std::function<const std::string&(std::size_t)>& directory) {
    connection& c = *connection_;
    std::size_t begun = 0;
    const auto begin = [&] {
        if (begun < pairs) {
            c.create(directory(begun++) + participant_name, ZOO_EPHEMERAL_SEQUENTIAL);
        }
    };
    c.created = [&](const char* path) {
        c.remove(path);
        begin();
    };
    for (std::size_t i = 0; i < depth; ++i) {
        begin();
    }
    settle();
    c.created = nullptr;
}

void pipelined_client::create_each(std::size_t count,
                                   std::size_t depth,
                                   const std::function<std::string(std::size_t)>& path) {
    connection& c = *connection_;
    for (std::size_t i = 0; i < count; ++i) {
        c.create(path(i), ZOO_PERSISTENT);
        c.work_until([&] { return c.under_way < depth; });
    }
    settle();
}

}  // namespace latchkey::bench
