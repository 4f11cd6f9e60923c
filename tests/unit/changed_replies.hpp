#pragma once

#include "tcp_proxy.hpp"
#include "wire_frames.hpp"
#include "zookeeper_frames.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::test {

/// Makes another frame of one, both without their lengths.
using change = std::function<std::string(std::string)>;

inline change put_number(std::size_t at, std::int32_t value) {
    return [=](std::string frame) {
        const std::string bytes = jute_writer().number(value).take().substr(4);
        return frame.size() < at + 4 ? frame + "!" : frame.replace(at, 4, bytes);
    };
}

inline change cut_to(std::size_t size) {
    return [=](const std::string& frame) { return frame.substr(0, size); };
}

inline std::string without_its_last_byte(const std::string& frame) {
    return frame.substr(0, frame.size() - 1);
}

/// What is changed, shared by the test's thread and the proxy's.
class changes {
public:
    /// The next answer to `what`; an event of a watch is `none`.
    void make(opcode what, change how) {
        make_each([what](opcode asked) { return asked == what; }, std::move(how));
        const std::lock_guard lock(mutex_);
        once_ = true;
    }

    /// All answers of which `which` says so, from now on.
    void make_each(std::function<bool(opcode)> which, change how) {
        const std::lock_guard lock(mutex_);
        which_ = std::move(which);
        how_ = std::move(how);
        once_ = false;
    }

    std::string apply(opcode what, std::string frame) {
        const std::lock_guard lock(mutex_);
        if (!how_ || !which_(what)) {
            return frame;
        }
        const std::string body = (once_ ? std::exchange(how_, nullptr) : how_)(frame.substr(4));
        return jute_writer().text(body).take().substr(4);
    }

    /// No answer of this kind arrives, from now on.
    void leave_out(std::optional<opcode> what) {
        const std::lock_guard lock(mutex_);
        left_out_ = what;
    }

    bool leaves_out(opcode what) {
        const std::lock_guard lock(mutex_);
        return left_out_ == what;
    }

private:
    std::mutex mutex_;
    std::function<bool(opcode)> which_;
    change how_;
    bool once_ = false;
    std::optional<opcode> left_out_;
};

/// For a proxy.
class changing_filter final : public traffic_filter {
public:
    explicit changing_filter(changes& c) : changes_(c) {}

    std::vector<piece> take(tcp_proxy::direction way, std::string_view bytes) override {
        const bool to_server = way == tcp_proxy::direction::to_server;
        frame_stream& stream = streams_.at(to_server ? 0 : 1);
        stream.feed(bytes);
        std::vector<piece> result;
        while (auto frame = stream.next()) {
            const auto seen = to_server ? talk_.from_client(*frame) : talk_.from_server(*frame);
            const auto what =
                seen.what == zookeeper_frame::kind::event ? opcode::none : seen.operation;
            if (to_server || !changes_.leaves_out(what)) {
                result.push_back({to_server ? *frame : changes_.apply(what, *std::move(frame))});
            }
        }
        return result;
    }

    std::string kept(tcp_proxy::direction) override { return {}; }

private:
    changes& changes_;
    std::array<frame_stream, 2> streams_;
    zookeeper_conversation talk_;
};

}  // namespace latchkey::test
