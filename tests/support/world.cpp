#include "world.hpp"

#include <latchkey/ensemble.hpp>

#include "client/blocking_read.hpp"
#include "client/client_core.hpp"
#include "ensemble/wire/wire_answer.hpp"
#include "eventually.hpp"
#include "real_ensemble.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

namespace latchkey::test {

// ---- the operator ----

client& world::hand() {
    if (!operator_) {
        operator_ = std::make_unique<client>(connect());
    }
    return *operator_;
}

namespace {

reply done_or_thrown(client& c, const request& r) {
    reply answer = blocking_read(*client_core::of(c), r);
    failure_of(answer.code, r.path).raise_unless(answer.ok());
    return answer;
}

}  // namespace

std::string world::create(const std::string& path, const std::string& data) {
    for (std::size_t end = path.find('/', 1); end != std::string::npos;
         end = path.find('/', end + 1)) {
        static_cast<void>(blocking_read(
            *client_core::of(hand()),
            request::create(path.substr(0, end), {}, create_mode::persistent, open_unsafe_acl())));
    }
    return done_or_thrown(hand(),
                          request::create(path, data, create_mode::persistent, open_unsafe_acl()))
        .path;
}

void world::remove(const std::string& path) {
    done_or_thrown(hand(), request::remove(path));
}

void world::set(const std::string& path, const std::string& data) {
    done_or_thrown(hand(), request::set(path, data));
}

std::optional<std::string> world::get(const std::string& path) {
    catch_up(hand());
    reply r = blocking_read(*client_core::of(hand()), request::get(path));
    return r.ok() ? std::optional(std::move(r.data)) : std::nullopt;
}

std::vector<std::string> world::children(const std::string& path) {
    catch_up(hand());
    reply r = blocking_read(*client_core::of(hand()), request::children(path));
    std::sort(r.names.begin(), r.names.end());
    return std::move(r.names);
}

// ---- the worlds ----

namespace {

class in_process_world final : public world {
public:
    using world::connect;

    client connect(client_options options, const std::string& chroot) override {
        return ensemble_.connect(std::move(options), chroot);
    }

    void expire(std::int64_t session) override { ensemble_.expire(session); }

    std::string fresh_path() override { return "/fresh-" + std::to_string(++paths_); }

    bool exists_needs_read() const override { return true; }

private:
    testing::ensemble ensemble_;
    std::atomic<int> paths_{0};
};

class real_world final : public world {
public:
    using world::connect;

    client connect(client_options options, const std::string& chroot) override {
        return client::connect(real_ensemble::shared().connect_string() + chroot,
                               std::move(options));
    }

    void expire(std::int64_t session) override {
        end_session(real_ensemble::shared().address(1), session);
    }

    std::string fresh_path() override { return real_ensemble::fresh_path(); }

    bool exists_needs_read() const override { return real_ensemble::shared().exists_needs_read(); }
};

}  // namespace

std::unique_ptr<world> make_world(world_kind k) {
    if (k == world_kind::real) {
        return std::make_unique<real_world>();
    }
    return std::make_unique<in_process_world>();
}

std::string name_of_world(world_kind k) {
    return k == world_kind::real ? "Real" : "InProcess";
}

void catch_up(const client& c) {
    static_cast<void>(blocking_read(*client_core::of(c), request::multi({request::check("/")})));
}

// ---- ending a session of another client ----

namespace {

class frame {
public:
    template <class Integer>
    frame& add(Integer value) {
        for (std::size_t i = sizeof(Integer); i-- > 0;) {
            bytes_.push_back(
                static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i)));
        }
        return *this;
    }

    frame& add(const std::string& buffer) {
        add(static_cast<std::int32_t>(buffer.size()));
        bytes_.insert(bytes_.end(), buffer.begin(), buffer.end());
        return *this;
    }

    void send(boost::asio::ip::tcp::socket& s) const {
        frame length;
        length.add(static_cast<std::int32_t>(bytes_.size()));
        boost::asio::write(s, boost::asio::buffer(length.bytes_));
        boost::asio::write(s, boost::asio::buffer(bytes_));
    }

private:
    std::vector<std::uint8_t> bytes_;
};

std::vector<std::uint8_t> receive(boost::asio::ip::tcp::socket& s) {
    std::array<std::uint8_t, 4> length{};
    boost::asio::read(s, boost::asio::buffer(length));
    std::vector<std::uint8_t> body((static_cast<std::size_t>(length[2]) << 8U) | length[3]);
    boost::asio::read(s, boost::asio::buffer(body));
    return body;
}

/// True if the session is gone. Its client may take it back at any moment, and our request with it.
bool try_to_end(const std::string& host, const std::string& port, std::int64_t session) {
    constexpr std::int32_t close_session = -11;
    boost::asio::io_context io;
    boost::asio::ip::tcp::socket s(io);
    boost::asio::connect(s, boost::asio::ip::tcp::resolver(io).resolve(host, port));
    try {
        frame()
            .add(std::int32_t{0})
            .add(std::int64_t{0})
            .add(std::int32_t{10'000})
            .add(session)
            .add(model::session_password(session))
            .add(std::uint8_t{0})
            .send(s);
        const auto answer = receive(s);
        const bool granted =
            std::any_of(answer.begin() + 4, answer.begin() + 8, [](auto b) { return b != 0; });
        if (!granted) {
            return true;  // a timeout of zero: no such session
        }
        frame().add(std::int32_t{1}).add(close_session).send(s);
        receive(s);
    } catch (const boost::system::system_error&) {
        // The server closed the connection: another client has the session.
    }
    return false;
}

}  // namespace

void end_session(const std::string& host_and_port, std::int64_t session) {
    const std::size_t colon = host_and_port.rfind(':');
    const auto ended = [&] {
        return try_to_end(host_and_port.substr(0, colon), host_and_port.substr(colon + 1), session);
    };
    if (!eventually(ended)) {
        throw std::runtime_error("cannot end the session " + std::to_string(session));
    }
}

}  // namespace latchkey::test
