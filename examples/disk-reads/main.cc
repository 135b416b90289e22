// SPDX-License-Identifier: MIT
//
// Fewer disk reads: one LevelDB database three times, without a filter, with LevelDB's own, with
// ours, asked for keys it does not have. Blocks are counted where LevelDB asks its Env for them, so
// nothing is guessed. The block cache is off, so that every read reaches the disk layer.
//
//     disk-reads [--keys 100000] [--asks 100000] [--bits 10] [--rounds 9] [--numbered 0]
//                [--svg FILE]
//
// Keys look like random ids; with --numbered 1 they are counted through instead. With --svg the
// same is done for 4 … 16 bits a key, and drawn.
#include <bloomery_leveldb.hpp>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>
#include <memory>

#include "chart.h"
#include "common/job.h"

// ---- an Env that counts the reads from tables ----------------------------------------------

static std::atomic<uint64_t> reads{ 0 };

class CountedFile : public leveldb::RandomAccessFile
{
  public:
    explicit CountedFile(leveldb::RandomAccessFile *file) : file_(file) {}
    leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice *result,
                         char *room) const override
    {
        reads.fetch_add(1, std::memory_order_relaxed);
        return file_->Read(offset, n, result, room);
    }

  private:
    std::unique_ptr<leveldb::RandomAccessFile> file_;
};

class CountingEnv : public leveldb::EnvWrapper
{
  public:
    CountingEnv() : leveldb::EnvWrapper(leveldb::Env::Default()) {}
    leveldb::Status NewRandomAccessFile(const std::string          &name,
                                        leveldb::RandomAccessFile **file) override
    {
        leveldb::Status s = target()->NewRandomAccessFile(name, file);
        if (s.ok())
            *file = new CountedFile(*file);
        return s;
    }
};

// ---- our policy, or the impostor that the test puts in its place ---------------------------

class JobPolicy : public bloomery::LevelDBPolicy
{
  public:
    explicit JobPolicy(double bits) : bloomery::LevelDBPolicy(bits) {}
    bool KeyMayMatch(const leveldb::Slice &key, const leveldb::Slice &filter) const override
    {
        return job_answers(bloomery::LevelDBPolicy::KeyMayMatch(key, filter));
    }
};

static leveldb::FilterPolicy *our_policy(double bits)
{
    if (job_impostor() == JOB_REAL)
        return new bloomery::LevelDBPolicy(bits);
    return new JobPolicy(bits);
}

static const size_t STRETCH = 1000; // reads that are timed together

// ---- a database ----------------------------------------------------------------------------

static void need(const leveldb::Status &s)
{
    if (!s.ok())
        job_trouble("%s", s.ToString().c_str());
}

static bool numbered;

// Present keys are even numbers, absent ones odd, so that absent keys lie between present ones, in
// blocks that LevelDB would have to read.
static std::string key_of(uint64_t i)
{
    char text[32];
    snprintf(text, sizeof text, "user%016" PRIx64, numbered ? i : job_random(&i));
    return text;
}

struct Store {
    const char                                  *name;
    std::unique_ptr<const leveldb::FilterPolicy> policy;
    CountingEnv                                  env;
    std::unique_ptr<leveldb::Cache>              no_cache;
    std::unique_ptr<leveldb::DB>                 db;
    uint64_t                                     blocks = 0, bytes = 0;
    std::vector<double>                          best; // seconds, of each stretch of reads

    Store(const char *called, const leveldb::FilterPolicy *with, uint64_t keys);
    leveldb::Options options();
    void             open(const std::string &path);
    void             ask(uint64_t keys, uint64_t asks);
    uint64_t         lost(uint64_t keys);
    double           seconds() const;
};

leveldb::Options Store::options()
{
    leveldb::Options o;
    o.create_if_missing = true;
    o.env               = &env;
    o.block_cache       = no_cache.get();
    o.filter_policy     = policy.get();
    o.compression       = leveldb::kNoCompression;
    return o;
}

void Store::open(const std::string &path)
{
    leveldb::DB *opened;
    need(leveldb::DB::Open(options(), path, &opened));
    db.reset(opened);
}

