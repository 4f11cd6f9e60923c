#pragma once

#include "loop/loop.hpp"

#include <cstddef>
#include <deque>
#include <memory>

namespace latchkey::model {

/// One direction of a connection. Delivers messages in the order in which they were sent, each one
/// no earlier than its latency after it was sent. On the loop only.
///
/// It is a part of an object that both ends share, `whole`, which lives as long as a message is in
/// flight. A message must not own that object.
class channel {
public:
    /// `receiver` runs the deliveries. It must outlive all calls.
    explicit channel(loop& receiver) noexcept : receiver_(&receiver) {}

    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;

    void send(std::shared_ptr<void> whole, loop::task deliver, loop::clock::duration latency);

    /// While held, nothing is delivered and nothing is lost, as on a network that is cut without
    /// either end noticing.
    void hold(bool on, const std::shared_ptr<void>& whole);

    /// Loses what is in flight, and everything that is sent later.
    void close();

    [[nodiscard]] std::size_t in_flight() const noexcept { return messages_.size(); }

    /// Loses all messages in flight but the `count` oldest ones.
    void keep(std::size_t count);

private:
    void arrive();

    loop* receiver_;
    std::deque<loop::task> messages_;
    std::size_t overdue_ = 0;  ///< would have been delivered if the channel were not held
    bool held_ = false;
    bool closed_ = false;
};

}  // namespace latchkey::model
