#include "barrier_recipe.hpp"

#include "barrier_judge.hpp"
#include "barrier_worker.hpp"
#include "program.hpp"
#include "stage.hpp"

#include <utility>

namespace latchkey::simulation {

std::shared_ptr<caller> barrier_recipe::make_caller(program& of,
                                                    std::size_t object,
                                                    std::string name) const {
    return std::make_shared<barrier_worker>(of, object, std::move(name));
}

std::unique_ptr<judge> barrier_recipe::judge_of(stage& s) const {
    return std::make_unique<barrier_judge>(s);
}

}  // namespace latchkey::simulation
