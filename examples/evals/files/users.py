def find_user(connection, name, only_active=False):
    where = "name = ? AND active = 1" if only_active else "name = ?"
    cursor = connection.execute(f"SELECT id FROM users WHERE {where}", (name,))
    return cursor.fetchone()
