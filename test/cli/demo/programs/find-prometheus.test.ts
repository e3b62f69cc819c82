import { chmod, mkdir, readdir } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MissingProgramError } from '../../../../src/cli/demo/programs/find-program.js';
import { findPrometheus, PROMETHEUS_RELEASE } from '../../../../src/cli/demo/programs/prometheus-release.js';
import { findPromtool } from '../../../programs/find-programs.js';
import { IN_CACHE, type Machine, createMachine } from '../../../programs/machine.js';

let machine: Machine;

beforeEach(async () => {
  machine = await createMachine();
});

afterEach(() => machine.remove());

describe('findPrometheus', () => {
  it('prefers the one on the PATH to the one in the cache', async () => {
    const onPath = await machine.program('bin/prometheus', '');
    await machine.program(`cache/${IN_CACHE}/usr/bin/prometheus`, '');

    expect(await findPrometheus(machine.context())).toBe(onPath);
  });

  it('skips a directory and a file that is not executable', async () => {
    await mkdir(join(machine.root, 'bin/prometheus'), { recursive: true });
    await chmod(await machine.program('bin2/prometheus', ''), 0o644);
    const cached = await machine.program(`cache/${IN_CACHE}/usr/bin/prometheus`, '');

    expect(
      await findPrometheus(
        machine.context({ PATH: `${join(machine.root, 'bin')}:${join(machine.root, 'bin2')}` }),
      ),
    ).toBe(cached);
  });

  it('searches ~/.cache if XDG_CACHE_HOME is unset or not absolute', async () => {
    const cached = await machine.program(`home/.cache/${IN_CACHE}/usr/bin/prometheus`, '');

    for (const XDG_CACHE_HOME of [undefined, '', 'relative']) {
      expect(
        await findPrometheus(machine.context({ XDG_CACHE_HOME, HOME: join(machine.root, 'home') })),
      ).toBe(cached);
    }
  });

  it('unpacks the package into the cache, reports that once, and leaves nothing else there', async () => {
    await machine.debian();
    const reports: string[] = [];

    const found = await findPrometheus(machine.context({}, reports));
    const again = await findPromtool(machine.context({}, reports));

    expect([found, again]).toEqual([machine.cached('prometheus'), machine.cached('promtool')]);
    expect(reports).toEqual([
      expect.stringContaining('downloading Prometheus from the official release'),
      expect.stringContaining('cannot be downloaded from the official release'),
      `downloading Prometheus from the packages of this distribution to ${join(machine.root, 'cache/promscaler')} ...`,
    ]);
    expect(await readdir(join(machine.root, 'cache/promscaler'))).toEqual([`prometheus-debian-${arch()}`]);
    expect(await readdir(join(machine.root, 'cache', IN_CACHE))).toEqual(['usr']);
    expect(await machine.calls()).toEqual(['update', 'download prometheus']);
  });

  it('lets three concurrent runs share one directory', async () => {
    await machine.debian();

    const found = await Promise.all([1, 2, 3].map(() => findPrometheus(machine.context())));

    expect(new Set(found)).toEqual(new Set([machine.cached('prometheus')]));
    expect(await readdir(join(machine.root, 'cache/promscaler'))).toHaveLength(1);
  });

  it('does not use a package that does not run here, and removes it completely', async () => {
    await machine.debian({ program: 'echo "GLIBC_2.99 not found" >&2; exit 1' });

    const finding = findPrometheus(machine.context());

    await expect(finding).rejects.toThrow(MissingProgramError);
    await expect(finding).rejects.toThrow(/GLIBC_2\.99 not found.*sudo apt-get install prometheus$/);
    expect(await readdir(join(machine.root, 'cache/promscaler'))).toEqual([]);
  });

  it.each([
    ['apt-get', 'sudo apt-get install prometheus'],
    ['brew', 'brew install prometheus'],
    ['dnf', 'sudo dnf install golang-github-prometheus'],
    ['pacman', 'sudo pacman -S prometheus'],
    ['emerge', 'https://prometheus.io/download/'],
  ])('prints the command that installs it if there is %s', async (manager, line) => {
    await machine.program(`bin/${manager}`, '');

    const finding = findPrometheus(machine.context({ PATH: join(machine.root, 'bin') }));

    await expect(finding).rejects.toThrow(`/prometheus-${PROMETHEUS_RELEASE.version}.`);
    await expect(finding).rejects.toThrow(
      `: connect ECONNREFUSED 127.0.0.1:1). To install Prometheus: ${line}`,
    );
  });

  it('reports that it has no cache directory if neither HOME nor XDG_CACHE_HOME is set', async () => {
    const finding = findPrometheus(machine.context({ HOME: undefined, XDG_CACHE_HOME: undefined }));

    await expect(finding).rejects.toThrow('neither XDG_CACHE_HOME nor HOME is set');
  });
});