// Filled, compacted to one level, closed, and opened again: its filters come from the disk.
Store::Store(const char *called, const leveldb::FilterPolicy *with, uint64_t keys)
    : name(called), policy(with), no_cache(leveldb::NewLRUCache(0))
{
    char path[512];
    job_path(path, sizeof path, called);
    need(leveldb::DestroyDB(path, leveldb::Options()));
    open(path);
    std::string value(100, 'v');
    for (uint64_t i = 0; i < keys; i++)
        need(db->Put(leveldb::WriteOptions(), key_of(2 * i), value));
    db->CompactRange(nullptr, nullptr);
    db.reset();
    open(path);
    std::vector<std::string> files;
    need(env.GetChildren(path, &files));
    for (const std::string &file : files) {
        uint64_t size = 0;
        if (file.size() > 4 && file.substr(file.size() - 4) == ".ldb")
            need(env.GetFileSize(std::string(path) + "/" + file, &size));
        bytes += size;
    }
    // Every table opened once: its index and its filter are in memory from here on.
    std::unique_ptr<leveldb::Iterator> all(db->NewIterator(leveldb::ReadOptions()));
    for (all->SeekToFirst(); all->Valid(); all->Next())
        ;
    need(all->status());
}

// One round of absent keys, counted and timed: the time is that of the quickest round of each
// stretch, so that a moment in which the machine was busy does not count.
void Store::ask(uint64_t keys, uint64_t asks)
{
    uint64_t                 chance = 2026, before = reads;
    std::string              value;
    std::vector<std::string> absent;
    for (uint64_t i = 0; i < asks; i++)
        absent.push_back(key_of(2 * job_below(&chance, keys) + 1));
    best.resize((size_t)asks / STRETCH + 1, 1e9);
    for (size_t part = 0; part * STRETCH < asks; part++) {
        size_t end   = std::min((size_t)asks, (part + 1) * STRETCH);
        double start = job_cpu_seconds();
        for (size_t i = part * STRETCH; i < end; i++)
            if (db->Get(leveldb::ReadOptions(), absent[i], &value).ok())
                job_trouble("%s: an absent key was found", name);
        best[part] = std::min(best[part], job_cpu_seconds() - start);
    }
    blocks = reads - before;
}

double Store::seconds() const
{
    double sum = 0;
    for (size_t part = 0; part + 1 < best.size(); part++)
        sum += best[part];
    return sum;
}

// Present keys, none of which may be missing.
uint64_t Store::lost(uint64_t keys)
{
    std::string value;
    uint64_t    missing = 0;
    for (uint64_t i = 0; i < keys; i += 5)
        missing += !db->Get(leveldb::ReadOptions(), key_of(2 * i), &value).ok();
    return missing;
}

// ---- the filters alone ------------------------------------------------------------------------

// Nanoseconds per answer to an absent key, of two policies asked in turn, each at its quickest.
static void time_answers(const leveldb::FilterPolicy *const policies[2], double ns[2])
{
    const size_t             FILTERS = 1000, KEYS = 30, ASKS = 20000;
    std::vector<std::string> filters[2], absent;
    uint64_t                 next   = 0;
    size_t                   passed = 0;
    for (size_t i = 0; i < FILTERS; i++) {
        std::vector<std::string>    keys;
        std::vector<leveldb::Slice> slices;
        for (size_t j = 0; j < KEYS; j++, next += 2)
            keys.push_back(key_of(next));
        slices.assign(keys.begin(), keys.end());
        for (size_t p = 0; p < 2; p++) {
            filters[p].emplace_back();
            policies[p]->CreateFilter(slices.data(), (int)KEYS, &filters[p].back());
        }
    }
    for (uint64_t i = 0; i < ASKS; i++)
        absent.push_back(key_of(2 * i + 1));
    ns[0] = ns[1] = 1e9;
    for (unsigned round = 0; round < 30; round++)
        for (size_t p = 0; p < 2; p++) {
            double start = job_cpu_seconds();
            for (size_t i = 0; i < ASKS; i++)
                passed += policies[p]->KeyMayMatch(absent[i], filters[p][i % FILTERS]);
            ns[p] = std::min(ns[p], 1e9 * (job_cpu_seconds() - start) / (double)ASKS);
        }
    if (passed > 30 * 2 * ASKS) // never: it keeps the answers from being optimised away
        job_trouble("more answers than questions");
}

