"""Agents themselves, as npm installs them, and the interface that they talk to
under its real name: a small fake of it, out there (sites.py)."""
import json

from l7 import header, reached, reasons
from live import ROOT, Skip, check, shell, test

KEY = "sk-ant-of-the-gate"
# One destination, decrypted, one method, one path; the key is the gate's.
POLICY = """allow:
  - {dest: api.anthropic.com:443, http: [{methods: [%s], paths: [/v1/messages]}]}
credentials:
  - {host: api.anthropic.com, header: x-api-key, from_env: LIVE_KEY}
"""
CLAUDE = "claude -p 'say hello'"
PI = "pi --provider anthropic -p 'say hello'"


def agent(policy, command):
    """A session with npm's programs in front of the path."""
    if not (ROOT / "build/clients/npm.stamp").exists():
        raise Skip("not fetched from npm: tests/live/clients.sh")
    return shell(policy + "args: [--mount, 'type=bind,source=%s/build/clients/"
                 "npm,target=/npm,readonly', -e, ANTHROPIC_API_KEY=none]\n" %
                 ROOT, "PATH=/npm/node_modules/.bin:$PATH; timeout 60 " +
                 command, env={"LIVE_KEY": KEY})


def prints_the_answer(command, user_agent):
    s = agent(POLICY % "POST", command)
    check(s.status == 0 and s.stdout == "hello from the model\n",
          "the client prints the answer", (s.status, s.stdout, s.stderr))
    asked = s.arrived("model")
    check([m["streamed"] for m in asked] == [True], "one, as a stream", asked)
    for event in s.arrived("http"):
        check(header(event, "x-api-key") == [KEY], "with the gate's key",
              event["headers"])
        check(user_agent in header(event, "user-agent")[0], "by that client",
              event["headers"])
    check({path.split("?")[0] for _, path in reached(s)} == {"/v1/messages"},
          "nothing else arrived", reached(s))
    elsewhere = {e["addr"] for e in s.arrived("packet")} - {
        "8.8.8.8", "11.0.20.8", "198.18.0.2"}
    check(not elsewhere, "nor anywhere else", elsewhere)
    check(KEY not in s.stdout + s.stderr + json.dumps(s.decided),
          "the key stands in no record", s.decided)
    return s


@test
def claude():
    s = prints_the_answer(CLAUDE, "claude-cli/")
    check(set(reasons(s, "http")) <= {"method", "path"}, "what it reports "
          "about itself is refused by method and path", reasons(s))


@test
def pi():
    prints_the_answer(PI, "Anthropic/JS")


@test
def an_agent_whose_requests_are_refused_is_told():
    for command in (CLAUDE, PI):
        s = agent(POLICY % "GET", command)
        check(s.status != 0 and "403" in s.stdout + s.stderr,
              "it fails: " + command, (s.status, s.stdout, s.stderr))
        check("/v1/messages" in s.stderr and "methods: [POST]" in s.stderr,
              "the summary has the line that would allow it", s.stderr)
        check(not s.arrived("http"), "nothing arrived", s.arrived("http"))


@test
def presets_without_decryption():
    for preset, command in (("claude", CLAUDE), ("pi", PI)):
        s = agent("extends: [%s]\n" % preset, command)
        check(s.status == 0 and s.stdout == "hello from the model\n",
              "%s: the client prints the answer" % preset,
              (s.status, s.stdout, s.stderr))
        check({e["sni"] for e in s.arrived("http")} == {"api.anthropic.com"},
              "asked there", s.arrived("http"))
