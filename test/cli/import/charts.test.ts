import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../fake-io.js';

/**
 * Manifests in the shape of well-known charts and documentation. `NAME.yaml` is the input, `NAME.adapter.yaml` the config
 * of prometheus-adapter if there is one, `NAME.out.yaml` and `NAME.err.txt` are the expected output.
 */
const DIRECTORY = join(import.meta.dirname, 'charts');
const NAMES = readdirSync(DIRECTORY)
  .filter((file) => /^[a-z-]+\.yaml$/.test(file))
  .map((file) => file.slice(0, -'.yaml'.length));

function read(file: string): string | null {
  const path = join(DIRECTORY, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

describe('import of manifests in the shape of', () => {
  it.each(NAMES)('%s prints the expected documents and remarks', async (name) => {
    const adapter = read(`${name}.adapter.yaml`);
    const cwd = folderOf({
      [`${name}.yaml`]: read(`${name}.yaml`) ?? '',
      ...(adapter === null ? {} : { [`${name}.adapter.yaml`]: adapter }),
    });
    const options = adapter === null ? [] : ['--adapter-config', `${name}.adapter.yaml`];
    const ran = await runCli(['import', '-n', 'default', `${name}.yaml`, ...options], { cwd });

    expect(ran.stdout).toBe(read(`${name}.out.yaml`));
    expect(ran.stderr).toBe(read(`${name}.err.txt`) ?? '');
    expect(ran.exitCode).toBe(0);
    const validated = await runCli(['validate', '-'], { stdin: ran.stdout });
    const isOpen = /: FILL IN$/m.test(ran.stdout);
    expect(validated.exitCode).toBe(isOpen ? 1 : 0);
    expect(validated.stdout.includes('[placeholder]')).toBe(isOpen);
  });

  it('includes eight of them', () => {
    expect(NAMES).toHaveLength(8);
  });
});
