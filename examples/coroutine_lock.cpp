// Two coroutines take turns under one lock. A coroutine that waits blocks no thread.
//
//     coroutine_lock [SERVERS]
#include <latchkey/client.hpp>
#include <latchkey/mutex.hpp>

#include <coroutine>
#include <exception>
#include <future>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

using latchkey::operation;

/// A small coroutine type. Latchkey's awaitables work in any other one.
struct task {
    struct promise_type {
        std::promise<void> end;

        task get_return_object() { return {end.get_future()}; }

        std::suspend_never initial_suspend() noexcept { return {}; }

        std::suspend_never final_suspend() noexcept { return {}; }

        void return_void() { end.set_value(); }

        void unhandled_exception() { end.set_exception(std::current_exception()); }
    };

    std::future<void> end;
};

// [turn]
task take_a_turn(latchkey::mutex& m, std::string name) {
    latchkey::hold h = co_await m.acquire_async();
    std::cout << name << " has the lock, token " << h.token() << std::endl;
    co_await h.transact_async({operation::set("/guide", name)});
}

// [/turn]

int main(int argc, char** argv) {
    try {
        auto zk = latchkey::client::connect(argc > 1 ? argv[1] : "127.0.0.1:2181");
        latchkey::mutex m(zk, "/guide/coroutines");
        task first = take_a_turn(m, "first");
        task second = take_a_turn(m, "second");
        first.end.get();  // throws what the coroutine threw
        second.end.get();
    } catch (const std::exception& e) {
        std::cerr << "coroutine_lock: " << e.what() << '\n';
        return 1;
    }
}
