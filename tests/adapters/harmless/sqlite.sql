SELECT Name, c.NAME FROM Customers c ORDER BY ID

SELECT id AS "the ""id""" FROM main.customers ORDER BY [id]

SELECT json_extract(tags, '$.color'), tags->>'$.sizes[0]', tags->'$.sizes' FROM customers ORDER BY id

SELECT value FROM customers, json_each(customers.tags, '$.sizes') ORDER BY 1

SELECT strftime('%Y-%m', joined), date(joined, '+1 month'), julianday('2024-01-01'), datetime(0, 'unixepoch'), time('12:30') FROM customers ORDER BY id

SELECT group_concat(name, '; '), total(balance) FROM customers

SELECT name || ' <' || email || '>', substr(name, 2, 2), instr(name, 'a'), hex(name), quote(name), typeof(balance) FROM customers ORDER BY id

SELECT iif(balance > 100, 'rich', 'poor'), ifnull(email, '-'), max(1, 2, 3), min(4, 3), printf('%05.1f', 3.14159) FROM customers ORDER BY id

SELECT name FROM customers WHERE name GLOB 'A*' OR name LIKE 'b%' ORDER BY name COLLATE NOCASE

SELECT email IS NULL, email IS NOT NULL, name IS 'Ada', name IS NOT 'Ada', 7 / 2, 7 % 4, 6 & 3, 6 | 1, 1 << 3, ~1 FROM customers ORDER BY id

SELECT CAST('12abc' AS INTEGER), CAST(1.9 AS TEXT), x'4142', 0x10, 'back\slash'

SELECT rowid, id FROM customers ORDER BY rowid DESC

SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name

SELECT name FROM sqlite_schema ORDER BY 1

SELECT count(*) FILTER (WHERE is_active = 1) FROM customers

SELECT id, ntile(2) OVER (ORDER BY id), first_value(name) OVER (ORDER BY id) FROM customers ORDER BY id

SELECT * FROM (VALUES (1, 'a'), (2, 'b'))

VALUES (1, 'a'), (2, 'b')

SELECT id FROM customers ORDER BY email NULLS LAST, id

SELECT json_group_array(name), json_object('a', 1) FROM customers

SELECT key, atom FROM json_tree('{"a": [1, 2]}')