// ---- the job -------------------------------------------------------------------------------

static void table(uint64_t keys, uint64_t asks, uint64_t bits, unsigned rounds)
{
    char        a[16];
    Store       none("no-filter", nullptr, keys);
    Store       own("leveldb", leveldb::NewBloomFilterPolicy((int)bits), keys);
    Store       ours("bloomery", our_policy((double)bits), keys);
    Store      *all[]   = { &none, &own, &ours };
    const char *names[] = { "no filter", "LevelDB's own", "bloomery" };
    for (unsigned r = 0; r < rounds; r++) // in turn, there and back, so that no place is better
        for (size_t i = 0; i < 3; i++)
            all[r % 2 ? 2 - i : i]->ask(keys, asks);
    printf("%" PRIu64 " keys, %" PRIu64 " reads of absent keys, %" PRIu64 " bits a key\n\n", keys,
           asks, bits);
    printf("%-14s %11s %16s %12s %13s\n", "filter", "blocks read", "per 1000 reads", "µs per read",
           "filter memory");
    for (size_t i = 0; i < 3; i++)
        printf("%-14s %11" PRIu64 " %16.2f %12.2f %13s\n", names[i], all[i]->blocks,
               1000.0 * (double)all[i]->blocks / (double)asks,
               1e6 * all[i]->seconds() / (double)asks,
               job_bytes((double)(all[i]->bytes - none.bytes), a, sizeof a));
    const leveldb::FilterPolicy *policies[] = { own.policy.get(), ours.policy.get() };
    double                       ns[2];
    time_answers(policies, ns);
    printf("\none answer of a filter alone: %.1f ns LevelDB's own, %.1f ns ours\n", ns[0], ns[1]);
    printf("ours over LevelDB's own: %.3f of the blocks, %.3f of a read's time\n",
           (double)ours.blocks / (double)own.blocks, ours.seconds() / own.seconds());
    uint64_t lost = ours.lost(keys);
    job_promise(lost == 0, "%" PRIu64 " present keys were not found", lost);
    job_promise((double)ours.blocks <= 1.02 * (double)own.blocks,
                "%" PRIu64 " blocks read where LevelDB's own filter reads %" PRIu64, ours.blocks,
                own.blocks);
    job_promise(ours.blocks * 50 < none.blocks, "fewer than one in fifty blocks is read");
}

static void draw(const char *file, uint64_t keys, uint64_t asks)
{
    struct point points[7];
    size_t       n = 0;
    for (uint64_t bits = 4; bits <= 16; bits += 2, n++) {
        Store own("leveldb", leveldb::NewBloomFilterPolicy((int)bits), keys);
        Store ours("bloomery", our_policy((double)bits), keys);
        own.ask(keys, asks);
        ours.ask(keys, asks);
        points[n] = { (double)bits, 1000.0 * (double)own.blocks / (double)asks,
                      1000.0 * (double)ours.blocks / (double)asks };
        printf("%2" PRIu64
               " bits a key: %8.2f blocks per 1000 reads with LevelDB's own, %8.2f with "
               "ours\n",
               bits, points[n].own, points[n].ours);
    }
    if (!chart_write(file, points, n))
        job_trouble("%s cannot be written", file);
}

int main(int argc, char **argv)
{
    uint64_t keys   = job_number(argc, argv, "--keys", 100000);
    uint64_t asks   = job_number(argc, argv, "--asks", 100000);
    numbered        = job_number(argc, argv, "--numbered", 0) != 0;
    const char *svg = job_text(argc, argv, "--svg", nullptr);
    if (svg)
        draw(svg, keys, asks);
    else
        table(keys, asks, job_number(argc, argv, "--bits", 10),
              (unsigned)job_number(argc, argv, "--rounds", 9));
    return job_end();
}
