"""The functions that a statement may call; they only compute. All others are rejected.

Left out deliberately: functions that read files or settings, sleep, lock, advance sequences, or run SQL text.
"""

from retinue.adapters.databases.connection import DbType

_COMMON = """
abs acos ascii asin atan atan2 avg ceil ceiling coalesce concat concat_ws cos cot count cume_dist degrees
dense_rank exp first_value floor greatest lag last_value lead least length ln log log10 log2 lower lpad
ltrim max min mod nth_value ntile nullif octet_length percent_rank pi pow power radians rank replace round
row_number rtrim sign sin sqrt substr sum tan trim upper
"""

_POSTGRESQL = """
acosd acosh age any_value array array_agg array_append array_cat array_dims array_length array_lower
array_ndims array_position array_positions array_prepend array_remove array_replace array_to_json
array_to_string array_upper asind asinh atand atanh bit_and bit_count bit_length bit_or bool_and bool_or
btrim cardinality cbrt char_length character_length chr clock_timestamp corr cosd cosh cosine_distance
covar_pop covar_samp date date_bin date_part date_trunc daterange decode div encode erf every extract
factorial format gcd gen_random_uuid generate_series generate_subscripts grouping host initcap inner_product
int4range int8range isempty isfinite json_agg json_array_elements json_array_elements_text json_array_length
json_build_array json_build_object json_each json_each_text json_extract_path json_extract_path_text
json_object json_object_agg json_object_keys json_strip_nulls json_typeof jsonb_agg jsonb_array_elements
jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text
jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_agg jsonb_object_keys
jsonb_path_exists jsonb_path_match jsonb_path_query jsonb_path_query_array jsonb_path_query_first
jsonb_pretty jsonb_set jsonb_strip_nulls jsonb_typeof justify_days justify_hours justify_interval
l1_distance l2_distance lcm left localtime localtimestamp lower_inc make_date make_interval make_time
make_timestamp make_timestamptz masklen md5 min_scale mode network normalize now num_nonnulls num_nulls
numrange overlay percentile_cont percentile_disc phraseto_tsquery plainto_tsquery position quote_ident
quote_literal quote_nullable random regexp_count regexp_instr regexp_like regexp_match regexp_matches
regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr regr_avgx regr_avgy regr_count
regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat reverse right row row_to_json scale
sha224 sha256 sha384 sha512 similarity sind sinh split_part st_area st_asgeojson st_astext st_contains
st_distance st_dwithin st_geomfromtext st_intersects st_length st_makepoint st_point st_setsrid st_transform
st_within st_x st_y starts_with statement_timestamp stddev stddev_pop stddev_samp string_agg string_to_array
string_to_table strpos substring tand tanh timeofday to_ascii to_char to_date to_hex to_json to_jsonb
to_number to_timestamp to_tsquery to_tsvector transaction_timestamp translate trim_array trim_scale trunc
ts_headline ts_rank ts_rank_cd tsrange tstzrange unistr unnest upper_inc uuid_generate_v4 var_pop var_samp
variance vector_dims vector_norm version websearch_to_tsquery width_bucket word_similarity
"""

_MYSQL = """
adddate addtime any_value approx_count_distinct bin bit_and bit_count bit_length bit_or bit_xor char
char_length character_length coercibility collation conv convert_tz crc32 curdate current_date current_time
current_timestamp curtime database date date_add date_format date_sub datediff day dayname dayofmonth
dayofweek dayofyear elt export_set field find_in_set format from_base64 from_days from_unixtime get_format
group_concat grouping hex hour if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr isnull
json_array json_array_append json_array_insert json_arrayagg json_contains json_contains_path json_depth
json_exists json_extract json_insert json_keys json_length json_merge_patch json_merge_preserve json_object
json_objectagg json_overlaps json_pretty json_quote json_remove json_replace json_search json_set json_type
json_unquote json_valid json_value last_day last_insert_id lcase left localtime localtimestamp locate
make_set makedate maketime md5 median microsecond mid minute month monthname now oct ord percentile_cont
percentile_disc period_add period_diff point position quarter quote rand regexp_instr regexp_like
regexp_replace regexp_substr repeat reverse right row schema sec_to_time second sha sha1 sha2 soundex space
st_area st_asgeojson st_astext st_contains st_distance st_distance_sphere st_geomfromtext st_intersects
st_length st_within st_x st_y std stddev stddev_pop stddev_samp str_to_date strcmp subdate substring
substring_index subtime sysdate time time_format time_to_sec timediff timestamp timestampadd timestampdiff
to_base64 to_char to_days to_seconds truncate ucase unhex unix_timestamp utc_date utc_time utc_timestamp
uuid values var_pop var_samp variance version week weekday weekofyear weight_string year yearweek
"""

_SQLITE = """
acosh asinh atanh bm25 changes char cosh date datetime format glob group_concat hex highlight ifnull iif
instr json json_array json_array_length json_each json_error_position json_extract json_group_array
json_group_object json_insert json_object json_patch json_quote json_remove json_replace json_set json_tree
json_type json_valid julianday last_insert_rowid like likelihood likely nullif printf quote random
randomblob sinh snippet sqlite_version strftime string_agg substring tanh time timediff total trunc typeof
unhex unicode unixepoch unlikely zeroblob
"""

ALLOWED_FUNCTIONS: dict[DbType, frozenset[str]] = {
    "postgresql": frozenset(f"{_COMMON} {_POSTGRESQL}".split()),
    "mysql": frozenset(f"{_COMMON} {_MYSQL}".split()),
    "sqlite": frozenset(f"{_COMMON} {_SQLITE}".split()),
}
