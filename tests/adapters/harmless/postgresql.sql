SELECT Name, C.NAME AS Other FROM Customers C ORDER BY ID

SELECT id AS "the ""id""" FROM public.customers ORDER BY "the ""id"""

SELECT tags->>'color', tags->'sizes'->0, tags#>>'{sizes,1}', tags @> '{"color": "red"}' FROM customers ORDER BY id

SELECT id FROM customers WHERE tags ? 'color' AND tags ?| array['color', 'x'] ORDER BY id

SELECT jsonb_array_elements_text(tags->'sizes') FROM customers ORDER BY 1

SELECT jsonb_build_object('id', id, 'name', name), row_to_json(c) FROM customers c ORDER BY id

SELECT balance::int, '2024-01-31'::date + 1, id::text || '!', born::timestamp FROM customers ORDER BY id

SELECT date_trunc('month', joined), EXTRACT(YEAR FROM joined), to_char(joined, 'YYYY-MM-DD HH24:MI') FROM customers ORDER BY id

SELECT joined + INTERVAL '1 day 2 hours', joined - interval '3 months', age(joined, born::timestamp) FROM customers ORDER BY id

SELECT joined AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Berlin' FROM customers ORDER BY id

SELECT count(*) FILTER (WHERE is_active), bool_or(is_active) FROM customers

SELECT string_agg(name, ', ' ORDER BY name), array_agg(DISTINCT is_active) FROM customers

SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total), mode() WITHIN GROUP (ORDER BY status) FROM orders

SELECT DISTINCT ON (customer_id) customer_id, total FROM orders ORDER BY customer_id, total DESC

SELECT g, g * g FROM generate_series(1, 5) AS g

SELECT day::date FROM generate_series(date '2024-02-27', date '2024-03-02', interval '1 day') AS day

SELECT u.v, u.n FROM unnest(ARRAY['a', 'b']) WITH ORDINALITY AS u(v, n)

SELECT c.id, l.total FROM customers c CROSS JOIN LATERAL (SELECT total FROM orders o WHERE o.customer_id = c.id ORDER BY total DESC LIMIT 1) l ORDER BY c.id

SELECT ARRAY[1, 2, 3], (ARRAY[10, 20, 30])[2], (ARRAY[1, 2, 3])[1:2], 2 = ANY(ARRAY[1, 2]), ARRAY(SELECT id FROM customers ORDER BY id)

SELECT name FROM customers WHERE name ILIKE 'a%' OR name ~ '^B' OR name !~* 'x' ORDER BY id

SELECT name SIMILAR TO '(A|B)%', substring(name from 1 for 2), position('a' in name), overlay(name placing 'Z' from 1 for 1) FROM customers ORDER BY id

SELECT $$it's$$, $x$a $$ b$x$, 2 ^ 3, 7 / 2, 5 # 3, ~1, 1 << 3, 6 & 3, 6 | 1, 10 % 4

SELECT (1, 'a') = (1, 'a'), 1 IS DISTINCT FROM NULL, true IS NOT FALSE, NULL IS NULL

SELECT status, count(*) FROM orders GROUP BY GROUPING SETS ((status), ()) ORDER BY 2, 1

SELECT customer_id, status, sum(total) FROM orders GROUP BY ROLLUP (customer_id, status) ORDER BY 1, 2, 3

SELECT to_tsvector('english', name) @@ to_tsquery('english', 'ada') FROM customers ORDER BY id

SELECT md5(name), left(name, 2), right(name, 1), lpad(name, 6, '*'), split_part(email, '@', 2), initcap('ab cd') FROM customers ORDER BY id

SELECT make_interval(days => 3), make_date(2024, 2, 29), regexp_replace('a1b2', '[0-9]', '', 'g'), format('%s-%s', 1, 'a')

SELECT id FROM customers FETCH FIRST 2 ROWS ONLY

SELECT id FROM customers ORDER BY email NULLS FIRST, id DESC

SELECT name COLLATE "C" FROM customers ORDER BY name COLLATE "C"

SELECT x.a, x.b FROM (VALUES (1, 'one'), (2, 'two')) AS x(a, b)

VALUES (1, 'a'), (2, 'b')

TABLE notes

SELECT 1 /* a /* nested; DROP TABLE notes */ comment */

SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2

SELECT current_date = now()::date, greatest(1, 2, 3), least(3, 2), cardinality(ARRAY[1, 2])

SELECT 'a\b', '\'' ; --'

(SELECT id FROM customers WHERE id = 1)

WITH q AS (SELECT id, name FROM customers) SELECT q.name, q.id FROM q ORDER BY q.id

SELECT s.name FROM (SELECT * FROM customers) AS s ORDER BY s.id

SELECT c.name, public.orders.status FROM customers AS c JOIN public.orders ON public.orders.customer_id = c.id ORDER BY 1, 2

SELECT s.rank FROM (SELECT id AS rank FROM customers) AS s ORDER BY s.rank
