// Objects against the published schema of Kubernetes: types, what has to be
// there, and no key that a type does not have (types.mjs).
//
//     node objects.mjs NODE_MODULES < [{"name": ..., "object": {...}}, ...]
//
// Prints a JSON list of complaints.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { membersOf, seenTypes } from "./types.mjs";

const modules = process.argv[2];
const HOMES = ["v1", "batch/v1", "apps/v1", "networking.k8s.io/v1",
  "admissionregistration.k8s.io/v1"];

function unknownKeys(value, file, at, out) {
  if (Array.isArray(value)) {
    value.forEach((v, i) => unknownKeys(v, file, `${at}[${i}]`, out));
    return;
  }
  const members = file && membersOf(modules, file);
  if (value === null || typeof value !== "object" || !members) return;
  for (const [key, v] of Object.entries(value)) {
    if (!(key in members)) out.push(`${at}.${key}: no key of ${path.basename(file, ".d.ts")}`);
    else unknownKeys(v, members[key].file, `${at}.${key}`, out);
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
console.log(JSON.stringify({ seen, types: seenTypes(), complaints }));
