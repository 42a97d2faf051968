"""The second look at a checked statement: its text alone, without the tree it came from."""

import pytest

from retinue.adapters.databases import QueryNotAllowed
from retinue.adapters.databases.sql.functions import ALLOWED_FUNCTIONS
from retinue.adapters.databases.sql.vocabulary import ALLOWED_WORDS, check_text

SURPRISES = [
    ("postgresql", "COPY \"t\" TO PROGRAM 'id'"),
    ("postgresql", 'SELECT "a" INTO "b" FROM "t"'),
    ("postgresql", 'SELECT "a" FROM "t" FOR UPDATE'),
    ("postgresql", "SELECT \"public\".lower('x')"),
    ("postgresql", "SELECT \"public\" . lower('x')"),
    ("postgresql", "SELECT pg_sleep(1)"),
    ("postgresql", "SELECT pg_sleep (1)"),
    ("postgresql", 'SELECT user FROM "t"'),
    ("postgresql", 'SELECT a FROM "t"'),
    ("postgresql", "SELECT 1; SELECT 2"),
    ("postgresql", "SELECT 1 -- x"),
    ("postgresql", "SELECT 1 - -1 --1"),
    ("postgresql", "SELECT 1 /* x */"),
    ("postgresql", "SELECT $$x$$"),
    ("postgresql", "SELECT E'\\''"),
    ("postgresql", "SELECT U&'x'"),
    ("postgresql", "SELECT 'unfinished"),
    ("postgresql", 'SELECT "unfinished'),
    ("postgresql", "SELECT ünïcode"),
    ("postgresql", "SELECT 1\u00a0+ 1"),
    ("postgresql", 'SET ROLE "boss"'),
    ("mysql", "SELECT 1 INTO OUTFILE 'x'"),
    ("mysql", "SELECT 'a\\' OR 1 = 1 '"),
    ("mysql", "SELECT 'a\\'"),
    ("mysql", "SELECT @@version"),
    ("mysql", "SELECT @a"),
    ("mysql", "SELECT 1 # x"),
    ("mysql", "SELECT /*!50000 1 */"),
    ("mysql", "SELECT SLEEP(1)"),
    ("mysql", 'SELECT "a"'),
    ("mysql", "SET GLOBAL `a` = 1"),
    ("mysql", "SELECT `mysql`.version()"),
    ("mysql", "LOAD DATA INFILE 'x'"),
    ("sqlite", "PRAGMA `a`"),
    ("sqlite", "ATTACH 'x' AS `y`"),
    ("sqlite", "SELECT load_extension('x')"),
    ("sqlite", "SELECT [a]"),
    ("sqlite", "SELECT ?"),
    ("sqlite", "VACUUM INTO 'x'"),
]


@pytest.mark.parametrize(("db_type", "text"), SURPRISES)
def test_a_text_the_tree_should_not_have_made_is_refused(db_type, text):
    with pytest.raises(QueryNotAllowed) as caught:
        check_text(text, db_type)
    assert len(caught.value.message) <= 160


@pytest.mark.parametrize(
    ("db_type", "text"),
    [
        (
            "postgresql",
            'SELECT "pg_sleep", \'COPY -- ; /*\', \0000\0 FROM "t" WHERE "a" = -1 AND "b" <> - -1',
        ),
        (
            "postgresql",
            'INSERT INTO "t" ("a") VALUES (1) ON CONFLICT("a") DO UPDATE SET "a" = "excluded"."a"',
        ),
        ("postgresql", 'SELECT "a" -> \'b\' ->> \'c\', "a" @> \'{}\', "a"[1:2], SUBSTRING("a" FROM 1 FOR 2)'),
        (
            "mysql",
            "SELECT `a``b`, 'it''s', 'a\\\\', `c` COLLATE utf8mb4_bin, CAST(`a` AS CHAR CHARACTER SET utf8)",
        ),
        ("mysql", "INSERT IGNORE INTO `t` (`a`) VALUES (1) ON DUPLICATE KEY UPDATE `a` = VALUES(`a`)"),
        ("sqlite", "SELECT 'a\\', `b` COLLATE NOCASE FROM `t` ORDER BY 1"),
    ],
)
def test_an_ordinary_text_passes(db_type, text):
    check_text(text, db_type)


DANGEROUS_WORDS = """
alter analyze analyse attach benchmark begin call commit copy create current_setting current_user
database_to_xml dblink declare detach drop dumpfile edit execute explain exec fts3_tokenizer get_lock
grant handler infile install kill lo_export lo_import load load_extension load_file local lock lo_create
merge nextval notify outfile pg_ls_dir pg_read_file pg_sleep pragma prepare procedure program
query_to_xml readfile reindex release rename reset revoke rollback savepoint set_config setval share
shutdown sleep start stdin stdout sys_exec temp temporary transaction ts_stat unlogged use vacuum
writefile xp_cmdshell
"""


def test_the_dangerous_words_are_in_no_vocabulary():
    for db_type, words in ALLOWED_WORDS.items():
        assert words.isdisjoint(DANGEROUS_WORDS.split()), db_type
        assert ALLOWED_FUNCTIONS[db_type] <= words
