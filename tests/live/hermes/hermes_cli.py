"""`hermes chat -q WORDS`: asks OpenRouter, and keeps what was said in its home."""
import json
import os
import pathlib
import sys
import urllib.request

import tinywheel   # what it needs of PyPI


def main():
    if sys.argv[1:3] != ["chat", "-q"]:
        sys.exit("usage: hermes chat -q WORDS")
    ask = urllib.request.Request(
        "https://openrouter.ai/api/v1/chat/completions",
        json.dumps({"model": tinywheel.NAME, "messages": [
            {"role": "user", "content": sys.argv[3]}]}).encode(),
        {"Content-Type": "application/json",
         "Authorization": "Bearer " + os.environ["OPENROUTER_API_KEY"]})
    with urllib.request.urlopen(ask, timeout=30) as answer:
        said = json.load(answer)["choices"][0]["message"]["content"]
    home = pathlib.Path.home() / ".hermes"
    home.mkdir(exist_ok=True)
    (home / "said").write_text(said)
    print(said)
