"""Pods of somebody who may create Pods, and wants an agent without its gate;
and what of a Pod may change without harm.

ALL: (title, how the message begins that refuses it, what makes it). The last
changes a request in place; False: there is nothing of it in this form.
"""
import re

ALL = []
DIGEST = re.compile("^[0-9a-f]{64}$")


def attack(title, begins):
    def put(make):
        ALL.append((title, begins, make))
        return make
    return put


def spec(r):
    return r["object"]["spec"]


def inits(r):
    return spec(r)["initContainers"]


def named(r, name):
    s = spec(r)
    return next((c for c in s["initContainers"] + s["containers"]
                 if c["name"] == name), None)


def volume(r, name):
    return next((v for v in spec(r)["volumes"] if v["name"] == name), None)


def field(title, begins, find, key, value):
    """One field is another, or is there at all."""
    def make(r):
        found = find(r)
        if found is None:
            return False
        found[key] = value
        return None
    ALL.append((title, begins, make))


def gone(title, begins, find, key):
    def make(r):
        found = find(r)
        if found is None or key not in found:
            return False
        del found[key]
        return None
    ALL.append((title, begins, make))


def of(name, *keys):
    """Where in that container."""
    def find(r):
        at = named(r, name)
        for key in keys:
            at = at.get(key) if at is not None and isinstance(at, dict) else \
                at[key]
        return at
    return find


def vol(name, *keys):
    def find(r):
        at = volume(r, name)
        for key in keys:
            at = at and at.get(key)
        return at
    return find


# --- which plan -------------------------------------------------------------

NO_PLAN = "no plan that is admitted"
gone("a list without data", NO_PLAN, lambda r: r["params"], "data")


@attack("a tag on the list", NO_PLAN)
def _(r):
    data = r["params"]["data"]
    for key in data:
        data[key] = "registry.example.com/gate:latest"
    for name in ("fence", "gate"):
        named(r, name)["image"] = "registry.example.com/gate:latest"


@attack("another digest", NO_PLAN)
def _(r):
    named(r, "gate")["command"][6] = "0" * 64


@attack("no command", NO_PLAN)
def _(r):
    del named(r, "gate")["command"]


@attack("a digest that is no digest", NO_PLAN)
def _(r):
    named(r, "gate")["command"][6] = ""
    r["params"]["data"]["runtime-class-x"] = "anything"


LABEL = "the label membrane/plan"
field("another plan's label", LABEL, lambda r: r["object"]["metadata"]["labels"],
      "membrane/plan", "0" * 40)
field("a shorter label", LABEL, lambda r: r["object"]["metadata"]["labels"],
      "membrane/plan", "")
gone("no label", LABEL, lambda r: r["object"]["metadata"]["labels"],
     "membrane/plan")
gone("no labels", LABEL, lambda r: r["object"]["metadata"], "labels")

# --- the fence --------------------------------------------------------------

FENCE = "the first init container is not the fence"
FENCE_FIELD = "the fence has a field"
FENCE_RIGHTS = "the fence has other rights"


@attack("a container before the fence", FENCE)
def _(r):
    inits(r).insert(0, {**named(r, "agent"), "name": "early"})


@attack("no fence", FENCE)
def _(r):
    del inits(r)[0]


@attack("no init containers", FENCE)
def _(r):
    spec(r)["initContainers"] = []


@attack("the fence behind the gate", FENCE)
def _(r):
    if len(inits(r)) < 2:
        return False
    inits(r)[:2] = inits(r)[1::-1]
    return None


field("a fence of another image", FENCE, of("fence"), "image",
      "registry.example.com/agent@sha256:" + "1" * 64)
field("a fence of the image's tag", FENCE, of("fence"), "image",
      "registry.example.com/membrane-gate")
field("a fence that only says so", FENCE, of("fence"), "command",
      ["/membrane-gate", "--fence", "--version"])
