"""Agents themselves, as npm installs them, and the interface that they talk to
under its real name: a small fake of it, out there (sites.py)."""
import json

import accounts
from l7 import TRUSTING, header, reached, reasons
import live
from live import ROOT, Place, Skip, check, shell, test

KEY = "sk-ant-of-the-gate"
# One destination, decrypted, one method, one path; the key is the gate's.
POLICY = """allow:
  - {dest: api.anthropic.com:443, http: [{methods: [%s], paths: [/v1/messages]}]}
credentials:
  - {host: api.anthropic.com, header: x-api-key, from_env: LIVE_KEY}
"""
CLAUDE = "claude -p 'say hello'"
PI = "pi --provider anthropic -p 'say hello'"
OPENCODE = "opencode run -m anthropic/claude-sonnet-4-5 --title t 'say hello'"
CODEX_POLICY = """allow:
  - {dest: api.openai.com:443, http: [{methods: [POST], paths: [/v1/responses]}]}
credentials:
  - {host: api.openai.com, header: authorization, from_env: LIVE_KEY, format: 'Bearer {}'}
"""
# A model whose tools the fake one knows how to ask for.
CODEX = "env CODEX_API_KEY=none codex exec -m gpt-5-codex --skip-git-repo-check"
# The calls that are answered as the filter does, each on a line behind "refused".
TRACED = r"""strace -f -qq -Z -o /tmp/trace %s
status=$?
sed -nE -e 's/^[0-9]+ +(<\.\.\. )?([a-z0-9_]+).* = -1 (EPERM|ENOSYS|EPROTONOSUPPORT) .*/refused \2 \3/p' \
    -e 's/.*(SIGSYS).*/refused \1/p' /tmp/trace | sort -u >&2
exit $status"""


def needs(*folders):
    for name in folders:
        if not (ROOT / ("build/clients/%s.stamp" % name)).exists():
            raise Skip("not fetched: tests/live/clients.sh")


def agent(policy, command, usr=False):
    """A session with npm's programs in front of the path; usr: one that has
    strace, too."""
    folders = ["npm", "usr"] if usr else ["npm"]
    needs(*folders)
    mounts = ", ".join("--mount, 'type=bind,source=%s/build/clients/%s,"
                       "target=/%s,readonly'" % (ROOT, name, name)
                       for name in folders)
    return shell(policy + "args: [%s, -e, ANTHROPIC_API_KEY=none]\n" % mounts,
                 "PATH=/npm/node_modules/.bin:$PATH; timeout %d %s"
                 % (85 * live.SLOW, command),
                 env={"LIVE_KEY": KEY})


