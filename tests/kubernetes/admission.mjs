// What a ValidatingAdmissionPolicy says of requests, by npm's @bufbuild/cel.
//
//     node admission.mjs NODE_MODULES < {"policies": [...], "requests": [...]}
//
// policies: the objects, by their names. A request: {"policy": NAME, "object",
// "oldObject", "operation", "params", and "edits": [[EDIT, PATH, VALUE], ...]},
// each of which is made to the object for itself. An EDIT is "none", "set",
// "delete", or "insert" behind a list's items.
//
// Prints, request by request and edit by edit, which validations refuse it, by
// their index, or "error: ..." in the place of an index; null: no policy asks.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const modules = process.argv[2];
const { celEnv, isCelError, parse, plan } = await import(
  pathToFileURL(path.join(modules, "@bufbuild/cel/dist/esm/index.js")));
const { strings } = await import(
  pathToFileURL(path.join(modules, "@bufbuild/cel/dist/esm/ext/index.js")));
const given = JSON.parse(fs.readFileSync(0, "utf8"));
const env = celEnv({ funcs: strings });

/** As an API server has it: maps, and numbers that are whole. */
function celValue(v) {
  if (Array.isArray(v)) return v.map(celValue);
  if (v !== null && typeof v === "object")
    return new Map(Object.entries(v).map(([k, x]) => [k, celValue(x)]));
  return typeof v === "number" && Number.isInteger(v) ? BigInt(v) : v;
}

function compile(expression) {
  return plan(env, parse(expression));
}

function compilePolicy(object) {
  const each = (list) => (list ?? []).map((x) => ({ name: x.name, run: compile(x.expression) }));
  return { conditions: each(object.spec.matchConditions),
    variables: each(object.spec.variables), validations: each(object.spec.validations) };
}

/** A value; what went wrong is thrown. */
function ask(run, bindings) {
  const v = run(bindings);
  if (isCelError(v)) throw v;
  return v;
}

function judge(policy, bindings) {
  const refused = [];
  if (policy.conditions.some((c) => ask(c.run, bindings) !== true)) return null;
  const variables = new Map(), all = { ...bindings, variables };
  for (const v of policy.variables)
    try {
      variables.set(v.name, ask(v.run, all));
    } catch { /* what needs it says so */ }
  policy.validations.forEach((v, i) => {
    try {
      if (ask(v.run, all) !== true) refused.push(i);
    } catch (e) {
      refused.push(`error: ${i}: ${e.message}`);
    }
  });
  return refused;
}

function edited(object, [edit, at, value]) {
  const out = structuredClone(object);
  const last = at[at.length - 1];
  let in_ = out;
  for (const key of at.slice(0, -1)) in_ = in_[key];
  if (edit === "set") in_[last] = value;
  else if (edit === "insert") in_[last].push(value);
  else if (edit === "delete" && Array.isArray(in_)) in_.splice(last, 1);
  else if (edit === "delete") delete in_[last];
  return out;
}

const policies = Object.fromEntries(given.policies.map((p) => [p.metadata.name, compilePolicy(p)]));
console.log(JSON.stringify(given.requests.map((r) =>
  (r.edits ?? [["none", [], null]]).map((edit) => judge(policies[r.policy], {
    object: celValue(edited(r.object, edit)),
    oldObject: celValue(r.oldObject ?? null),
    params: celValue(r.params ?? null),
    request: celValue({ operation: r.operation }),
  })))));