field("a fence that is no fence", FENCE, of("fence"), "command", ["/bin/true"])
gone("a fence of the image's own command", FENCE, of("fence"), "command")
for key, value in {
        "args": ["--version"], "restartPolicy": "Always",
        "env": [{"name": "LD_PRELOAD", "value": "/x"}],
        "envFrom": [{"configMapRef": {"name": "x"}}], "workingDir": "/x",
        "volumeMounts": [{"name": "tmp", "mountPath": "/membrane-gate",
                          "subPath": "true"}],
        "lifecycle": {"postStart": {"exec": {"command": ["/x"]}}},
        "startupProbe": {"exec": {"command": ["/x"]}}, "stdin": True,
        "volumeDevices": [{"name": "x", "devicePath": "/dev/x"}],
        "restartPolicyRules": [{"action": "Restart"}]}.items():
    field("a fence with " + key, FENCE_FIELD, of("fence"), key, value)
for name, begins in {"fence": FENCE_RIGHTS,
                     "gate": "the gate has other rights"}.items():
    sc = of(name, "securityContext")
    gone(name + " without rights", begins, of(name), "securityContext")
    field(name + " privileged", begins, sc, "privileged", True)
    field(name + " with all capabilities", begins, sc, "capabilities",
          {"add": ["ALL"]})
    field(name + " with a capability more", begins, of(
        name, "securityContext", "capabilities"), "add",
        ["NET_ADMIN", "SYS_PTRACE"])
    field(name + " that drops nothing", begins, of(
        name, "securityContext", "capabilities"), "drop", [])
    field(name + " as another user", begins, sc, "runAsUser", 1000)
    field(name + " unconfined", begins, sc, "seccompProfile",
          {"type": "Unconfined"})
    field(name + " of another type of SELinux", begins, sc, "seLinuxOptions",
          {"type": "spc_t"})
    field(name + " of Windows", begins, sc, "windowsOptions",
          {"hostProcess": True})
    field(name + " with a root that is written", begins, sc,
          "readOnlyRootFilesystem", False)
field("a fence that may escalate", FENCE_RIGHTS, of("fence", "securityContext"),
      "allowPrivilegeEscalation", True)

# --- the gate ---------------------------------------------------------------

PLACE = "the gate is neither"
IMAGE = "the gate's image"
COMMAND = "the gate's command"
GATE_FIELD = "the gate has a field"
ENV = "the gate has other variables"
MOUNTS = "the gate has other mounts"
PROBE = "the gate's startup probe"


@attack("a gate of another name", PLACE)
def _(r):
    named(r, "gate")["name"] = "door"


@attack("a gate that is waited for, or ends", PLACE)
def _(r):
    gate = named(r, "gate")
    if "restartPolicy" in gate:
        del gate["restartPolicy"]
    else:
        gate["restartPolicy"] = "Never"


field("a gate that may end", PLACE, of("gate"), "restartPolicy", "OnFailure")


@attack("a gate behind the agent", PLACE)
def _(r):
    s = spec(r)
    if named(r, "gate") in s["containers"]:
        s["containers"].reverse()
    else:
        s["containers"].append(inits(r).pop(1))


field("a gate of another image", IMAGE, of("gate"), "image",
      "registry.example.com/membrane-gate@sha256:" + "3" * 64)
field("a gate of a tag", IMAGE, of("gate"), "image",
      "registry.example.com/membrane-gate:latest")


@attack("an option more", COMMAND)
def _(r):
    named(r, "gate")["command"] += ["--roots", "/tmp"]


@attack("another program in the gate's image", COMMAND)
def _(r):
    named(r, "gate")["command"][0] = "/bin/sh"


@attack("another folder as the plan", COMMAND)
def _(r):
    named(r, "gate")["command"][4] = "/run/gate"


@attack("another link", COMMAND)
def _(r):
    named(r, "gate")["command"][2] = "none"


@attack("secrets that the gate does not ask for", COMMAND)
def _(r):
    if volume(r, "secrets"):
        return False
    spec(r)["volumes"].append({"name": "secrets",
                               "secret": {"secretName": "x-credentials"}})
    return None


