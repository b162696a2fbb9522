"""Headers that the gate adds: who gets them, and who never sees them."""
import json
import subprocess

import live
import l7
from l7 import API, header, request, web
from live import Place, check, test

VALUE = "s3cret-value-of-the-test"
POLICY = """allow: [api.test, site.test, api2.test]
credentials:
  - {host: api.test, header: Authorization, from_env: LIVE_TOKEN, format: 'Bearer {}'}
"""
ENV = {"LIVE_TOKEN": VALUE}


@test
def added_over_whatever_the_agent_sent():
    s = web(POLICY, [
        ["get", "https://api.test/a"],
        ["get", "https://api.test/b",
         {"headers": {"Authorization": "Bearer mine"}}],
        ["resolve", "api.test"],
        ["http", API, 443, request(
            "/c", more="authorization: x\r\nAuthorization: y\r\n"),
         "api.test"],
        ["http", API, 443, request("/d", close=False) + request("/e"),
         "api.test"]], env=ENV)
    for result in s.tried:
        check(result["ok"], "permitted", result)
    for event in s.arrived("http"):
        check(header(event, "authorization") == ["Bearer " + VALUE],
              "the gate's, and only that: " + event["path"], event)
    check(len(s.arrived("http")) == 5, "all arrived", s.arrived("http"))
    check(VALUE not in json.dumps(s.tried), "the agent does not see it")


@test
def nobody_else_gets_it():
    s = web(POLICY, [
        ["get", "https://site.test/a"], ["get", "https://api2.test/b"],
        ["resolve", "api.test"], ["resolve", "api2.test"],
        ["http", API, 443, request("/c", "api2.test"), "api.test"],
        ["http", API, 443, request("/d", "api.test"), "api2.test"],
        ["http", API, 80, request("/e", "api2.test")],
        ["http", API, 80, request("/f", "api.test")]], env=ENV)
    for event in s.arrived("http"):
        if event["host"] != "api.test" or not event["tls"]:
            check(VALUE not in json.dumps(event), "not to %s %s" % (
                event["host"], event["path"]), event)
    for event in s.arrived("raw") + s.arrived("tcp"):
        check(VALUE not in json.dumps(event), "nor raw", event)
    hosts = {e["host"] for e in s.arrived("http")}
    check({"site.test", "api2.test"} <= hosts, "the others are served",
          hosts)


@test
def a_server_that_cannot_be_verified_does_not_get_it():
    s = web("allow: [selfsigned.test]\ncredentials:\n"
            "  - {host: selfsigned.test, header: X-Key, from_env: "
            "LIVE_TOKEN}\n", [["get", "https://selfsigned.test/"]], env=ENV)
    check(s.tried[0].get("code") in (502, 503), "refused", s.tried[0])
    check(VALUE not in json.dumps(s.out), "nothing was sent")


@live.launcher_only("it reads files of its machine")
def over_http2_and_from_a_file():
    with Place("allow: ['*.h2.test']\ncredentials:\n"
               "  - {host: a.h2.test, header: x-api-key, from_file: %s}\n",
               files=l7.TOOLS) as where:
        secret = where.root / "token"
        secret.write_text(VALUE + "\n")
        config = where.state / "config.yaml"
        config.write_text(config.read_text() % secret)
        where.own()
        s = where.membrane("run", "--", "node", "h2.js", json.dumps(
            {"origin": "https://a.h2.test", "requests": [
                {":path": "/x", "x-api-key": "mine"}, {":path": "/y"}]}))
        s.parse(2)
    check([r.get("status") for r in s.tried] == [200, 200], "served",
          s.tried)
    for event in s.arrived("http"):
        check(header(event, "x-api-key") == [VALUE], "added", event)


def dockers_words(ids):
    """What Docker says to whoever asks it."""
    if live.ENGINE != "docker":
        return []
    return [("docker inspect", live.the.docker("inspect", *ids).stdout),
            ("docker logs", "".join(
                x.stdout + x.stderr for x in (
                    live.the.docker("logs", i, check_it=False)
                    for i in ids)))]


@live.launcher_only("it looks through what a session leaves")
def stands_nowhere():
    with Place(POLICY, files=l7.TOOLS, env=ENV) as where:
        p = where.popen("run", "--", "sh", "-c", "env; cat /proc/1/environ; "
                        "cat /etc/membrane/*; echo; curl -sS https://api.test/x "
                        "-o /dev/null -w 'code %{http_code}\\n'; "
                        "grep -rs LIVE_TOKEN /proc/*/environ; echo up; "
                        "sleep 6")
        lines = []
        for line in p.stdout:
            lines.append(line)
            if line == b"up\n":
                break
        check(b"code 200\n" in lines, "a request went through", lines[-5:])
        seen = b"".join(lines)
        ids = live.running("membrane.session", 2)
        for what, text in (
                *dockers_words(ids),
                ("argument vectors", subprocess.run(
                    ["ps", "-eo", "args"], check=True, text=True,
                    capture_output=True).stdout)):
            check(VALUE not in text, "not in " + what)
        out, err = p.communicate(timeout=30)
        check(VALUE.encode() not in seen + out + err, "nor in the agent",
              seen)
        found = subprocess.run(["grep", "-rl", VALUE, where.root],
                               check=False, text=True,
                               capture_output=True).stdout
        check(not found, "nor in any file", found)


@live.launcher_only("it says which, by its own name")
def missing_or_broken_values_refuse_to_start():
    for env, what in (({}, "missing"), ({"LIVE_TOKEN": ""}, "empty"),
                      ({"LIVE_TOKEN": "a\nX-Other: b"}, "a line end")):
        with Place(POLICY, env=env) as where:
            s = where.membrane("run", "--", "echo", "ran")
            check(s.status == 125 and "ran" not in s.stdout,
                  "%s: 125" % what, (s.status, s.stdout, s.stderr))
            check("LIVE_TOKEN" in s.stderr, "and says which", s.stderr)


@test
def values_with_odd_characters():
    odd = 'a"b\'c\\d %[env(PATH)] ${HOME} #e;f{}'
    s = web(POLICY, [["get", "https://api.test/a"]],
            env={"LIVE_TOKEN": odd})
    check(s.tried[0]["ok"], "permitted", s.tried[0])
    got = [header(e, "authorization") for e in s.arrived("http")]
    check(got == [["Bearer " + odd]], "byte by byte", got)


@test
def models_on_their_real_names():
    s = web("""allow:
  - dest: api.anthropic.com
    http: [{methods: [POST], paths: [/v1/messages]}]
  - {dest: api.openai.com, http: [{methods: [POST], paths: [/v1/]}]}
credentials:
  - {host: api.anthropic.com, header: x-api-key, from_env: LIVE_TOKEN}
""", [["get", "https://api.anthropic.com/v1/messages", "POST",
       '{"model":"m","messages":[]}', {"headers": {"x-api-key": "none"}}],
          ["get", "https://api.anthropic.com/v1/files", "POST", "{}"],
          ["get", "https://api.openai.com/v1/chat/completions", "POST",
           "{}"]], env=ENV)
    check("hello from the model" in s.tried[0].get("data", ""), "an answer",
          s.tried[0])
    check(s.tried[1].get("code") == 403, "no other path", s.tried[1])
    check(s.tried[2]["ok"], "the other one", s.tried[2])
    check([header(e, "x-api-key") for e in s.arrived("http")] ==
          [[VALUE], []], "the key is the gate's", s.arrived("http"))
