// The types of Kubernetes' objects, read off the type definitions of npm's
// kubernetes-models, because its validators let keys pass that no type has.
import fs from "node:fs";
import path from "node:path";

const types = new Map();

/** Of a type's file: {key: {text, file: of the key's type, or null}}, or null
 *  for what is no object. */
export function membersOf(modules, file) {
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
    out[m[1]] = { text: m[2], file: of ? files[of] : null };
  }
  types.set(file, Object.keys(out).length ? out : null);
  return types.get(file);
}

export function seenTypes() {
  return types.size;
}
