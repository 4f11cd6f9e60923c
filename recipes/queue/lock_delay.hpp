#pragma once

#include "client/client_core.hpp"
#include "loop/task.hpp"
#include "queue/queue_recipe.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v0 {

/// The paths of the records of the holder that has these znodes; none without a lock_delay.
[[nodiscard]] std::vector<std::string> delay_records_of(const queue_recipe& as,
                                                        const std::vector<std::string>& znodes);

/// Creates these records, all or none, if these znodes are there: `multi[check znodes..., create
/// records...]`. Ends with `ok` when they are there, whatever requests and answers are lost. In one
/// session; while disconnected, with the next connection.
[[nodiscard]] task<result_code> create_delay_records(std::shared_ptr<client_core> core,
                                                     std::shared_ptr<const queue_recipe> as,
                                                     std::vector<std::string> znodes,
                                                     std::vector<std::string> records);

/// Deletes the record of a dead holder whose delay is over, if the own znode is there: so a request
/// that arrives late never finds another directory of that name. Ends with the answer; NONODE is
/// that of one of the two.
[[nodiscard]] oneshot<reply> delete_delay_record(client_core& core,
                                                 const std::string& own,
                                                 const std::string& record);

}  // namespace latchkey::inline v0
