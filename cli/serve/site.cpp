#include "serve/site.hpp"

#include "serve/web_file.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace latchkey::cli {

namespace {

http_answer answer_of(std::string_view type, snapshot::text body) {
    http_answer a;
    a.type = type;
    a.body = std::move(body);
    return a;
}

}  // namespace

http_answer site::answer(const http_request& r) {
    if (auto refusal = access_.refuse_host(r)) {
        return *std::move(refusal);
    }
    if (r.method != "GET" && r.method != "HEAD") {
        auto refusal = http_answer::error(405, "this server only shows: use GET or HEAD");
        refusal.header_name = "Allow";
        refusal.header_value = "GET, HEAD";
        return refusal;
    }
    const auto target = request_target::parse(r.target);
    if (!target) {
        return http_answer::error(400, "the address is malformed");
    }
    // The page holds nothing secret. It asks for the token, or gets it from its own address.
    if (const web_file* file = web_file::find(target->path)) {
        return answer_of(file->type, file->content());
    }
    if (target->path == "/healthz") {  // for whoever restarts what does not answer
        return answer_of("text/plain; charset=utf-8", std::make_shared<const std::string>("ok\n"));
    }
    const bool is_api = target->path.starts_with("/api/");
    if (!is_api && target->path != "/metrics") {
        return http_answer::error(404, "there is no such page");
    }
    if (auto refusal = access_.refuse_stranger(r)) {
        return *std::move(refusal);
    }
    readings_.asked();
    if (is_api) {
        return api(*target);
    }
    return answer_of("text/plain; version=0.0.4; charset=utf-8",
                     std::make_shared<const std::string>(
                         metrics_.text(*readings_.latest(), std::chrono::steady_clock::now())));
}

http_answer site::api(const request_target& target) {
    constexpr std::string_view json = "application/json";
    const auto now = readings_.latest();
    http_answer a;
    if (target.path == "/api/events") {
        a.streams_events = true;
        return a;
    }
    if (target.path == "/api/locks") {
        a = answer_of(json, now->locks());
    } else if (target.path == "/api/graph") {
        a = answer_of(json, now->graph());
    } else if (target.path == "/api/doctor") {
        a = answer_of(json, now->doctor());
    } else if (target.path == "/api/lock") {
        const std::string* path = target.find("path");
        if (path == nullptr) {
            return http_answer::error(400,
                                      "which lock? give its path: /api/lock?path=/jobs/nightly");
        }
        a = answer_of(json, now->lock(*path));
    } else {
        return http_answer::error(404, "there is no such page");
    }
    if (now->last() == nullptr) {
        return http_answer::error(503,
                                  now->progress().error.empty()
                                      ? "nothing has been read yet; try again in a moment"
                                      : now->progress().error);
    }
    if (!a.body) {
        return http_answer::error(404, "the last reading shows no lock there");
    }
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(
        now->age(std::chrono::steady_clock::now()));
    a.header_name = "Age";
    a.header_value = std::to_string(age.count());
    return a;
}

}  // namespace latchkey::cli
