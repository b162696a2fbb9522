"""How pip installs this folder in place: PEP 660, by hand."""
import pathlib
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def build_wheel(*_):
    raise RuntimeError("no packages are built of this: pip install -e")


def build_editable(folder, *_):
    about = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    name = "hermes_agent-" + about["version"]
    info = name + ".dist-info/"
    lines = ["Metadata-Version: 2.1", "Name: " + about["name"],
             "Version: " + about["version"],
             "Requires-Python: " + about["requires-python"],
             *("Requires-Dist: " + d for d in about["dependencies"]),
             *("Provides-Extra: " + e for e in about["optional-dependencies"])]
    files = {"hermes_agent.pth": str(HERE) + "\n",
             info + "METADATA": "\n".join(lines) + "\n",
             info + "WHEEL": "Wheel-Version: 1.0\nGenerator: stand-in\n"
                             "Root-Is-Purelib: true\nTag: py3-none-any\n",
             info + "entry_points.txt": "[console_scripts]\n" + "".join(
                 "%s = %s\n" % s for s in about["scripts"].items())}
    files[info + "RECORD"] = "".join(
        "%s,,\n" % f for f in [*files, info + "RECORD"])
    wheel = name + "-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / wheel, "w") as z:
        for path, text in files.items():
            z.writestr(path, text)
    return wheel