for key, value in {
        "args": ["--fence"], "envFrom": [{"configMapRef": {"name": "x"}}],
        "lifecycle": {"postStart": {"exec": {"command": ["/x"]}}},
        "livenessProbe": {"httpGet": {"port": 1, "host": "169.254.169.254"}},
        "readinessProbe": {"exec": {"command": ["/x"]}}, "workingDir": "/tmp",
        "stdin": True, "tty": True, "resizePolicy": [],
        "restartPolicyRules": [{"action": "Restart"}],
        "volumeDevices": [{"name": "x", "devicePath": "/dev/x"}]}.items():
    field("a gate with " + key, GATE_FIELD, of("gate"), key, value)
gone("a gate without variables", ENV, of("gate"), "env")


@attack("LD_PRELOAD", ENV)
def _(r):
    named(r, "gate")["env"].append({"name": "LD_PRELOAD", "value": "/plan/x"})


@attack("other addresses as the node's", ENV)
def _(r):
    named(r, "gate")["env"][1] = {"name": "MEMBRANE_HOSTS", "value": "192.0.2.1"}


@attack("the other form's addresses", ENV)
def _(r):
    of("gate", "env", 1, "valueFrom", "fieldRef")(r)["fieldPath"] = \
        "status.podIPs"


@attack("a variable twice", ENV)
def _(r):
    named(r, "gate")["env"][0]["value"] = "x"


@attack("a variable from a Secret", ENV)
def _(r):
    named(r, "gate")["env"][0]["valueFrom"] = {
        "secretKeyRef": {"name": "x", "key": "y"}}


@attack("a mount over the gate", MOUNTS)
def _(r):
    named(r, "gate")["volumeMounts"].append(
        {"name": "tmp", "mountPath": "/membrane-gate", "subPath": "x"})


@attack("a mount over /etc", MOUNTS)
def _(r):
    named(r, "gate")["volumeMounts"].append(
        {"name": "workspace", "mountPath": "/etc"})


@attack("another volume as the plan", MOUNTS)
def _(r):
    named(r, "gate")["volumeMounts"][0]["name"] = "workspace"


@attack("part of the plan", MOUNTS)
def _(r):
    named(r, "gate")["volumeMounts"][0]["subPath"] = "x"


@attack("a plan that is written", MOUNTS)
def _(r):
    named(r, "gate")["volumeMounts"][0]["readOnly"] = False


@attack("a folder that goes out to the node", MOUNTS)
def _(r):
    named(r, "gate")["volumeMounts"][1]["mountPropagation"] = "Bidirectional"


gone("no probe", PROBE, of("gate"), "startupProbe")
field("another probe", PROBE, of("gate", "startupProbe", "exec"), "command",
      ["/membrane-gate", "--version"])


@attack("a probe of the network", PROBE)
def _(r):
    probe = named(r, "gate")["startupProbe"]
    del probe["exec"]
    probe["tcpSocket"] = {"port": 1}


DEVICE = "the fence or the gate asks for a device"
for name in ("fence", "gate"):
    field(name + " with a device", DEVICE, of(name, "resources", "limits"),
          "example.com/injector", "1")
    field(name + " with a claim", DEVICE, of(name, "resources"), "claims",
          [{"name": "x"}])
    field(name + " whose last words lie over its plan",
          "the last words of the fence or the gate", of(name),
          "terminationMessagePath", "/plan/manifest.json")

# --- volumes ----------------------------------------------------------------

KIND = "a volume of a kind"
PLAN = "the volume 'plan'"
FOLDERS = "the gate's own folders"
SECRET = "a Secret that is not the gate's"
GATES = "another container than the gate mounts"
for kind, value in {
        "hostPath": {"path": "/"}, "csi": {"driver": "x"},
        "nfs": {"server": "x", "path": "/"}, "image": {"reference": "x"},
        "projected": {"sources": [{"serviceAccountToken": {"path": "x"}}]},
        "ephemeral": {}, "downwardAPI": {}, "gitRepo": {"repository": "x"},
        "iscsi": {}, "flexVolume": {"driver": "x"}}.items():
    @attack("a volume of " + kind, KIND)
    def _(r, kind=kind, value=value):
        spec(r)["volumes"].append({"name": "x", kind: value})

