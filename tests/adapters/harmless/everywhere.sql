SELECT * FROM customers

select id, name from customers where balance > 100 order by balance desc, id

SELECT c.name, o.total FROM customers c JOIN orders o ON o.customer_id = c.id ORDER BY o.id

SELECT c.name, o.id FROM customers AS c LEFT JOIN orders AS o ON c.id = o.customer_id ORDER BY c.id, o.id

SELECT c.name FROM customers c, orders o WHERE c.id = o.customer_id AND o.total > 20 ORDER BY o.id

SELECT status, COUNT(*), SUM(total), AVG(total), MIN(total), MAX(total) FROM orders GROUP BY status ORDER BY 1

SELECT customer_id FROM orders GROUP BY customer_id HAVING COUNT(*) > 1 ORDER BY customer_id

SELECT DISTINCT status FROM orders ORDER BY status

SELECT COUNT(DISTINCT customer_id) FROM orders

SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE total > 20) ORDER BY id

SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id) ORDER BY id

SELECT name FROM customers WHERE NOT EXISTS (SELECT 1 FROM orders WHERE customer_id = customers.id)

SELECT name FROM customers WHERE email LIKE '%@example.org' ORDER BY id

SELECT name FROM customers WHERE name LIKE '100!%%' ESCAPE '!'

SELECT name FROM customers WHERE email IS NULL

SELECT name FROM customers WHERE email IS NOT NULL AND NOT balance < 0 ORDER BY id

SELECT id FROM customers WHERE id BETWEEN 2 AND 3 OR id = 1 ORDER BY id LIMIT 2 OFFSET 1

SELECT id, CASE WHEN balance > 100 THEN 'rich' WHEN balance IS NULL THEN '?' ELSE 'poor' END FROM customers ORDER BY id

SELECT CASE status WHEN 'paid' THEN 1 ELSE 0 END AS is_paid FROM orders ORDER BY id

SELECT COALESCE(email, 'nobody'), NULLIF(name, 'Ada') FROM customers ORDER BY id

SELECT UPPER(name), LOWER(name), LENGTH(name), TRIM('  a '), REPLACE(name, 'a', 'e') FROM customers ORDER BY id

SELECT id * 2 + 1, -id, id % 2, (id + 1) * 3 - 4, 7 - (3 - 2), ROUND(balance, 1), ABS(balance) FROM customers ORDER BY id

SELECT name FROM customers UNION SELECT status FROM orders ORDER BY 1

SELECT id FROM customers UNION ALL SELECT id FROM orders ORDER BY id

SELECT id FROM customers EXCEPT SELECT customer_id FROM orders

WITH totals AS (SELECT customer_id, SUM(total) AS total FROM orders GROUP BY customer_id) SELECT c.name, t.total FROM totals t JOIN customers c ON c.id = t.customer_id ORDER BY c.id

WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT x FROM n

SELECT name, RANK() OVER (ORDER BY balance DESC) FROM customers WHERE balance IS NOT NULL ORDER BY id

SELECT id, SUM(total) OVER (PARTITION BY customer_id ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM orders ORDER BY id

SELECT id, LAG(total, 1) OVER w FROM orders WINDOW w AS (ORDER BY id) ORDER BY id

SELECT (SELECT COUNT(*) FROM orders WHERE customer_id = c.id) AS orders FROM customers c ORDER BY c.id

SELECT 'it''s', 'back\\slash', 'semi; colon', '-- no comment', '/* neither */', 'ünïcödé ✓'

SELECT 1 -- a comment
, 2 /* another */

SELECT CAST('12' AS DECIMAL(10, 2)), CAST(id AS CHAR(10)) FROM customers ORDER BY id

SELECT id FROM customers WHERE (id, name) IN ((1, 'Ada'), (2, 'nobody'))

SELECT 1.5e3, .5, 10.25, 1 = 1, NULL

SELECT id FROM customers;
