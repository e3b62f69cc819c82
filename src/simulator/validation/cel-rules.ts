import type { FieldCause } from '../objects/status-error.js';
import { type Json, type JsonObject, isList, isObject, listAt, stringAt } from '../kinds/json.js';
import { invalid } from './objects.js';
import { errorMessage } from '../../units/failure.js';

/** Evaluates a CEL expression. Throws if the expression is invalid or fails. */
export type CelEvaluator = (expression: string, variables: Readonly<Record<string, unknown>>) => unknown;

/** Loads the optional library that evaluates CEL; null: the library is not installed, so rules are not checked. */
export async function loadCel(): Promise<CelEvaluator | null> {
  try {
    const { parse } = await import('@marcbachmann/cel-js');
    const known = new Map<string, ReturnType<typeof parse>>();
    return (expression, variables) => {
      const program = known.get(expression) ?? parse(expression);
      known.set(expression, program);
      const result: unknown = program(variables);
      return result;
    };
  } catch {
    return null;
  }
}

/** Returns the violations of `x-kubernetes-validations`. A rule with `oldSelf` is skipped if there is no old value. */
export function ruleProblems(
  evaluate: CelEvaluator,
  schema: JsonObject,
  { value, before, path }: { readonly value: Json; readonly before: Json | undefined; readonly path: string },
): readonly FieldCause[] {
  const own = listAt(schema, 'x-kubernetes-validations').flatMap((rule) =>
    ruleProblem(evaluate, rule, { schema, value, before, path }),
  );
  return [...own, ...memberProblems(evaluate, schema, { value, before, path })];
}

interface Place {
  readonly value: Json;
  readonly before: Json | undefined;
  readonly path: string;
}

function ruleProblem(
  evaluate: CelEvaluator,
  rule: Json,
  { schema, value, before, path }: Place & { readonly schema: JsonObject },
): readonly FieldCause[] {
  const expression = stringAt(rule, 'rule') ?? '';
  const isTransition = /\boldSelf\b/.test(expression);
  if (isTransition && before === undefined) return [];
  const self = celValue(value, schema);
  const variables = isTransition ? { self, oldSelf: celValue(before ?? null, schema) } : { self };
  const found = outcome(evaluate, expression, variables);
  if (found === true) return [];
  const why =
    found === false
      ? (stringAt(rule, 'message') ?? `failed rule: ${expression}`)
      : `rule evaluation error: ${found}`;
  const type = stringAt(schema, 'type') ?? 'object';
  return [invalid(path || '<nil>', type, why)];
}

function outcome(
  evaluate: CelEvaluator,
  expression: string,
  variables: Readonly<Record<string, unknown>>,
): boolean | string {
  try {
    const result = evaluate(expression, variables);
    return typeof result === 'boolean' ? result : 'the result is no boolean';
  } catch (error) {
    return errorMessage(error);
  }
}

function memberProblems(
  evaluate: CelEvaluator,
  schema: JsonObject,
  { value, before, path }: Place,
): readonly FieldCause[] {
  if (isList(value)) {
    const { items } = schema;
    // Items of a list are checked without an old value, because the index of an item may have changed.
    return isObject(items)
      ? value.flatMap((item, index) =>
          ruleProblems(evaluate, items, { value: item, before: undefined, path: `${path}[${index}]` }),
        )
      : [];
  }
  if (!isObject(value)) return [];
  const earlier = before !== undefined && isObject(before) ? before : {};
  return Object.entries(value).flatMap(([name, member]) => {
    const own = memberSchema(schema, name);
    if (own === null || member === undefined) return [];
    const memberInput = {
      value: member,
      before: earlier[name],
      path: path === '' ? name : `${path}.${name}`,
    };
    return ruleProblems(evaluate, own, memberInput);
  });
}

/** Returns the schema of a member of an object; null: the schema does not describe the member. */
export function memberSchema(
  { properties, additionalProperties }: JsonObject,
  name: string,
): JsonObject | null {
  const own = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const known = own ?? additionalProperties;
  return isObject(known) ? known : null;
}

/** Converts a value for CEL: integers become bigints, and unset fields are omitted. */
function celValue(value: Json, schema: JsonObject | null): unknown {
  if (typeof value === 'number' && Number.isInteger(value) && schema?.['type'] !== 'number')
    return BigInt(value);
  if (isList(value)) {
    const items = schema?.['items'];
    return value.map((item) => celValue(item, isObject(items) ? items : null));
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined
      ? []
      : [[name, celValue(member, schema === null ? null : memberSchema(schema, name))] as const],
  );
  return Object.fromEntries(members);
}