field("another plan's ConfigMap", PLAN, vol("plan", "configMap"), "name",
      "membrane-plan-" + "0" * 64)
field("part of the plan's ConfigMap", PLAN, vol("plan", "configMap"), "items",
      [{"key": "gate.cfg", "path": "gate.cfg"}])
field("a plan that may be missing", PLAN, vol("plan", "configMap"), "optional",
      True)


@attack("a plan of the workspace's", PLAN)
def _(r):
    v = volume(r, "plan")
    del v["configMap"]
    v["emptyDir"] = {}


for name in ("gate-run", "roots"):
    @attack(name + " on a claim", FOLDERS)
    def _(r, name=name):
        v = volume(r, name)
        if not v:
            return False
        del v["emptyDir"]
        v["persistentVolumeClaim"] = {"claimName": "shared"}
        return None

    gone(name + " on the node's disk", FOLDERS, vol(name, "emptyDir"), "medium")


@attack("credentials that changed places", SECRET)
def _(r):
    v = volume(r, "secrets")
    if not v:
        return False
    v["secret"]["items"][0]["key"] = "OTHER"
    return None


gone("all of a Secret", SECRET, vol("secrets", "secret"), "items")


@attack("two volumes in one", KIND)
def _(r):
    volume(r, "gate-run")["persistentVolumeClaim"] = {"claimName": "shared"}


@attack("a Secret of its own", SECRET)
def _(r):
    spec(r)["volumes"].append({"name": "x", "secret": {
        "secretName": "membrane-agent-credentials"}})


field("another Secret", SECRET, vol("secrets", "secret"), "secretName",
      "root-password")


@attack("secrets that are none", SECRET)
def _(r):
    v = volume(r, "secrets")
    if not v:
        return False
    del v["secret"]
    v["emptyDir"] = {}
    return None


for name in ("gate-run", "plan", "secrets", "roots"):
    for container in ("agent", "workspace"):
        @attack("%s has %s" % (container, name), GATES)
        def _(r, name=name, container=container):
            c = named(r, container)
            if not c or not volume(r, name):
                return False
            c["volumeMounts"].append({"name": name, "mountPath": "/stolen"})
            return None

# --- everything else --------------------------------------------------------

RESTRICTED = "a container beside fence and gate"
UNKNOWN = "a container has a field"
VARIABLE = "a variable of a container"
HOST = "a probe or a hook names a host"
PORT = "a container has a port of the node's"
FILTER = "a container has no AppArmor"
for name in ("agent", "workspace"):
    sc = of(name, "securityContext")

    def there(find):
        return lambda r, name=name: named(r, name) and find(r)

    for key, value in {
            "privileged": True, "allowPrivilegeEscalation": True,
            "runAsNonRoot": False, "runAsUser": 0, "runAsGroup": 0,
            "readOnlyRootFilesystem": False,
            "capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]},
            "seccompProfile": {"type": "Unconfined"},
            "seLinuxOptions": {"type": "spc_t"},
            "windowsOptions": {"hostProcess": True}}.items():
        field("%s: %s" % (name, key), RESTRICTED, there(sc), key, value)
    for key in ("allowPrivilegeEscalation", "capabilities", "seccompProfile",
                "runAsNonRoot"):
        gone("%s without %s" % (name, key), RESTRICTED, there(sc), key)
    gone(name + " without a securityContext", RESTRICTED,
         lambda r, name=name: named(r, name), "securityContext")
    field(name + " with a raw device", UNKNOWN,
          lambda r, name=name: named(r, name), "volumeDevices",
          [{"name": "x", "devicePath": "/dev/x"}])
    field(name + " with something new", UNKNOWN,
          lambda r, name=name: named(r, name), "restartPolicyRules",
          [{"action": "RestartAllContainers"}])
    field(name + " with all of a Secret", VARIABLE,
          lambda r, name=name: named(r, name), "envFrom",
          [{"secretRef": {"name": "membrane-agent-credentials"}}])
    for key, value in {
            "secretKeyRef": {"name": "x", "key": "y"},
            "fileKeyRef": {"volumeName": "gate-run", "path": "x",
                           "key": "y"}}.items():
        @attack("%s with a variable by %s" % (name, key), VARIABLE)
        def _(r, name=name, key=key, value=value):
            c = named(r, name)
            if not c:
                return False
            c["env"].append({"name": "X", "valueFrom": {key: value}})
            return None


