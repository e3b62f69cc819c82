import { describe, expect, it } from '@jest/globals';
import * as z from 'zod';
import { serviceSchema } from '../../../src/config/service-schema.js';
import { checkSchema } from '../../../src/scaler/schema/check-schema.js';
import { formatPath, type Path } from '../../../src/scaler/problems/finding.js';
import { documentSchema } from '../../../src/scaler/schema/document-schema.js';
import { isPlainObject } from '../../../src/scaler/plain-json.js';

interface NumericField {
  readonly path: Path;
  readonly least: number;
}

/** Returns the path of every schema field that is a number and accepts no string. */
function numericFields(schema: z.core.$ZodType, path: Path = []): readonly NumericField[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return numericFields(schema.unwrap(), path);
  if (schema instanceof z.ZodObject && isPlainObject(schema.shape))
    return Object.entries(schema.shape as Record<string, z.core.$ZodType>).flatMap(([key, field]) =>
      numericFields(field, [...path, key]),
    );
  if (schema instanceof z.ZodArray) return numericFields(schema.element, [...path, 0]);
  if (schema instanceof z.ZodRecord) return numericFields(schema.valueType, [...path, 'default']);
  return schema instanceof z.ZodNumber ? [{ path, least: schema.minValue ?? 0 }] : [];
}

function nested(path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  return typeof step === 'number' ? [nested(rest, value)] : { [step]: nested(rest, value) };
}

/** Returns the message for the value at the path, with nothing else in the document. */
function messageAt(schema: z.ZodType, path: Path, value: unknown): string {
  const { findings } = checkSchema(schema, nested(path, value));
  const found = findings.filter((one) => formatPath(one.path) === formatPath(path));
  return found.map(({ message }) => message).join('\n');
}

const FIELDS = [
  ...numericFields(documentSchema).map((field) => ({ ...field, schema: documentSchema, of: 'document' })),
  ...numericFields(serviceSchema).map((field) => ({ ...field, schema: serviceSchema, of: 'service config' })),
].map((field) => ({ ...field, name: formatPath(field.path) }));

describe('a string where a number is needed', () => {
  it('is checked in every numeric field: more than 25 of the document, 20 of the service config', () => {
    const count = (of: string): number => FIELDS.filter((field) => field.of === of).length;

    expect([count('document') > 25, count('service config') > 20]).toEqual([true, true]);
  });

  it.each(FIELDS)('$of: $name in quotes: the hint says to remove them', ({ schema, path, least }) => {
    const message = messageAt(schema, path, String(least));

    expect(message).toContain(`is "${least}", must be`);
    expect(message).toMatch(/: remove the quotes$/);
  });

  it.each(FIELDS.filter(({ name }) => /seconds$/i.test(name)))(
    '$of: $name as a duration: the hint has the seconds',
    ({ schema, path }) => {
      expect(messageAt(schema, path, '60s')).toMatch(/must be an integer number of seconds: write 60$/);
    },
  );

  const seconds = ['spec', 'cooldownSeconds'];
  it.each([
    ['5m', ': write 300'],
    ['1h', ': write 3600'],
    ['90s', ': write 90'],
    ['1d', ': write 86400'],
    ['1h30m', ': write 5400'],
    ['5m0s', ': write 300'],
    ['1.5h', ': write 5400'],
    ['5 min', ': write 300'],
    ['2 Minutes', ': write 120'],
    ['2d', ' that is at most 86400: 2d is 172800 seconds'],
    ['100000', ' that is at most 86400: remove the quotes'],
    ['500ms', ''],
    ['1.5s', ''],
    ['5x', ''],
    ['m', ''],
    ['5m and more', ''],
    ['', ''],
    ['9'.repeat(400), ''],
    ['-5m', ''],
  ])('of seconds: %j ends with %j', (text, hint) => {
    const message = messageAt(documentSchema, seconds, text);

    expect(message.slice(message.indexOf('seconds', 30) + 'seconds'.length)).toBe(hint);
  });

  it.each([
    [['spec', 'minReplicas'], '5m', 'must be an integer'],
    [['spec', 'minReplicas'], ' 3 ', 'must be an integer: remove the quotes'],
    [['spec', 'minReplicas'], '2.5', 'must be an integer'],
    [['spec', 'maxReplicas'], '0', 'must be an integer that is at least 1: remove the quotes'],
    [['spec', 'scaleUpLimitFactor'], '1.5', 'must be a number: remove the quotes'],
    [['spec', 'maxScaleDownPercentPerWindow'], '25%', 'must be an integer: write 25'],
    [
      ['spec', 'metrics', 0, 'resource', 'target', 'averageUtilization'],
      '60 %',
      'must be an integer: write 60',
    ],
  ])('%j as %j: %s', (path, text, rule) => {
    const message = messageAt(documentSchema, path, text);

    expect(message.slice(message.indexOf('must be'))).toBe(rule);
  });
});

describe('a string that is not a quantity', () => {
  const memory = ['spec', 'metrics', 0, 'resource', 'target', 'averageValue'];

  const either = (decimal: string, binary: string): string =>
    `: write ${decimal} (powers of 1000) or ${binary} (powers of 1024)`;
  it.each([
    ['500MB', either('500M', '500Mi')],
    ['500mb', either('500M', '500Mi')],
    ['64KB', either('64k', '64Ki')],
    ['64K', either('64k', '64Ki')],
    ['1GB', either('1G', '1Gi')],
    ['1g', either('1G', '1Gi')],
    ['1.5 GB', either('1.5G', '1.5Gi')],
    ['2TB', either('2T', '2Ti')],
    ['1GiB', ': write 1Gi'],
    ['512KiB', ': write 512Ki'],
    ['1 Gi', ': write 1Gi'],
    ['1gi', ': write 1Gi'],
    ['500 m', ': write 500m'],
    ['1024 bytes', ': write 1024'],
    ['1024B', ': write 1024'],
    ['30x', ', such as 50, "500m" or "1Gi"'],
    ['GB', ', such as 50, "500m" or "1Gi"'],
    ['0MB', ', such as 50, "500m" or "1Gi"'],
    ['-1', ', such as 50, "500m" or "1Gi"'],
    ['60%', ', such as 50, "500m" or "1Gi"'],
    [`${'1'.repeat(200)}MB`, ', such as 50, "500m" or "1Gi"'],
  ])('is reported for %j with the ending %j', (text, hint) => {
    const message = messageAt(documentSchema, memory, text);

    expect(message.slice(message.indexOf('above 0') + 'above 0'.length)).toBe(hint);
  });

  it('has a hint with the fraction, 0.1, for a tolerance of 10%', () => {
    expect(messageAt(documentSchema, ['spec', 'tolerance'], '10%')).toMatch(/of at least 0: write 0\.1$/);
  });
});
