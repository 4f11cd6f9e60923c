#pragma once

#include "output/main_thread_queue.hpp"
#include "run/once_record.hpp"

#include <functional>
#include <string>
#include <thread>

namespace latchkey::cli {

/// Writes that the command has succeeded, on a thread of its own. The destructor waits for it.
class success_recording {
public:
    /// `queue` calls `done`, with what went wrong, for people; empty if nothing did.
    using handler = std::function<void(const std::string& trouble)>;

    /// `queue` must outlive this object.
    success_recording(once_record record, main_thread_queue& queue, handler done);

private:
    std::jthread writing_;
};

}  // namespace latchkey::cli
