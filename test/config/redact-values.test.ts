import { describe, expect, it } from '@jest/globals';
import * as z from 'zod';
import { readServiceConfig } from '../../src/config/read-service-config.js';
import { serviceSchema } from '../../src/config/service-schema.js';
import { formatProblem } from '../../src/scaler/problems/problem.js';

const CANARY = 'canary7f3a';

const KEY = `Key_${CANARY}`;
const NUMBER = 20_261_122_000_001;

/** Values that a field may have by mistake. */
const MISTAKES: readonly (readonly [string, unknown])[] = [
  ['a string', CANARY],
  ['a string with spaces', `Bearer ${CANARY} x`],
  ['a long string', `${CANARY}-`.repeat(20)],
  ['a URL with a user', `https://reader:${CANARY}@prometheus:9090`],
  ['a URL with a query string', `https://prometheus:9090/?token=${CANARY}`],
  ['an object', { [KEY]: CANARY, file: CANARY }],
  ['an object of objects', { [KEY]: { [KEY]: [CANARY] } }],
  ['a list', [CANARY, { [KEY]: CANARY }]],
  ['a query', `rate(${CANARY}{a="${CANARY}"}[5m`],
  ['a variable', `$${CANARY}`],
  ['an empty list', []],
  ['a number', NUMBER],
];

const PLACES = placesOf(serviceSchema, []);

describe('readServiceConfig', () => {
  it('has more than 70 fields to test', () => {
    expect(PLACES.length).toBeGreaterThan(70);
  });

  it.each(PLACES.map((path) => [path.join('.'), path] as const))(
    'prints nothing of an invalid value at %s',
    (_name, path) => {
      for (const [what, mistake] of MISTAKES) {
        for (const indent of [0, 2]) {
          const text = JSON.stringify(nested(path, mistake), null, indent);
          const { problems } = readServiceConfig(text, 'promscaler.yaml');
          const shown = problems.map((problem) => `${formatProblem(problem)}\n${JSON.stringify(problem)}`);
          expect([what, ...shown].join('\n')).not.toMatch(new RegExp(`${CANARY}|${NUMBER}`, 'i'));
        }
      }
    },
  );

  it.each([
    `password: ${CANARY}: x`,
    `prometheus: { default: { urls: [http://u:${CANARY}@h } }`,
    `prometheus:\n  default:\n    headers:\n      X-Scope-OrgID: "${CANARY}`,
    `prometheus:\n  default:\n   headers:\n    ${CANARY}: a\n     b: c`,
    `prometheus: &${CANARY} {}\nlog: *${CANARY}`,
    `prometheus: *${CANARY}`,
    `prometheus: !${CANARY} x`,
    `prometheus: "\\${CANARY}"`,
    `prometheus: '${CANARY}' ${CANARY}`,
    `prometheus: @${CANARY}`,
    `prometheus: |${CANARY}\n  x`,
    `%${CANARY} x\n---\nprometheus: {}`,
    `prometheus: {}\n# ${CANARY}\nlog: [`,
    `${CANARY}: 1\n${CANARY}: 2`,
    `? [${CANARY}]\n: x`,
    CANARY,
    `- ${CANARY}`,
    `log: {}\n--- ${CANARY}\n`,
    `prometheus: { default: { ${CANARY}: 1 } }`,
    `%YAML ${CANARY}\n---\nprometheus: {}`,
    `prometheus: { default: { headers: { "X ${CANARY}": a } } }`,
    `prometheus: { default: { headers: { Authorization: a, authorization: ${CANARY} } , bearerTokenFile: ${CANARY} } }`,
    `prometheus: { "${CANARY} x": {} }`,
    `prometheus: { default: { timeoutSeconds: 5m } } # ${CANARY}`,
    `kubernetes: { namespaces: ["${CANARY}/", ${CANARY.toUpperCase()}] }`,
  ])('prints nothing of %j', (text) => {
    const { config, problems } = readServiceConfig(text, 'promscaler.yaml');

    expect(config).toBeNull();
    expect(problems).not.toEqual([]);
    expect(shownOf(text).toLowerCase()).not.toContain(CANARY);
  });

  it('prints the field, the rule, the number, and the line if it contains nothing else', () => {
    const text = 'prometheus:\n  default:\n    timeoutSeconds: 5m\nlog: { level: warning }\n';

    expect(shownOf(text)).toBe(
      [
        'promscaler.yaml:3:21: error: prometheus.default.timeoutSeconds is "5m", must be an integer number of seconds: write 300 [wrong-type]',
        '   3 |     timeoutSeconds: 5m',
        '     |                     ^',
        'promscaler.yaml:4:15: error: log.level is "***", must be one of debug, info, warn, error; did you mean "warn"? [wrong-value]',
      ].join('\n') + '\n',
    );
  });
});

/** Returns the problems as the CLI prints them. */
function shownOf(text: string): string {
  const { problems } = readServiceConfig(text, 'promscaler.yaml');
  return `${problems.map(formatProblem).join('\n')}\n`;
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, step) => (step === '0' ? [inner] : { [step]: inner }), value);
}

/** Returns the path of every field of the schema, nested ones included; records and lists with one entry. */
function placesOf(schema: z.core.$ZodType, path: readonly string[]): readonly (readonly string[])[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return placesOf(schema.unwrap(), path);
  const here = path.length === 0 ? [] : [path];
  if (schema instanceof z.ZodArray) return [...here, ...placesOf(schema.element, [...path, '0'])];
  if (schema instanceof z.ZodRecord) return [...here, ...placesOf(schema.valueType, [...path, 'default'])];
  if (!(schema instanceof z.ZodObject)) return here;
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
  return [...here, ...Object.entries(shape).flatMap(([name, member]) => placesOf(member, [...path, name]))];
}
