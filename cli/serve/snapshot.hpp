#pragma once

#include "look/queue_json.hpp"
#include "serve/reading.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace latchkey::cli {

/// What the readings have shown so far.
struct reading_progress {
    std::shared_ptr<const reading> last;  ///< null before the first
    /// When the last complete reading began.
    std::optional<std::chrono::steady_clock::time_point> complete;
    std::chrono::nanoseconds every{};
    std::uint64_t complete_readings = 0;
    std::uint64_t partial_readings = 0;
    std::uint64_t failed_readings = 0;
    std::string error;  ///< escaped: why the latest reading failed; empty if it did not
};

/// What `latchkey serve` shows until the next reading ends or fails. Its texts are made once, when
/// one is asked for first, and shared. Any thread.
class snapshot {
public:
    using text = std::shared_ptr<const std::string>;

    explicit snapshot(reading_progress p) : progress_(std::move(p)) {}

    [[nodiscard]] const reading_progress& progress() const noexcept { return progress_; }

    [[nodiscard]] const reading* last() const noexcept { return progress_.last.get(); }

    /// For how long nothing newer than the last reading is known; zero before the first.
    [[nodiscard]] std::chrono::milliseconds age(std::chrono::steady_clock::time_point now) const;

    /// How the readings go: the object `reading` of every answer.
    [[nodiscard]] json_object reading_json() const;

    /// The bodies of the pages of the same names.
    [[nodiscard]] text locks() const { return once(locks_, &snapshot::make_locks); }

    /// The list as the event `locks` of `/api/events`: one text for all its readers.
    [[nodiscard]] text locks_event() const {
        return once(locks_event_, &snapshot::make_locks_event);
    }

    [[nodiscard]] text graph() const { return once(graph_, &snapshot::make_graph); }

    [[nodiscard]] text doctor() const { return once(doctor_, &snapshot::make_doctor); }

    /// One lock with its queue; null if the last reading has no such lock.
    [[nodiscard]] text lock(const std::string& path) const;

private:
    [[nodiscard]] text once(text& made, std::string (snapshot::*make)() const) const;
    [[nodiscard]] std::string make_locks() const;
    [[nodiscard]] std::string make_locks_event() const;
    [[nodiscard]] std::string make_graph() const;
    [[nodiscard]] std::string make_doctor() const;

    const reading_progress progress_;
    mutable std::mutex guard_;
    mutable text locks_;
    mutable text locks_event_;
    mutable text graph_;
    mutable text doctor_;
};

}  // namespace latchkey::cli
