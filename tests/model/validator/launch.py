"""docker.json and native.json: which ports the machine publishes (O-1, O-2)."""
import json

from .compare import Difference


def differences(policy, artefacts):
    """artefacts: {file: text}, of those that there are."""
    want = sorted(set(policy.published))
    for file, text in artefacts.items():
        told = json.loads(text)
        got = sorted((p["addr"], p["port"], p["to"])
                     for p in told.get("published", []))
        if got != want:
            yield Difference("published ports, " + file, (want, None), got, [])
