// SPDX-License-Identifier: MIT
// A loop of one thread in which many coroutines wait for regions at once (C++20). Meanwhile another
// process holds one of the names, and is killed. usage: coroutines SPACE
#include <afteryou.hpp>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <list>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

// A coroutine that begins at once, and that nobody waits for.
struct task {
    struct promise_type {
        task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::abort(); }
    };
};

struct tally {
    int served = 0, deaths = 0;
    std::vector<int> order;
};

static task serve(afteryou::asks &asks, afteryou::region &region, int number, tally &all)
{
    const bool after_death = co_await asks.enter(region); // the loop goes on meanwhile
    all.served++;
    all.deaths += after_death;
    all.order.push_back(number);
    region.unlock();
}

// A process that is inside until it is killed.
static pid_t start_holder(const std::string &name)
{
    int ends[2];
    if (pipe(ends) != 0)
        std::abort();
    const pid_t child = fork();
    if (child == 0) {
        afteryou::space own(name);
        auto region = own.open({"name"});
        region.lock();
        if (write(ends[1], ".", 1) == 1)
            pause();
        _exit(1);
    }
    char byte;
    if (child < 0 || read(ends[0], &byte, 1) != 1)
        std::abort();
    close(ends[0]);
    close(ends[1]);
    return child;
}

int main(int count, char **words)
{
    const std::string name = count > 1 ? words[1] : "coroutines";
    constexpr int many = 500;
    const pid_t holder = start_holder(name);
    tally all;
    {
        afteryou::space space(name);
        std::list<afteryou::region> regions;
        afteryou::asks asks(space);
        for (int number = 0; number < many; number++)
            serve(asks, regions.emplace_back(space.open({"name"})), number, all);
        std::cout << asks.waiting() << " coroutines wait for a process\n";
        kill(holder, SIGKILL);
        waitpid(holder, nullptr, 0);
        while (asks.waiting() > 0) { // the loop: other descriptors would stand beside this one
            pollfd readable = {asks.descriptor(), POLLIN, 0};
            poll(&readable, 1, -1);
            asks.go_on();
        }
    }
    bool ordered = true;
    for (int number = 0; number < many; number++)
        ordered = ordered && all.order[static_cast<std::size_t>(number)] == number;
    std::cout << all.served << " served, " << all.deaths
              << " told of the death, in order: " << ordered << "\n";
    afteryou::remove(name);
    return all.served == many && all.deaths == 1 && ordered ? 0 : 1;
}
