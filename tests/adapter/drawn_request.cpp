#include "drawn_request.hpp"

#include <utility>

namespace latchkey::test {
namespace {

std::string directory(model::random_source& random) {
    return "/d" + std::to_string(random.below(adapter_znodes::directories));
}

/// Near the limit of this side, or between it and more than servers take.
request large_create(model::random_source& random, std::string text) {
    const std::string path = directory(random) + "/s-";
    const std::size_t limit = 1'000'000 - 128 - 16 - 5 - 6;
    text.resize(limit + (random.below(2) == 0 ? random.below(80'000) : random.below(300) - 150),
                '.');
    return request::create(
        path, std::move(text), create_mode::persistent_sequential, open_unsafe_acl());
}

}  // namespace

std::optional<drawn_request> draw_request(model::random_source& random,
                                          const std::string& text,
                                          std::deque<std::string>& own,
                                          bool large) {
    const std::string in = directory(random);
    const std::string path = in + "/i" + std::to_string(random.below(adapter_znodes::items));
    const std::string data = path + text;
    const acl open_to_all = open_unsafe_acl();
    if (large && random.below(60) == 0) {
        return drawn_request{large_create(random, data)};
    }
    switch (random.below(10)) {
        case 0:
        case 1:
            return drawn_request{request::get(path), random.below(2) == 0};
        case 2:
            return drawn_request{request::children(in), random.below(2) == 0};
        case 3:
            return random.below(2) == 0 ? drawn_request{request::exists(path)}
                                        : drawn_request{request::get(in), random.below(2) == 0};
        case 4:
            return drawn_request{random.below(3) == 0 ? request::set(in, in + text)
                                                      : request::set(path, data)};
        case 5:
            return drawn_request{request::create(in + "/s-",
                                                 data,
                                                 random.below(2) == 0
                                                     ? create_mode::ephemeral_sequential
                                                     : create_mode::persistent_sequential,
                                                 open_to_all)};
        case 6: {
            if (own.empty()) {
                return std::nullopt;
            }
            request remove = request::remove(own.front());
            own.pop_front();
            return drawn_request{std::move(remove)};
        }
        case 7:
            return drawn_request{request::multi(
                {request::check(in),
                 request::set(path, data),
                 request::create(
                     in + "/m-", data, create_mode::ephemeral_sequential, open_to_all)})};
        case 8:
            return drawn_request{request::multi({request::check(path), request::check("/none")})};
        default:
            return drawn_request{request::sync("/")};
    }
}

}  // namespace latchkey::test
