// SPDX-License-Identifier: MIT
// bloomery as a LevelDB filter policy, for C++:
//
//     leveldb::Options options;
//     options.filter_policy = new bloomery::LevelDBPolicy(10);  // bits per key; yours to delete
//
// Databases made here and through the C policy of bloomery_leveldb.h read each other's filters.
#ifndef BLOOMERY_LEVELDB_HPP
#define BLOOMERY_LEVELDB_HPP

#include <bloomery_leveldb.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <string>
#include <vector>

namespace bloomery {

class LevelDBPolicy : public leveldb::FilterPolicy {
public:
    explicit LevelDBPolicy(double bits_per_key, const std::string &name = BLM_LEVELDB_NAME)
        : bits_per_key_(bits_per_key), name_(name), seed_(blm_leveldb_seed(name.c_str()))
    {
    }
    const char *Name() const override { return name_.c_str(); }

    void CreateFilter(const leveldb::Slice *keys, int n, std::string *dst) const override
    {
        std::vector<const char *> data;
        std::vector<size_t>       lens;
        for (int i = 0; i < n; i++) {
            data.push_back(keys[i].data());
            lens.push_back(keys[i].size());
        }
        const size_t at = dst->size();
        dst->resize(at + blm_leveldb_filter_size(bits_per_key_, data.size()));
        blm_leveldb_filter_make(seed_, bits_per_key_, data.data(), lens.data(), data.size(),
                                &(*dst)[at]);
    }
    bool KeyMayMatch(const leveldb::Slice &key, const leveldb::Slice &filter) const override
    {
        return blm_leveldb_filter_check(seed_, filter.data(), filter.size(), key.data(),
                                        key.size());
    }

private:
    double      bits_per_key_;
    std::string name_;
    uint64_t    seed_;
};

} // namespace bloomery

#endif
