import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readServiceConfig } from '../../src/config/read-service-config.js';
import { serviceSchema } from '../../src/config/service-schema.js';

const PATH = join(import.meta.dirname, '../../config/promscaler.yaml');
const TEXT = readFileSync(PATH, 'utf8');

describe('config/promscaler.yaml', () => {
  it('lists the values of an empty file in full', () => {
    const { config, problems } = readServiceConfig(TEXT, 'promscaler.yaml', PATH);

    const spelledOut = JSON.stringify(config).replaceAll(/\s+/g, '');
    const leftOut = JSON.stringify(readServiceConfig('', 'promscaler.yaml', PATH).config).replaceAll(
      /\s+/g,
      '',
    );
    expect(problems).toEqual([]);
    expect(spelledOut).toBe(leftOut);
  });

  it('is valid with its commented lines uncommented, too', () => {
    const full = TEXT.replaceAll(/^( +)# ( *\w+:.*)$/gm, '$1$2');

    const { problems } = readServiceConfig(full, 'promscaler.yaml', PATH);

    expect(problems).toEqual([]);
  });

  it('contains every setting', () => {
    const missing = settingNames(
      JSON.parse(JSON.stringify(serviceSchema.toJSONSchema({ io: 'input' }))),
    ).filter((name) => !new RegExp(`\\b${name}:`).test(TEXT));

    expect(missing).toEqual([]);
  });
});

/** Returns the names of all properties except those of `defaults`, which belong to scaler documents. */
function settingNames(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, additionalProperties } = schema as {
    properties?: Readonly<Record<string, unknown>>;
    additionalProperties?: unknown;
  };
  const below = Object.entries(properties).flatMap(([name, inner]) => [
    name,
    ...(name === 'defaults' ? [] : settingNames(inner)),
  ]);
  return [...below, ...settingNames(additionalProperties)];
}
