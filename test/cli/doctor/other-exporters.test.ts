import { expect, it } from '@jest/globals';
import { findOtherExporter } from '../../../src/cli/doctor/resources/other-exporters.js';

it.each(['constructor', 'toString', '__proto__'])(
  'names no exporter for a resource called %s',
  async (name) => {
    const runQuery = (): Promise<never> => Promise.reject(new Error('nothing is to be asked'));

    expect(await findOtherExporter(runQuery, name)).toBeNull();
  },
);
