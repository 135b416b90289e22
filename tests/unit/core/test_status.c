/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/error.h"
#include "unit/support.h"

/* Every row of the public map, and nothing but: names and texts are non-empty and distinct. */
static void every_status_has_its_own_name_and_text(void **state)
{
    (void)state;
    static const blm_status all[] = {
#define ROW(name, value, text) BLM_##name,
        BLM_STATUS_MAP(ROW)
#undef ROW
    };
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        assert_true(strlen(blm_status_text(all[i])) > 0);
        assert_true(strncmp(blm_status_name(all[i]), "BLM_", 4) == 0);
        for (size_t j = 0; j < i; j++) {
            assert_true(all[i] != all[j]);
            assert_string_not_equal(blm_status_name(all[i]), blm_status_name(all[j]));
            assert_string_not_equal(blm_status_text(all[i]), blm_status_text(all[j]));
        }
    }
    assert_string_equal(blm_status_name(BLM_E_FORMAT), "BLM_E_FORMAT");
    assert_string_equal(blm_status_text(BLM_OK), "ok");
}

/* Programs branch on these numbers. */
static void statuses_keep_their_numbers(void **state)
{
    (void)state;
    assert_int_equal(BLM_OK, 0);
    assert_int_equal(BLM_PRESENT, 1);
    assert_int_equal(BLM_E_MEMORY, -1);
    assert_int_equal(BLM_E_ABSENT, -6);
    assert_int_equal(BLM_E_HASH, -20);
}

static void unknown_statuses_say_so(void **state)
{
    (void)state;
    assert_string_equal(blm_status_text((blm_status)12345), "unknown status");
    assert_string_equal(blm_status_name((blm_status)-999), "BLM_UNKNOWN");
}

static void version_is_the_header_s(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", BLM_VERSION_MAJOR, BLM_VERSION_MINOR,
             BLM_VERSION_PATCH);
    assert_string_equal(text, BLM_VERSION);
    assert_string_equal(blm_version(), BLM_VERSION);
}

static void failing_fills_the_error_and_returns_its_status(void **state)
{
    (void)state;
    blm_error e = { .status = BLM_OK, .system = 99, .offset = 7 };
    assert_status(blm__fail(&e, BLM_E_LIMIT, "%d of %s", 3, "them"), BLM_E_LIMIT);
    assert_int_equal(e.status, BLM_E_LIMIT);
    assert_int_equal(e.system, 0);
    assert_true(e.offset == BLM_NO_OFFSET);
    assert_string_equal(e.text, "3 of them");
    assert_true(e.wrong == 9 && e.named == 0);
    assert_status(blm__fail_with(&e, BLM_E_MISMATCH, "mend it", "%d apart", 2), BLM_E_MISMATCH);
    assert_string_equal(e.text, "2 apart; mend it");
    assert_int_equal(e.wrong, 7);
    assert_status(blm__fail_with(NULL, BLM_E_MISMATCH, "x", "y"), BLM_E_MISMATCH);
    assert_status(blm__fail_at(&e, BLM_E_FORMAT, 41, "here"), BLM_E_FORMAT);
    assert_true(e.offset == 41);
    assert_status(blm__fail(NULL, BLM_E_LIMIT, "nobody asks"), BLM_E_LIMIT);
    assert_status(blm__fail_at(NULL, BLM_E_FORMAT, 1, "nobody"), BLM_E_FORMAT);
}

static void system_errors_get_the_nearest_status(void **state)
{
    (void)state;
    blm_error e;
    assert_status(blm__fail_system(&e, ENOSPC, "x"), BLM_E_SPACE);
    assert_int_equal(e.system, ENOSPC);
    assert_status(blm__fail_system(&e, EDQUOT, "x"), BLM_E_SPACE);
    assert_status(blm__fail_system(&e, ENOMEM, "x"), BLM_E_MEMORY);
    assert_status(blm__fail_system(&e, EIO, "x"), BLM_E_IO);
    assert_int_equal(e.system, EIO);
    assert_status(blm__fail_system(NULL, EIO, "x"), BLM_E_IO);
}

static void long_texts_are_cut_not_overrun(void **state)
{
    (void)state;
    struct {
        blm_error e;
        char      fence[8];
    } s;
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[999] = 0;
    memcpy(s.fence, "fence!!", 8);
    blm__fail(&s.e, BLM_E_IO, "%s", text);
    assert_int_equal(strlen(s.e.text), sizeof s.e.text - 1);
    assert_memory_equal(s.fence, "fence!!", 8);
    blm__fail_with(&s.e, BLM_E_IO, "mend it", "%s", text);
    assert_int_equal(s.e.wrong, sizeof s.e.text - 1);
    blm__fail_with(&s.e, BLM_E_IO, text, "x");
    assert_int_equal(strlen(s.e.text), sizeof s.e.text - 1);
    assert_memory_equal(s.fence, "fence!!", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_name_and_text),
        cmocka_unit_test(statuses_keep_their_numbers),
        cmocka_unit_test(unknown_statuses_say_so),
        cmocka_unit_test(version_is_the_header_s),
        cmocka_unit_test(failing_fills_the_error_and_returns_its_status),
        cmocka_unit_test(system_errors_get_the_nearest_status),
        cmocka_unit_test(long_texts_are_cut_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