@attack("a second container with rights", RESTRICTED)
def _(r):
    spec(r)["containers"].append({**named(r, "gate"), "name": "gate-2"})


@attack("a second container that says nothing", RESTRICTED)
def _(r):
    spec(r)["containers"].append({"name": "x", "image": "x"})


@attack("an init container with rights between", RESTRICTED)
def _(r):
    inits(r).insert(1, {**named(r, "fence"), "name": "between"})


@attack("two gates", "there are two containers")
def _(r):
    spec(r)["containers"].append(dict(named(r, "gate")))


for key in ("livenessProbe", "readinessProbe", "startupProbe"):
    field("a %s of another host" % key, HOST, of("agent"), key,
          {"httpGet": {"host": "169.254.169.254", "port": 80}})
    field("a %s of another host by TCP" % key, HOST, of("agent"), key,
          {"tcpSocket": {"host": "10.0.0.1", "port": 80}})
for key in ("postStart", "preStop"):
    field("a %s to another host" % key, HOST, of("agent"), "lifecycle",
          {key: {"httpGet": {"host": "169.254.169.254", "port": 80}}})
for name in ("agent", "gate", "fence"):
    field(name + " with a node's port", PORT, of(name), "ports",
          [{"containerPort": 1, "hostPort": 1}])
    field(name + " with a node's address", PORT, of(name), "ports",
          [{"containerPort": 1, "hostIP": "0.0.0.0"}])
    field(name + " without AppArmor", FILTER, of(name, "securityContext"),
          "appArmorProfile", {"type": "Unconfined"})
    field(name + " with all of /proc", FILTER, of(name, "securityContext"),
          "procMount", "Unmasked")
EPHEMERAL = "ephemeral containers"


@attack("an ephemeral container", EPHEMERAL)
def _(r):
    r["operation"], r["oldObject"] = "UPDATE", r["object"]
    r["object"] = {**r["object"], "spec": {
        **spec(r), "ephemeralContainers": [
            {"name": "debug", "image": "x", "targetContainerName": "gate"}]}}


# --- the Pod ----------------------------------------------------------------

POD_FIELD = "the Pod has a field"
SHARES = "the Pod shares a namespace"
DNS = "the Pod's resolver"
TOKEN = "the Pod would have a token"
CONTEXT = "the Pod's securityContext"
for key, value in {
        "hostAliases": [{"ip": "192.0.2.1", "hostnames": ["github.com"]}],
        "resourceClaims": [{"name": "x", "resourceClaimName": "y"}],
        "os": {"name": "windows"}, "hostnameOverride": "x",
        "somethingNew": True}.items():
    field("a Pod with " + key, POD_FIELD, spec, key, value)
for key in ("hostIPC", "hostNetwork", "hostPID", "shareProcessNamespace"):
    field("a Pod with " + key, SHARES, spec, key, True)
field("the cluster's resolver", DNS, spec, "dnsPolicy", "ClusterFirst")
gone("no resolver", DNS, spec, "dnsConfig")
field("another resolver", DNS, lambda r: spec(r)["dnsConfig"], "nameservers",
      ["192.0.0.1", "10.96.0.10"])
field("searches", DNS, lambda r: spec(r)["dnsConfig"], "searches", ["x"])
field("a token", TOKEN, spec, "automountServiceAccountToken", True)
gone("a token, since nobody says", TOKEN, spec, "automountServiceAccountToken")
field("Services in the gate's variables", "Services of this namespace", spec,
      "enableServiceLinks", True)
gone("Services, since nobody says", "Services of this namespace", spec,
     "enableServiceLinks")
