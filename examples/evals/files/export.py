import json


def to_line(user):
    """One line of the export: {"id", "name"}. Other programs read it."""
    return json.dumps({"user_id": user.id, "name": user.name})
