#pragma once

#include "zookeeper/frame_check.hpp"

#include <cstddef>
#include <string>

namespace latchkey::inline v0 {

/// Stands between the C client and its connection. The C client gets whole frames that are right,
/// and nothing else: it would believe any length or count. See frame_check.
///
/// The C client reads and writes one end of a pair of sockets, this object has the other one. All
/// is done inside the calls, which never block. On the loop only.
class frame_gate {
public:
    /// Puts its end of the pair in the place of `client`, the C client's socket, once that has
    /// asked for a session. `network` is the connection; it must outlive this object. Throws
    /// std::system_error if there are no more descriptors.
    frame_gate(int network, int client, bool continues);
    frame_gate(const frame_gate&) = delete;
    frame_gate& operator=(const frame_gate&) = delete;
    ~frame_gate();

    /// Reads a piece of what has arrived. Returns false if nothing more has, or the connection is
    /// over.
    [[nodiscard]] bool read();

    /// Checks the whole frames in what was read, up to the first that is wrong. Returns how many
    /// are right. Call it when all frames before them were handed over, until there are none. The
    /// answer to the request for a session comes alone: where a server leaves out its last byte,
    /// the C client takes the next one for it.
    [[nodiscard]] std::size_t check();

    /// Gives the C client as much of these frames as its socket takes. Returns false if there is
    /// more.
    [[nodiscard]] bool hand_over();

    /// Takes what the C client has written.
    void collect();

    /// Sends as much of it as the connection takes.
    void flush();

    /// Whether something that the C client has written was not sent yet.
    [[nodiscard]] bool unsent() const noexcept { return !out_.empty(); }

    /// Why the connection is over, for people; empty if it is not.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

    /// Whether it is over because of a frame.
    [[nodiscard]] bool wrong_frame() const noexcept { return wrong_frame_; }

    [[nodiscard]] bool answer_left_out() const noexcept { return check_.answer_left_out(); }

private:
    [[nodiscard]] std::size_t missing() const noexcept;
    [[nodiscard]] bool next_is_right();
    void note_requests();
    void fail(std::string why);

    const int network_;
    int end_ = -1;  ///< of the pair
    frame_check check_;

    std::string in_;             ///< from the server
    std::size_t checked_ = 0;    ///< what is ahead of it are whole frames that are right
    std::size_t handed_to_ = 0;  ///< what is ahead of it was given to the C client
    std::string out_;            ///< from the C client
    std::size_t out_whole_ = 0;  ///< whole frames of it
    std::string failure_;
    bool wrong_frame_ = false;
};

}  // namespace latchkey::inline v0