for key, value in {
        "sysctls": [{"name": "net.ipv4.ip_forward", "value": "1"}],
        "seLinuxOptions": {"type": "spc_t"}, "supplementalGroups": [0],
        "seccompProfile": {"type": "Unconfined"}, "fsGroup": 0,
        "appArmorProfile": {"type": "Unconfined"},
        "windowsOptions": {"hostProcess": True}}.items():
    field("a Pod with " + key, CONTEXT,
          lambda r: spec(r)["securityContext"], key, value)
for key, value in {
        "container.apparmor.security.beta.kubernetes.io/gate": "unconfined",
        "container.seccomp.security.alpha.kubernetes.io/gate": "unconfined",
        "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
        "io.kubernetes.cri-o.userns-mode": "auto",
        "io.katacontainers.config.hypervisor.kernel": "/x",
        "k8s.v1.cni.cncf.io/networks": "macvlan",
        "v1.multus-cni.io/default-network": "x"}.items():
    field("the annotation " + key, "an annotation asks",
          lambda r: r["object"]["metadata"].setdefault("annotations", {}),
          key, value)
field("a runtime class", "this runtime class", spec, "runtimeClassName",
      "unconfined")
field("a node", "the Pod names its node", spec, "nodeName", "node-1")


@attack("into the gate", "nobody gets into")
def _(r):
    r.update(policy="membrane-sandbox-exec", operation="CONNECT", object={
        "kind": "PodExecOptions", "container": "gate", "command": ["/x"]})


@attack("into the fence", "nobody gets into")
def _(r):
    r.update(policy="membrane-sandbox-exec", operation="CONNECT", object={
        "kind": "PodAttachOptions", "container": "fence"})


# What of a Pod may be otherwise, by paths in which containers and volumes are
# called by their names: who it is called and where it is put; what the agent
# is, which is behind the gate whatever it is; how long something is waited for;
# and resources without which the fence or the gate ends, and nothing is open.
HARMLESS = [re.compile(p) for p in (
    r"metadata\.(name|namespace|uid|creationTimestamp)",
    r"metadata\.labels\.app\.kubernetes\.io/.*",
    r"spec\.(activeDeadlineSeconds|affinity|host(Users|name)|imagePullSecrets"
    r"|nodeSelector|overhead|preemptionPolicy|priority(ClassName)?"
    r"|readinessGates|restartPolicy|schedul(erName|ingGates)"
    r"|serviceAccount(Name)?|setHostnameAsFQDN|subdomain"
    r"|terminationGracePeriodSeconds|tolerations.*|topologySpreadConstraints)",
    # of the Pod's own context containers take nothing: each has its own
    r"spec\.securityContext(\.fsGroup(ChangePolicy)?"
    r"|\.seccompProfile(\.localhostProfile)?)?",
    r"spec\.(containers|initContainers|volumes|shareProcessNamespace)",
    r"<(fence|gate)>\.(imagePullPolicy|terminationMessage(Path|Policy)"
    r"|resources(\.(limits|requests)(\.(cpu|memory))?)?)",
    r"<gate>\.env\[\d\]\.valueFrom\.fieldRef\.apiVersion",
    r"<gate>\.ports(\[\d\](\.(containerPort|name|protocol))?)?",
    r"<gate>\.startupProbe\.(failureThreshold|initialDelaySeconds"
    r"|periodSeconds|successThreshold|timeoutSeconds)",
    r"<(agent|workspace)>(\.(args|command|image|imagePullPolicy|lifecycle|name"
    r"|ports|resizePolicy|resources|restartPolicy|stdin|stdinOnce|tty"
    r"|terminationMessage(Path|Policy)|volumeMounts|workingDir"
    r"|(liveness|readiness|startup)Probe|env|envFrom)\b.*)?",
    r"<(agent|workspace)>\.securityContext\.(privileged|runAs(Group|User)"
    r"|seccompProfile\.localhostProfile)",
    r"<volume plan>\.configMap\.defaultMode",
    r"<volume (gate-run|roots)>\.emptyDir\.sizeLimit",
    r"<volume secrets>\.secret\.(defaultMode|optional|items\[\d\]\.mode)",
    r"<volume (home|run|tmp|var-tmp|tmpfs-\d|workspace)>.*")]