def prints_the_answer(command, user_agent):
    s = agent(POLICY % "POST", command)
    check(s.status == 0 and s.stdout.strip() == "hello from the model",
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


class Account:
    """What somebody has who logged in on the host, and what comes of it."""

    def __init__(self, file, fields, used_at, login):
        self.file, self.fields, self.used_at = file, fields, used_at
        self.login = login

    def held(self, path):
        found = json.loads(path.read_text())
        for name in self.fields[0]:
            found = found[name]
        return [found[name] for name in self.fields[1:]]


CLAUDE_SECRET = "sk-ant-ort01-" + "k2Lm" * 20
CLAUDE_OLD = "sk-ant-oat01-" + "x7Yz" * 20
PLAN_SECRET = "rt_" + "k2Lm" * 20
PLAN_OLD = accounts.jwt("old", 1700000000)


def with_a_login(preset, command, account, secret, new):
    """Its access token has ended: it renews, and asks with the new one."""
    needs("npm")
    mount = "type=bind,source=%s/build/clients/npm,target=/npm,readonly" % ROOT
    with Place("extends: [%s]\nimage: membrane-agent\nargs: [--mount, '%s']\n"
               % (preset, mount)) as where:
        login = where.root / account.file
        login.parent.mkdir(parents=True)
        login.write_text(json.dumps(account.login))
        where.own()
        s = where.membrane("run", "--", "sh", "-c", "PATH=/npm/node_modules/"
                           ".bin:$PATH; timeout %d %s; cat ~/%s" % (
                               85 * live.SLOW, command, account.file),
                           timeout=100)
        check("hello from the model" in s.stdout,
              "the client prints the answer",
              (s.status, s.stdout[-300:], s.stderr[-300:]))
        check([e["asked"]["refresh_token"] for e in s.arrived("renewal")] ==
              [secret], "it renewed, once", s.arrived("renewal"))
        asked = [header(e, "authorization") for e in s.arrived("http")
                 if e["path"].split("?")[0] == account.used_at]
        check(asked and all(a == ["Bearer " + new[0]] for a in asked),
              "and asked with the new token", asked)
        for one in (secret, *new):
            check(one not in s.stdout + s.stderr, "which it does not have",
                  s.stdout)
        check(account.held(login) == list(new), "the host has it",
              login.read_text())


@test
def claude_with_a_login_of_the_host():
    with_a_login("claude-login", CLAUDE, Account(
        ".claude/.credentials.json",
        [["claudeAiOauth"], "accessToken", "refreshToken"], "/v1/messages",
        {"claudeAiOauth": {
            "accessToken": CLAUDE_OLD, "refreshToken": CLAUDE_SECRET,
            "expiresAt": 1700000000000,
            "scopes": ["user:inference", "user:profile"],
            "subscriptionType": "max"}}),
        CLAUDE_SECRET, accounts.renewed(CLAUDE_SECRET))


@test
def codex_with_a_login_of_the_host():
    """As a provider with a name of its own: before it asks the one that is built
    in, it wants to hear which back end the account is at."""
    provider = '{name="plan",base_url="https://chatgpt.com/backend-api/codex",' \
        'wire_api="responses",requires_openai_auth=true}'
    with_a_login("codex-login", "codex exec -m gpt-5-codex "
                 "-c model_provider=plan -c model_providers.plan='%s' "
                 "--skip-git-repo-check 'say hello'" % provider, Account(
                     ".codex/auth.json",
                     [["tokens"], "access_token", "refresh_token",
                      "id_token"], "/backend-api/codex/responses",
                     {"auth_mode": "chatgpt", "OPENAI_API_KEY": None,
                      "tokens": {"id_token": accounts.jwt("id", 1700000000),
                                 "access_token": PLAN_OLD,
                                 "refresh_token": PLAN_SECRET,
                                 "account_id": "acct-1"},
                      "last_refresh": "2023-11-14T00:00:00Z"}),
                 PLAN_SECRET, accounts.chatgpt(PLAN_SECRET))


@test
def opencode_with_a_login_of_the_host():
    with_a_login("opencode-login", "opencode run -m openai/gpt-5.4 "
                 "--title t 'say hello'", Account(
                     ".local/share/opencode/auth.json",
                     [["openai"], "access", "refresh"],
                     "/backend-api/codex/responses",
                     {"openai": {"type": "oauth", "refresh": PLAN_SECRET,
                                 "access": PLAN_OLD, "expires": 1700000000000,
                                 "accountId": "acct-1"}}),
                 PLAN_SECRET, accounts.chatgpt(PLAN_SECRET)[:2])


@test
def pi_with_a_login_of_the_host():
    with_a_login("pi-login", PI, Account(
        ".pi/agent/auth.json", [["anthropic"], "access", "refresh"],
        "/v1/messages",
        {"anthropic": {"type": "oauth", "refresh": CLAUDE_SECRET,
                       "access": CLAUDE_OLD, "expires": 1700000000000}}),
        CLAUDE_SECRET, accounts.renewed(CLAUDE_SECRET))


@test
def pi():
    prints_the_answer(PI, "Anthropic/JS")


@test
def opencode():
    prints_the_answer(OPENCODE, "opencode/")


@test
def codex():
    s = agent(CODEX_POLICY, CODEX + " 'say hello'")
    check(s.status == 0 and s.stdout.strip() == "hello from the model",
          "the client prints the answer", (s.status, s.stdout, s.stderr))
    check({path for _, path in reached(s)} == {"/v1/responses"},
          "nothing else arrived", reached(s))
    for event in s.arrived("http"):
        check(header(event, "authorization") == ["Bearer " + KEY],
              "with the gate's key", event["headers"])
    check(KEY not in s.stdout + s.stderr + json.dumps(s.decided),
          "the key stands in no record", s.decided)


@live.user_only("nobody maps root without a right")
def codex_has_a_sandbox_of_its_own():
    """bubblewrap, which takes a user namespace: a word of the policy."""
    ran = CODEX + " 'run id -u; touch /workspace/made || echo held'"
    own = "hardening: {user_namespaces: true}\n"
    s = agent(CODEX_POLICY, ran)
    check("No permissions to create" in s.stdout and "held" not in s.stdout,
          "without, it says what it lacks, and runs nothing",
          (s.status, s.stdout, s.stderr))
    s = agent(own + CODEX_POLICY, ran)
    check(s.status == 0 and "61000" in s.stdout and "held" in s.stdout,
          "with, its sandbox stands and holds",
          (s.status, s.stdout, s.stderr))


@test
def agents_need_nothing_that_the_filter_refuses():
    """By strace: what is answered like that has another way, which they take.
    What codex's clone() asks for is a user namespace."""
    usual = {"clone3 ENOSYS", "io_uring_setup ENOSYS"}
    for policy, command, more in (
            (POLICY % "POST", OPENCODE, set()),
            (CODEX_POLICY, CODEX + " 'say hello'", {"clone EPERM"})):
        s = agent(policy, TRACED % command, usr=True)
        said = {line[8:] for line in s.stderr.splitlines()
                if line.startswith("refused ")}
        check(s.status == 0 and "hello from the model" in s.stdout,
              "it works under strace", (s.status, s.stdout, s.stderr))
        check("clone3 ENOSYS" in said and said <= usual | more,
              "refused: " + command, said)


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
        # an image of Docker's; natively the machine's node is to be told
        image = "image: membrane-agent\n" if live.ENGINE == "docker" else ""
        s = agent("extends: [%s]\n%s" % (preset, image),
                  "env " + TRUSTING + command)
        check(s.status == 0 and s.stdout == "hello from the model\n",
              "%s: the client prints the answer" % preset,
              (s.status, s.stdout, s.stderr))
        check({e["sni"] for e in s.arrived("http")} == {"api.anthropic.com"},
              "asked there", s.arrived("http"))
