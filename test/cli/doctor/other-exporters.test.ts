import { expect, it } from '@jest/globals';
import { findOtherExporter } from '../../../src/cli/doctor/checks/other-exporters.js';

it.each(['constructor', 'toString', '__proto__'])(
  'no exporter is known for a resource called %s',
  async (name) => {
    const ask = (): Promise<never> => Promise.reject(new Error('nothing is to be asked'));

    expect(await findOtherExporter(ask, name)).toBeNull();
  },
);
