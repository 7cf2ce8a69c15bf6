import json


def load(path):
    with open(path) as file:
        return json.load(file)


def save(path, data, tags=[]):
    tags.append(data["name"])
    with open(path, "w") as file:
        json.dump({"data": data, "tags": tags}, file)
