// Every field that a Pod could have besides those that it has, by the published
// schema: edits for admission.mjs.
//
//     node additions.mjs NODE_MODULES < POD
import fs from "node:fs";
import path from "node:path";
import { membersOf } from "./types.mjs";

const modules = process.argv[2];
const pod = JSON.parse(fs.readFileSync(0, "utf8"));
const edits = [];

/** Some value of that type. */
function exampleOf({ text, file }) {
  if (/^Array</.test(text)) return [file ? {} : "x"];
  if (/^boolean/.test(text)) return true;
  if (/^number/.test(text)) return 1;
  if (/^"/.test(text)) return /"([^"]+)"(;|$)/.exec(text)[1];
  return /^string/.test(text) ? "x" : {};
}

function walk(value, file, at) {
  if (Array.isArray(value)) {
    value.forEach((v, i) => walk(v, file, [...at, i]));
    return;
  }
  const members = file && membersOf(modules, file);
  if (value === null || typeof value !== "object" || !members) return;
  for (const [key, member] of Object.entries(members))
    if (!(key in value)) edits.push(["set", [...at, key], exampleOf(member)]);
    else walk(value[key], member.file, [...at, key]);
}

walk(pod.spec, path.join(modules, "kubernetes-models/v1/PodSpec.d.ts"), ["spec"]);
console.log(JSON.stringify(edits));
