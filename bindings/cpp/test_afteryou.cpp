// SPDX-License-Identifier: MIT
// Tests of the C++ header, between real processes.
#include "expect.hpp"

#include <csignal>
#include <mutex>
#include <shared_mutex>
#include <sys/wait.h>
#include <thread>

using namespace std::chrono_literals;

static void test_passages(afteryou::space &space)
{
    auto region = space.open({"x"}), other = space.open({"x"});
    std::uint64_t fence;
    {
        afteryou::passage inside(region);
        fence = inside.fence();
        EXPECT(!inside.after_death());
        EXPECT(!other.try_lock());
        EXPECT(!other.try_lock_for(5ms));
    }
    std::unique_lock<afteryou::region> lock(other, 1s);
    EXPECT(lock.owns_lock() && other.fence() > fence);
}

static void test_errors(afteryou::space &space)
{
    auto region = space.open({"slots", AY_EXCLUSIVE, 2});
    try {
        space.open({"slots", AY_EXCLUSIVE, 3});
        EXPECT(false);
    } catch (const std::system_error &error) {
        EXPECT(error.code() == std::errc::invalid_argument);
    }
}

static void test_units_and_conditions(afteryou::space &space)
{
    afteryou::spec spec{"units"};
    spec.take = 2;
    spec.of = 5;
    auto units = space.open(spec);
    {
        afteryou::passage inside(units);
        EXPECT((inside.units() == std::vector<unsigned>{0, 1}));
    }
    auto region = space.open({"when"});
    bool ready = false;
    EXPECT(!region.try_lock_when([&] { return ready; }, 5ms));
    ready = true;
    afteryou::passage inside(region, [&] { return ready; });
}

static void test_death(afteryou::space &space, const std::string &name)
{
    const pid_t child = fork();
    if (child == 0) {
        afteryou::space own(name);
        auto region = own.open({"x"});
        region.lock();
        raise(SIGKILL);
    }
    waitpid(child, nullptr, 0);
    auto region = space.open({"x"});
    EXPECT(region.try_lock_for(60s) && region.after_death());
    int inside = 0;
    afteryou::look(name, [&](const ay_place &place) { inside += place.state == AY_INSIDE; });
    EXPECT(inside == 1);
    region.unlock();
}

static void test_standard_locks(afteryou::space &space)
{
    afteryou::shared_mutex mutex(space, "standard"), other(space, "other");
    {
        std::unique_lock<afteryou::shared_mutex> lock(mutex);
        EXPECT(lock.owns_lock() && mutex.fence() > 0 && !mutex.after_death());
        std::thread([&] {
            std::unique_lock<afteryou::shared_mutex> second(mutex, std::try_to_lock);
            std::shared_lock<afteryou::shared_mutex> reader(mutex, 5ms);
            EXPECT(!second.owns_lock() && !reader.owns_lock());
        }).join();
    }
    {
        std::shared_lock<afteryou::shared_mutex> reader(mutex);
        std::thread([&] {
            std::shared_lock<afteryou::shared_mutex> second(mutex, std::try_to_lock);
            EXPECT(second.owns_lock());
            second.unlock();
            EXPECT(!mutex.try_lock());
            EXPECT(!mutex.try_lock_until(std::chrono::steady_clock::now() + 5ms));
        }).join();
    }
    std::scoped_lock both(mutex, other);
    std::thread([&] { EXPECT(!mutex.try_lock_shared() && !other.try_lock()); }).join();
}

static void test_threads_exclude_each_other(afteryou::space &space)
{
    afteryou::shared_mutex mutex(space, "threads");
    int total = 0;
    std::vector<std::thread> threads;
    for (int each = 0; each < 4; each++)
        threads.emplace_back([&] {
            for (int times = 0; times < 200; times++) {
                const std::lock_guard<afteryou::shared_mutex> guard(mutex);
                total++;
            }
        });
    for (auto &thread : threads)
        thread.join();
    EXPECT(total == 800);
}

static void test_misuse(afteryou::space &space)
{
    afteryou::shared_mutex mutex(space, "misuse");
    mutex.lock_shared();
    try {
        mutex.unlock();
        EXPECT(false);
    } catch (const std::system_error &error) {
        EXPECT(error.code() == std::errc::operation_not_permitted);
    }
    try {
        mutex.lock();
        EXPECT(false);
    } catch (const std::system_error &error) {
        EXPECT(error.code() == std::errc::resource_deadlock_would_occur);
    }
    mutex.unlock_shared();
    mutex.lock();
    mutex.unlock();
}

static void test_death_with_a_mutex(afteryou::space &space, const std::string &name)
{
    const pid_t child = fork();
    if (child == 0) {
        afteryou::space own(name);
        afteryou::shared_mutex mutex(own, "death");
        mutex.lock();
        raise(SIGKILL);
    }
    waitpid(child, nullptr, 0);
    afteryou::shared_mutex mutex(space, "death");
    const std::lock_guard<afteryou::shared_mutex> guard(mutex);
    EXPECT(mutex.after_death());
}

int main()
{
    in_a_space([](afteryou::space &space, const std::string &name) {
        test_passages(space);
        test_errors(space);
        test_units_and_conditions(space);
        test_death(space, name);
        test_standard_locks(space);
        test_threads_exclude_each_other(space);
        test_misuse(space);
        test_death_with_a_mutex(space, name);
    });
}
