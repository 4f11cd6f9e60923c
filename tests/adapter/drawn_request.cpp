#include "drawn_request.hpp"

#include <algorithm>
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

constexpr std::size_t digits = 10;

bool is_numbered(const std::string& made, const std::string& asked) {
    return made.starts_with(asked) && made.size() == asked.size() + digits;
}

std::string wrong_read(const request& asked, const reply& r) {
    if (!r.ok()) {
        return "a read is refused";
    }
    if (asked.what == request::kind::get) {
        return r.data.starts_with(asked.path + "#") &&
                       r.stat.data_length == static_cast<std::int32_t>(r.data.size())
                   ? ""
                   : "data of another znode: " + r.data;
    }
    if (asked.what == request::kind::exists) {
        return r.stat.data_length > 0 ? "" : "a Stat of another znode";
    }
    const auto strange = [](const std::string& name) {
        return !name.starts_with("i") && !name.starts_with("s-") && !name.starts_with("m-");
    };
    const bool items = std::count_if(r.names.begin(), r.names.end(), [](const auto& n) {
                           return n[0] == 'i';
                       }) == 3;
    return items && std::none_of(r.names.begin(), r.names.end(), strange)
               ? ""
               : "a list of another directory";
}

std::string wrong_create(const request& asked, const reply& r, std::int64_t session) {
    if (!r.ok() || !is_numbered(r.path, asked.path)) {
        return "the path of another znode: " + r.path;
    }
    const std::int64_t owner =
        asked.mode == create_mode::ephemeral_sequential ? session : std::int64_t{0};
    return r.stat.ephemeral_owner == owner &&
                   r.stat.data_length == static_cast<std::int32_t>(asked.data.size())
               ? ""
               : "a Stat of another znode";
}

std::string wrong_multi(const request& asked, const reply& r) {
    const bool fails = asked.operations.size() == 2;
    if (r.results.size() != asked.operations.size() ||
        r.code != (fails ? result_code::no_node : result_code::ok)) {
        return "the outcome of another transaction";
    }
    if (fails) {
        return r.results[0].ok() && r.results[1].code == result_code::no_node
                   ? ""
                   : "another operation failed";
    }
    return is_numbered(r.results[2].path, asked.operations[2].path) &&
                   r.results[1].stat.data_length ==
                       static_cast<std::int32_t>(asked.operations[1].data.size())
               ? ""
               : "results of another transaction";
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

bool is_too_large(const request& asked) {
    constexpr std::size_t most = 1'000'000;
    constexpr std::size_t besides = 128 + 16 + 5 + 6;  // open to world:anyone
    return asked.what == request::kind::create &&
           asked.path.size() + asked.data.size() + besides > most;
}

std::string what_is_wrong(const request& asked, const reply& r, std::int64_t session) {
    if (is_too_large(asked)) {
        return "a request that is too large is answered by a server";
    }
    switch (asked.what) {
        case request::kind::get:
        case request::kind::exists:
        case request::kind::children:
            return wrong_read(asked, r);
        case request::kind::create:
            return wrong_create(asked, r, session);
        case request::kind::set:
            return r.ok() && r.stat.version > 0 &&
                           r.stat.data_length == static_cast<std::int32_t>(asked.data.size())
                       ? ""
                       : "a set";
        case request::kind::remove:
            return r.ok() || r.code == result_code::no_node ? "" : "a remove";
        case request::kind::multi:
            return wrong_multi(asked, r);
        default:
            return r.ok() && r.path.empty() && r.names.empty() && r.data.empty() ? "" : "a sync";
    }
}

}  // namespace latchkey::test
