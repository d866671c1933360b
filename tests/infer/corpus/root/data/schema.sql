CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL);
INSERT INTO product VALUES (1,'Desk lamp',29.9),(2,'Office chair',189.0),(3,'Whiteboard',75.5);
