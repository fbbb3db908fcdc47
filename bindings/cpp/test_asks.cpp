// SPDX-License-Identifier: MIT
// Tests of co_await, in one process.
#include "expect.hpp"

#include <poll.h>
#include <utility>

// A coroutine that begins at once, and is destroyed with its object.
struct task {
    struct promise_type {
        task get_return_object()
        {
            return task(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::abort(); }
    };
    explicit task(std::coroutine_handle<promise_type> made) : coroutine(made) {}
    task(task &&other) noexcept : coroutine(std::exchange(other.coroutine, nullptr)) {}
    task &operator=(task &&) = delete;
    ~task()
    {
        if (coroutine)
            coroutine.destroy();
    }
    bool done() const { return coroutine.done(); }
    std::coroutine_handle<promise_type> coroutine;
};

static task enter(afteryou::asks &asks, afteryou::region &region)
{
    const bool after_death = co_await asks.enter(region);
    EXPECT(!after_death && !region.after_death() && region.fence() > 0);
}

static task enter_twice(afteryou::asks &asks, afteryou::region &region, bool &thrown)
{
    co_await asks.enter(region);
    try {
        co_await asks.enter(region);
    } catch (const std::system_error &error) {
        thrown = error.code() == std::errc::resource_deadlock_would_occur;
    }
}

static void run(afteryou::asks &asks, const task &until)
{
    while (!until.done()) {
        pollfd readable = {asks.descriptor(), POLLIN, 0};
        EXPECT(poll(&readable, 1, 60000) == 1);
        asks.go_on();
    }
}

static void test_inside_at_once(afteryou::space &space)
{
    afteryou::asks asks(space);
    auto region = space.open({"x"});
    const task one = enter(asks, region);
    EXPECT(one.done() && asks.waiting() == 0);
    region.unlock();
}

static void test_waits_without_a_thread(afteryou::space &space)
{
    afteryou::asks asks(space);
    auto holder = space.open({"x"}), first = space.open({"x"}), second = space.open({"x"});
    holder.lock();
    const task one = enter(asks, first), two = enter(asks, second);
    EXPECT(!one.done() && !two.done() && asks.waiting() == 2);
    holder.unlock();
    run(asks, one);
    EXPECT(!two.done());
    first.unlock();
    run(asks, two);
    second.unlock();
}

static void test_destroyed_while_it_waits(afteryou::space &space)
{
    afteryou::asks asks(space);
    auto holder = space.open({"x"}), first = space.open({"x"}), second = space.open({"x"});
    holder.lock();
    {
        const task one = enter(asks, first);
        EXPECT(asks.waiting() == 1);
    }
    EXPECT(asks.waiting() == 0);
    const task two = enter(asks, second);
    holder.unlock();
    run(asks, two);
    EXPECT(!first.try_lock());
    second.unlock();
    {
        holder.lock();
        const task decided = enter(asks, first);
        holder.unlock(); // it may be decided now, and nobody has resumed it
    }
    EXPECT(second.try_lock_for(std::chrono::seconds(60)));
    second.unlock();
}

static void test_errors_are_thrown(afteryou::space &space)
{
    afteryou::asks asks(space);
    auto region = space.open({"x"});
    bool thrown = false;
    const task one = enter_twice(asks, region, thrown);
    EXPECT(one.done() && thrown);
    region.unlock();
}

int main()
{
    in_a_space([](afteryou::space &space, const std::string &) {
        test_inside_at_once(space);
        test_waits_without_a_thread(space);
        test_destroyed_while_it_waits(space);
        test_errors_are_thrown(space);
    });
}
