// Objects against the published schema of Kubernetes: types, what has to be
// there, and no key that a type does not have. The last is read off the
// package's type definitions, because its validators let such keys pass.
//
//     node objects.mjs NODE_MODULES < [{"name": ..., "object": {...}}, ...]
//
// Prints a JSON list of complaints.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const modules = process.argv[2];
const HOMES = ["v1", "batch/v1", "apps/v1", "networking.k8s.io/v1",
  "admissionregistration.k8s.io/v1"];
const types = new Map();

/** Of a type's file: {key: the file of the key's type, or null}. */
function membersOf(file) {
  if (types.has(file)) return types.get(file);
  const text = fs.readFileSync(file, "utf8").replace(/\/\*[^]*?\*\//g, "");
  const files = {}, out = {};
  for (const m of text.matchAll(/^import \{ (\w+) \} from "([^"]+)"/gm))
    files[m[1]] = m[2].startsWith(".")
      ? path.join(path.dirname(file), m[2].replace(/\.js$/, "") + ".d.ts")
      : path.join(modules, m[2] + ".d.ts");
  const body = /^export interface [^]*?^\}/m.exec(text);
  for (const m of (body ? body[0] : "").matchAll(/^    "([^"]+)"\??: (.*)$/gm)) {
    const of = Object.keys(files).find((t) => new RegExp(`\\b${t}\\b`).test(m[2]));
    out[m[1]] = of ? files[of] : null;
  }
  types.set(file, Object.keys(out).length ? out : null);
  return types.get(file);
}

function unknownKeys(value, file, at, out) {
  if (Array.isArray(value)) {
    value.forEach((v, i) => unknownKeys(v, file, `${at}[${i}]`, out));
    return;
  }
  const members = file && membersOf(file);
  if (value === null || typeof value !== "object" || !members) return;
  for (const [key, v] of Object.entries(value)) {
    if (!(key in members)) out.push(`${at}.${key}: no key of ${path.basename(file, ".d.ts")}`);
    else unknownKeys(v, members[key], `${at}.${key}`, out);
  }
}

const complaints = [];
let seen = 0;
for (const { name, object } of JSON.parse(fs.readFileSync(0, "utf8"))) {
  if (!HOMES.includes(object.apiVersion)) continue;   // a custom resource
  const file = path.join(modules, "kubernetes-models", object.apiVersion, object.kind);
  const model = (await import(pathToFileURL(file + ".js")))[object.kind];
  try {
    new model(object).validate();
  } catch (e) {
    complaints.push(`${name}: ${e.message}`);
  }
  const out = [];
  unknownKeys(object, file + ".d.ts", name, out);
  complaints.push(...out);
  seen++;
}
console.log(JSON.stringify({ seen, types: types.size, complaints }));
