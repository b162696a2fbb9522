"""The software of an image, as SPDX 2.3: sbom.py PACKAGE VERSION FOLDER...

Debian's packages as dpkg has them, and those of npm and Python below the folders.
"""
import datetime
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys


def debian():
    said = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package}\t${Version}\t${Architecture}\n"],
        check=True, capture_output=True, text=True).stdout
    for line in said.splitlines():
        name, version, arch = line.split("\t")
        yield name, version, "pkg:deb/debian/%s@%s?arch=%s" % (
            name, version.replace("+", "%2B").replace(":", "%3A"), arch)


def npm(folder):
    for path in pathlib.Path(folder).rglob("package.json"):
        # Below node_modules alone, or in a scope there: others are parts.
        up = path.parent.parent
        if up.name.startswith("@"):
            up = up.parent
        if up.name != "node_modules":
            continue
        about = json.loads(path.read_text())
        name, version = about.get("name"), about.get("version")
        if name and version:
            yield name, version, "pkg:npm/%s@%s" % (
                name.replace("@", "%40"), version)


def python(folder):
    for path in pathlib.Path(folder).rglob("site-packages"):
        for about in importlib.metadata.distributions(path=[str(path)]):
            name, version = about.metadata["Name"], about.version
            yield name, version, "pkg:pypi/%s@%s" % (
                re.sub(r"[-_.]+", "-", name).lower(), version)


def entry(name, version, purl):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", purl),
            "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER",
                              "referenceType": "purl",
                              "referenceLocator": purl}]}


def main():
    name, version, *folders = sys.argv[1:]
    found = set(debian())
    for folder in folders:
        found.update(npm(folder))
        found.update(python(folder))
    now = int(os.environ.get("SOURCE_DATE_EPOCH", "0")) or None
    when = datetime.datetime.fromtimestamp(now, datetime.timezone.utc) \
        if now else datetime.datetime.now(datetime.timezone.utc)
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT", "name": "%s@%s" % (name, version),
        "documentNamespace": "urn:membrane:%s@%s" % (name, version),
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: membrane-images"]},
        "packages": [entry(*p) for p in sorted(found)]},
        sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
