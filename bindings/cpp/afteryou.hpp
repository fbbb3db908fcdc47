// SPDX-License-Identifier: MIT
// libafteryou for C++17 and later: objects that close and leave by themselves, and errors as
// std::system_error.
//
//     afteryou::space space;
//     auto region = space.open({"deploy"});
//     {
//         afteryou::passage inside(region);          // waits for its turn
//         if (inside.after_death()) repair();
//         work(inside.fence());
//     }                                              // leaves
//
// afteryou::region is a TimedLockable of one thread at a time, so std::unique_lock and
// std::scoped_lock work with it too (they cannot tell of a death inside; region.after_death() can).
// afteryou::shared_mutex is what std::shared_timed_mutex is, for the threads of many processes:
// std::unique_lock, std::shared_lock and std::scoped_lock. From C++20 on, a coroutine may co_await
// a region: afteryou::asks.
#ifndef AFTERYOU_HPP
#define AFTERYOU_HPP

#if __cplusplus < 201703L
#error "afteryou.hpp needs C++17 or later: compile with -std=c++17"
#endif

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if __cplusplus >= 202002L && defined(__cpp_impl_coroutine)
#include <coroutine>
#include <unordered_map>
#endif

#include <afteryou.h>

namespace afteryou
{

// Throws the library's message; e.g. code() == std::errc::device_or_resource_busy.
inline int check(int result)
{
    if (result < 0)
        throw std::system_error(-result, std::generic_category(), ay_message());
    return result;
}

// Whole milliseconds, rounded up, as far as an int goes; not negative, which would be for ever.
template <class Rep, class Period> int milliseconds(std::chrono::duration<Rep, Period> duration)
{
    if (duration <= duration.zero())
        return 0;
    if (duration >= std::chrono::milliseconds(INT_MAX))
        return INT_MAX;
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

struct spec {
    std::string name;
    ay_mode mode = AY_EXCLUSIVE;
    unsigned slots = 0, take = 0, of = 0;
    int priority = 0;
    std::vector<std::string> also = {};
};

// A named resource in a mode. One thread at a time. Outlived by its space.
class region
{
  public:
    region(region &&other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), of_(other.of_),
          after_death_(other.after_death_)
    {
    }
    region &operator=(region &&other) noexcept
    {
        std::swap(handle_, other.handle_);
        std::swap(of_, other.of_);
        std::swap(after_death_, other.after_death_);
        return *this;
    }
    region(const region &) = delete;
    region &operator=(const region &) = delete;
    ~region() { ay_region_close(handle_); }

    void lock() { after_death_ = check(ay_enter(handle_)) == AY_AFTER_DEATH; }
    bool try_lock() { return entered(ay_try(handle_)); }
    template <class Rep, class Period>
    bool try_lock_for(std::chrono::duration<Rep, Period> duration)
    {
        return entered(ay_enter_for(handle_, milliseconds(duration)));
    }
    template <class Clock, class Duration>
    bool try_lock_until(std::chrono::time_point<Clock, Duration> moment)
    {
        return try_lock_for(moment - Clock::now());
    }
    // Until when() is true, for ever or so long. when() must not throw, wait, or change anything.
    void lock_when(const std::function<bool()> &when)
    {
        after_death_ = check(ay_enter_when(handle_, ask, argument(when), -1)) == AY_AFTER_DEATH;
    }
    template <class Rep, class Period>
    bool try_lock_when(const std::function<bool()> &when,
                       std::chrono::duration<Rep, Period> duration)
    {
        return entered(ay_enter_when(handle_, ask, argument(when), milliseconds(duration)));
    }
    void unlock() { check(ay_leave(handle_)); }
    // Outside: the same place for another resource.
    void rename(const std::string &name) { check(ay_region_rename(handle_, name.c_str())); }

    bool after_death() const
    {
        return after_death_;
    } // somebody died inside before the present passage
    std::uint64_t fence() const { return ay_fence(handle_); }
    bool valid() const { return ay_valid(handle_); } // a cluster's passage can be lost
    int lost() const
    {
        return check(ay_lost(handle_));
    } // a descriptor, readable once it is; the region's own
    std::vector<unsigned> units() const
    {
        std::vector<unsigned> units(of_);
        units.resize(ay_units(handle_, units.data(), units.size()));
        return units;
    }
    ay_region *handle() const { return handle_; }

  private:
    friend class asks;
    friend class space;
    region(ay_region *handle, unsigned of) : handle_(handle), of_(of) {}

    bool entered(int result)
    {
        if (result == -EBUSY || result == -ETIMEDOUT)
            return false;
        after_death_ = check(result) == AY_AFTER_DEATH;
        return true;
    }
    static bool ask(void *when) { return (*static_cast<const std::function<bool()> *>(when))(); }
    static void *argument(const std::function<bool()> &when)
    {
        return const_cast<std::function<bool()> *>(&when);
    }

    ay_region *handle_;
    unsigned of_;
    bool after_death_ = false;
};

// One journey through a region, as long as the object lives.
class passage
{
  public:
    explicit passage(region &through) : region_(through) { region_.lock(); }
    passage(region &through, const std::function<bool()> &when) : region_(through)
    {
        region_.lock_when(when);
    }
    passage(const passage &) = delete;
    passage &operator=(const passage &) = delete;
    ~passage() { ay_leave(region_.handle()); }

    bool after_death() const { return region_.after_death(); }
    std::uint64_t fence() const { return region_.fence(); }
    std::vector<unsigned> units() const { return region_.units(); }

  private:
    region &region_;
};

// Where processes meet. Made if there is none.
class space
{
  public:
    explicit space(const std::string &name = "", const ay_options &options = {})
    {
        check(ay_open(name.c_str(), &options, &handle_));
    }
    space(space &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    space &operator=(space &&other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    space(const space &) = delete;
    space &operator=(const space &) = delete;
    ~space() { ay_close(handle_); }

    region open(const spec &wanted)
    {
        std::vector<const char *> also;
        for (const auto &name : wanted.also)
            also.push_back(name.c_str());
        also.push_back(nullptr);
        ay_spec plain = {};
        plain.name = wanted.name.c_str();
        plain.also = also.data();
        plain.mode = wanted.mode;
        plain.slots = wanted.slots;
        plain.take = wanted.take;
        plain.of = wanted.of;
        plain.priority = wanted.priority;
        ay_region *handle;
        check(ay_region_open(handle_, &plain, &handle));
        return region(handle, wanted.of);
    }
    int repair() { return check(ay_repair(handle_)); }
    ay_space *handle() const { return handle_; }

  private:
    ay_space *handle_ = nullptr;
};

// A lock that threads share, too, as they share a std::shared_timed_mutex: BasicLockable, Lockable,
// TimedLockable, and the same shared. Each passage has a region of its own, so threads stand in the
// queue beside processes. lock() throws std::system_error with
// std::errc::resource_deadlock_would_occur if it would wait for ever. Outlived by its space.
class shared_mutex
{
  public:
    shared_mutex(space &within, std::string name) : space_(within), name_(std::move(name)) {}
    shared_mutex(const shared_mutex &) = delete;
    shared_mutex &operator=(const shared_mutex &) = delete;

    void lock() { enter(AY_EXCLUSIVE, locked_for_ever); }
    bool try_lock()
    {
        return enter(AY_EXCLUSIVE, [](region &one) { return one.try_lock(); });
    }
    template <class Rep, class Period>
    bool try_lock_for(std::chrono::duration<Rep, Period> duration)
    {
        return enter(AY_EXCLUSIVE, [&](region &one) { return one.try_lock_for(duration); });
    }
    template <class Clock, class Duration>
    bool try_lock_until(std::chrono::time_point<Clock, Duration> moment)
    {
        return try_lock_for(moment - Clock::now());
    }
    void unlock() { leave(AY_EXCLUSIVE); }

    void lock_shared() { enter(AY_SHARED, locked_for_ever); }
    bool try_lock_shared()
    {
        return enter(AY_SHARED, [](region &one) { return one.try_lock(); });
    }
    template <class Rep, class Period>
    bool try_lock_shared_for(std::chrono::duration<Rep, Period> duration)
    {
        return enter(AY_SHARED, [&](region &one) { return one.try_lock_for(duration); });
    }
    template <class Clock, class Duration>
    bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> moment)
    {
        return try_lock_shared_for(moment - Clock::now());
    }
    void unlock_shared() { leave(AY_SHARED); }

    // Of this thread's passage: somebody died inside before it. Its fence; 0 outside.
    bool after_death() const
    {
        const std::lock_guard<std::mutex> guard(guard_);
        const std::size_t at = mine();
        return at < inside_.size() && inside_[at].through.after_death();
    }
    std::uint64_t fence() const
    {
        const std::lock_guard<std::mutex> guard(guard_);
        const std::size_t at = mine();
        return at < inside_.size() ? inside_[at].through.fence() : 0;
    }

  private:
    struct held {
        region through;
        ay_mode mode;
        std::thread::id by;
    };

    static bool locked_for_ever(region &one)
    {
        one.lock();
        return true;
    }
    // Which of those inside is this thread's; as many as there are, if none is.
    std::size_t mine() const
    {
        std::size_t at = 0;
        while (at < inside_.size() && inside_[at].by != std::this_thread::get_id())
            at++;
        return at;
    }
    held take(ay_mode mode)
    {
        {
            const std::lock_guard<std::mutex> guard(guard_);
            for (auto one = idle_.begin(); one != idle_.end(); ++one)
                if (one->mode == mode) {
                    held found = std::move(*one);
                    idle_.erase(one);
                    return found;
                }
        }
        return held{space_.open({name_, mode}), mode, {}};
    }
    // Whatever is thrown: the region closes, and so leaves.
    template <class Enter> bool enter(ay_mode mode, Enter how)
    {
        held one = take(mode);
        const bool entered = how(one.through);
        one.by = entered ? std::this_thread::get_id() : std::thread::id();
        const std::lock_guard<std::mutex> guard(guard_);
        (entered ? inside_ : idle_).push_back(std::move(one));
        return entered;
    }
    void leave(ay_mode mode)
    {
        const std::lock_guard<std::mutex> guard(guard_);
        const std::size_t at = mine();
        if (at == inside_.size() || inside_[at].mode != mode)
            throw std::system_error(EPERM, std::generic_category(),
                                    "this thread has not locked it so");
        inside_[at].through.unlock();
        inside_[at].by = {};
        idle_.push_back(std::move(inside_[at]));
        std::swap(inside_[at], inside_.back());
        inside_.pop_back();
    }

    space &space_;
    const std::string name_;
    mutable std::mutex guard_; // of what follows
    std::vector<held> inside_, idle_;
};

#if __cplusplus >= 202002L && defined(__cpp_impl_coroutine)

// Asking without waiting, for a loop of one thread: `co_await asks.enter(region)` in a coroutine.
// The loop polls descriptor(), and calls go_on() when it is readable, which resumes the coroutines
// that are inside now. No thread waits.
//
//     const bool after_death = co_await asks.enter(region);  // throws what lock() would
//     …
//     region.unlock();
//
// A coroutine that is destroyed while it waits gives its ask up. Outlived by its space, and
// outlives what waits.
class asks
{
  public:
    explicit asks(space &within) : space_(within), descriptor_(check(ay_fd(within.handle()))) {}
    asks(const asks &) = delete;
    asks &operator=(const asks &) = delete;

    // For poll(2), and not for reading; the space's own.
    int descriptor() const { return descriptor_; }

    // Resumes every coroutine whose ask is decided. Returns how many.
    std::size_t go_on()
    {
        std::size_t resumed = 0;
        int result;
        while (ay_region *const decided = ay_decided(space_.handle(), &result)) {
            const auto found = waiting_.find(decided);
            if (found == waiting_.end())
                continue; // somebody else has asked in this space, by ay_ask()
            waiter *const one = found->second;
            waiting_.erase(found);
            one->result_ = result;
            resumed++;
            one->coroutine_.resume();
        }
        return resumed;
    }

    // What waits, and is not decided yet.
    std::size_t waiting() const { return waiting_.size(); }

    class waiter
    {
      public:
        waiter(asks &whose, region &wanted) : asks_(whose), region_(wanted) {}
        waiter(const waiter &) = delete;
        waiter &operator=(const waiter &) = delete;
        ~waiter()
        {
            if (result_ != -EINPROGRESS)
                return;
            asks_.waiting_.erase(region_.handle());
            if (ay_withdraw(region_.handle()) == -EALREADY)
                ay_leave(region_.handle());
        }
        bool await_ready()
        {
            result_ = ay_ask(region_.handle());
            return result_ != -EINPROGRESS;
        }
        void await_suspend(std::coroutine_handle<> coroutine)
        {
            coroutine_ = coroutine;
            asks_.waiting_.emplace(region_.handle(), this);
        }
        bool await_resume()
        {
            region_.after_death_ = check(result_) == AY_AFTER_DEATH;
            return region_.after_death_;
        }

      private:
        friend class asks;
        asks &asks_;
        region &region_;
        std::coroutine_handle<> coroutine_;
        int result_ = 0; // -EINPROGRESS while it waits
    };

    // Inside once it is resumed; whether somebody died inside before.
    waiter enter(region &wanted) { return waiter(*this, wanted); }

  private:
    space &space_;
    const int descriptor_;
    std::unordered_map<ay_region *, waiter *> waiting_;
};

#endif

// Calls each(const ay_place &) for every place ever used. each must not throw.
template <class Each> ay_view look(const std::string &name, Each each)
{
    ay_view view = {};
    check(ay_look(
        name.c_str(), &view,
        [](const ay_place *place, void *argument) {
            (*static_cast<Each *>(argument))(*place);
            return 0;
        },
        &each));
    return view;
}

inline void remove(const std::string &name)
{
    check(ay_remove(name.c_str()));
}

} // namespace afteryou
#endif
