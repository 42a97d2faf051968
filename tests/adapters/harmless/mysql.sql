SELECT `id` AS `the ``id``` FROM shop.customers ORDER BY `the ``id```

SELECT JSON_EXTRACT(tags, '$.color'), JSON_UNQUOTE(JSON_EXTRACT(tags, '$.sizes[0]')) FROM customers ORDER BY id

SELECT JSON_OBJECT('id', id, 'name', name), JSON_CONTAINS(tags, '"red"', '$.color') FROM customers ORDER BY id

SELECT DATE_FORMAT(joined, '%Y-%m-%d %H:%i'), YEAR(joined), MONTH(joined), DATE(joined), DAYNAME(joined) FROM customers ORDER BY id

SELECT DATE_ADD(joined, INTERVAL 1 DAY), joined - INTERVAL 2 HOUR, DATEDIFF('2024-03-01', '2024-02-01'), TIMESTAMPDIFF(MONTH, born, joined) FROM customers ORDER BY id

SELECT EXTRACT(YEAR FROM joined), UNIX_TIMESTAMP('2024-01-01'), LAST_DAY('2024-02-01'), STR_TO_DATE('31.01.2024', '%d.%m.%Y') FROM customers ORDER BY id

SELECT GROUP_CONCAT(name ORDER BY name SEPARATOR '; '), GROUP_CONCAT(DISTINCT is_active ORDER BY 1) FROM customers

SELECT IF(balance > 100, 'rich', 'poor'), IFNULL(email, '-'), ISNULL(email) FROM customers ORDER BY id

SELECT CONCAT(name, ' <', email, '>'), CONCAT_WS('-', 1, 2), LEFT(name, 2), SUBSTRING(name, 2, 2), SUBSTRING_INDEX(email, '@', -1) FROM customers ORDER BY id

SELECT 7 DIV 2, 7 / 2, 7 MOD 4, 5 XOR 1, 6 & 3, 6 | 1, 1 << 3, 5 ^ 1, ~0 & 255, !0, NULL <=> NULL

SELECT "double quoted", 'it\'s', 'tab\tnew\nline', 'per\%cent', 'a\\b', 0x41, x'41', b'101' + 0

SELECT name FROM customers WHERE name REGEXP '^A' OR name RLIKE 'b$' OR name NOT REGEXP '.' ORDER BY id

SELECT name FROM customers ORDER BY id LIMIT 1, 2

SELECT CAST(balance AS SIGNED), CAST('2024-01-31' AS DATE), CONVERT(id, CHAR), BINARY name FROM customers ORDER BY id

SELECT status, SUM(total) FROM orders GROUP BY status WITH ROLLUP

SELECT table_name FROM information_schema.tables WHERE table_schema = 'shop' ORDER BY table_name

SELECT 1 FROM DUAL

SELECT FIELD(name, 'Bob', 'Ada'), ELT(1, 'a', 'b'), FIND_IN_SET('b', 'a,b'), MOD(7, 3), TRUNCATE(1.999, 1), FORMAT(1234.5, 2) FROM customers ORDER BY id

SELECT MD5('a'), SHA2('a', 256), HEX('a'), TO_BASE64('a'), CRC32('a'), LPAD('a', 3, '*'), REVERSE('abc'), REPEAT('ab', 2)

SELECT ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY total DESC) AS n FROM orders ORDER BY id

SELECT 1 AND 0 OR 1, 1 && 0, 0 || 1, NOT 1, TRUE, FALSE

SELECT name FROM customers WHERE MATCH(name) AGAINST ('Ada' IN BOOLEAN MODE)

SELECT note FROM other.things

(SELECT id FROM customers WHERE id = 1)
