#include "run/success_recording.hpp"

#include "text/escape.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

namespace latchkey::cli {

success_recording::success_recording(once_record record, main_thread_queue& queue, handler done)
    : writing_([record = std::move(record), &queue, done = std::move(done)]() mutable {
          std::string trouble;
          try {
              record.succeeded();
          } catch (const std::exception& e) {
              trouble = fmt::format(
                  "cannot record the success in {}: {}; --once-per will not "
                  "prevent the next run",
                  escaped(record.path()),
                  escaped_message(e.what()));
          }
          queue.post([done, trouble] { done(trouble); });
      }) {}

}  // namespace latchkey::cli
