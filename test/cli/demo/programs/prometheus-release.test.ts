import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  debianPackage,
  PROMETHEUS,
  PROMETHEUS_RELEASE,
  prometheusRelease,
} from '../../../../src/cli/demo/programs/prometheus-release.js';
import {
  MissingProgramError,
  type ProgramContext,
  findProgram,
} from '../../../../src/cli/demo/programs/find-program.js';
import { type Machine, createMachine } from '../../../programs/machine.js';
import { tarOf, zipOf } from './archive-builder.js';

const NAME = 'prometheus-9.9.9.linux-amd64';
const TOOL = Buffer.from('#!/bin/sh\nexit 0\n');
const ARCHIVE = gzipSync(tarOf({ [`${NAME}/prometheus`]: TOOL, [`${NAME}/promtool`]: TOOL }));
const PATH = `/v9.9.9/${NAME}.tar.gz`;

let machine: Machine;
let server: Server;
let answer: RequestListener;
let paths: string[];

beforeEach(async () => {
  machine = await createMachine();
  paths = [];
  answer = (_request, response) => response.end(ARCHIVE);
  server = createServer((request, response) => {
    paths.push(request.url ?? '');
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await machine.remove();
});

const base = (): string => {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`;
};

const context = (reports: string[] = [], mirror = base()): ProgramContext =>
  machine.context({ PROMSCALER_PROMETHEUS_MIRROR: mirror }, reports);

interface Case {
  readonly archive?: Buffer;
  readonly system?: string;
  readonly limits?: { readonly bytes: number; readonly totalMs: number; readonly idleMs: number };
}

const find = (
  { archive = ARCHIVE, system = 'linux-amd64', limits }: Case = {},
  from: ProgramContext = context(),
): Promise<string> => {
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const release = {
    version: '9.9.9',
    archives: { 'linux-x64': { system, sha256 }, 'win32-x64': { system, sha256 } },
  };
  const machineName = system.startsWith('windows') ? 'win32-x64' : 'linux-x64';
  const own = prometheusRelease({
    release,
    machine: machineName,
    ...(limits === undefined ? {} : { limits }),
  });
  return findProgram(from, { ...PROMETHEUS, origins: [own, debianPackage('prometheus')] });
};

const inCache = (): Promise<readonly string[]> => readdir(join(machine.root, 'cache/promscaler'));

const LIMITS = { bytes: 1_000_000, totalMs: 60_000, idleMs: 60_000 };

describe('prometheusRelease', () => {
  it('has a sum for Linux, macOS and Windows on amd64 and arm64', () => {
    const machines = ['linux', 'darwin', 'win32'].flatMap((os) => [`${os}-x64`, `${os}-arm64`]);

    expect(Object.keys(PROMETHEUS_RELEASE.archives).sort()).toEqual(machines.sort());
    for (const { sha256 } of Object.values(PROMETHEUS_RELEASE.archives))
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('downloads the release of this machine from the mirror once, and keeps only its programs', async () => {
    const reports: string[] = [];

    const found = await find({}, context(reports, `${base()}/mirror/`));
    const again = await find({}, context(reports));

    expect([found, again]).toEqual(Array(2).fill(join(machine.root, 'cache/promscaler', NAME, 'prometheus')));
    expect(paths).toEqual([`/mirror${PATH}`]);
    expect(await readdir(join(machine.root, 'cache/promscaler', NAME))).toEqual(['prometheus', 'promtool']);
    expect(reports).toEqual([
      `downloading Prometheus from the official release 9.9.9 to ${join(machine.root, 'cache/promscaler')} ...`,
    ]);
  });

  it('unpacks the zip of Windows', async () => {
    const name = 'prometheus-9.9.9.windows-amd64';
    const programs = { [`${name}/prometheus.exe`]: TOOL, [`${name}/promtool.exe`]: TOOL };
    const zip = zipOf(programs, { method: 'deflated' });
    answer = (_request, response) => response.end(zip);

    expect(await find({ archive: zip, system: 'windows-amd64' })).toBe(
      join(machine.root, 'cache/promscaler', name, 'prometheus.exe'),
    );
    expect(paths).toEqual([`/v9.9.9/${name}.zip`]);
  });

  it('follows a redirect to another path', async () => {
    answer = ({ url }, response) => {
      if (url === PATH) response.writeHead(302, { location: '/storage' }).end();
      else response.end(ARCHIVE);
    };

    await find();

    expect(paths).toEqual([PATH, '/storage']);
  });

  it('reports the progress, and clears it at the end', async () => {
    const texts: string[] = [];

    await find({}, { ...context(), progress: (text) => void texts.push(text) });

    expect(texts).toEqual(['0 of 1 MiB', '']);
  });

  const failures: readonly (readonly [string, RequestListener, RegExp, Case])[] = [
    [
      'a tampered file',
      (_request, response) => response.end(Buffer.concat([ARCHIVE, Buffer.from('x')])),
      /the SHA-256 sum of the file is [0-9a-f]{64}, must be [0-9a-f]{64}/,
      {},
    ],
    [
      'a connection that is closed too early',
      (_request, response) => {
        response.writeHead(200, { 'content-length': ARCHIVE.length });
        response.write(ARCHIVE.subarray(0, 50), () => response.destroy());
      },
      new RegExp(`the connection was closed after 50 of ${ARCHIVE.length} bytes`),
      {},
    ],
    [
      'a file that is too short',
      (_request, response) => response.end(ARCHIVE.subarray(0, 50)),
      /the SHA-256 sum of the file is/,
      {},
    ],
    ['a missing file', (_request, response) => response.writeHead(404).end(), /status code 404/, {}],
    [
      'endless redirects',
      (_request, response) => response.writeHead(302, { location: PATH }).end(),
      /redirects exceeded/,
      {},
    ],
    [
      'a length above the limit',
      (_request, response) => response.writeHead(200, { 'content-length': 1001 }).end(Buffer.alloc(1001)),
      /the file has 1001 bytes, at most 1000 are expected/,
      { limits: { ...LIMITS, bytes: 1000 } },
    ],
    [
      'more bytes than the limit without a length',
      (_request, response) => {
        response.write(Buffer.alloc(600));
        response.end(Buffer.alloc(401));
      },
      /the file has more than 1000 bytes/,
      { limits: { ...LIMITS, bytes: 1000 } },
    ],
    [
      'no byte for 50 ms',
      (_request, response) => void response.write(ARCHIVE.subarray(0, 50)),
      /timeout after 50 ms/,
      { limits: { ...LIMITS, idleMs: 50 } },
    ],
    ['no answer for 50 ms', () => undefined, /timeout after 50 ms/, { limits: { ...LIMITS, idleMs: 50 } }],
    [
      'a byte every 10 ms for 100 ms',
      (_request, response) => {
        const timer = setInterval(() => response.write('x'), 10);
        response.on('close', () => clearInterval(timer));
      },
      /timeout after 100 ms/,
      { limits: { ...LIMITS, totalMs: 100 } },
    ],
    [
      'an archive without promtool',
      (_request, response) => response.end(gzipSync(tarOf({ [`${NAME}/prometheus`]: TOOL }))),
      /the archive has no regular file prometheus-9.9.9.linux-amd64\/promtool of at most 536870912 bytes/,
      { archive: gzipSync(tarOf({ [`${NAME}/prometheus`]: TOOL })) },
    ],
  ];

  it.each(failures)(
    'uses the package of Debian after %s, and keeps nothing of it',
    async (_name, failing, why, given) => {
      await machine.debian();
      answer = failing;
      const reports: string[] = [];

      expect(await find(given, context(reports))).toBe(machine.cached('prometheus'));

      expect(reports[1]).toMatch(
        new RegExp(`^Prometheus cannot be downloaded from the official release 9.9.9: ${base()}${PATH}: `),
      );
      expect(reports[1]).toMatch(why);
      expect(await inCache()).toHaveLength(1);
    },
  );

  it('prints all reasons and the command that installs it if there is no package, without the password of the mirror', async () => {
    await machine.program('bin/brew', '');
    answer = (_request, response) => response.writeHead(404).end();

    const finding = find({}, context([], base().replace('//', '//me:secret@')));

    await expect(finding).rejects.toThrow(MissingProgramError);
    await expect(finding).rejects.toThrow(
      `cannot be downloaded (${base()}${PATH}: Request failed with status code 404). To install Prometheus: brew install prometheus`,
    );
  });

  it('rejects a mirror that is no URL', async () => {
    await expect(find({}, context([], 'ftp://mirror'))).rejects.toThrow(
      'PROMSCALER_PROMETHEUS_MIRROR is not a URL that begins with http:// or https://',
    );
  });

  it('ends when it is interrupted, and tries no other source', async () => {
    await machine.debian();
    const stop = new AbortController();
    answer = (_request, response) => {
      response.write(ARCHIVE.subarray(0, 50));
      stop.abort(new Error('interrupted'));
    };

    await expect(find({}, { ...context(), signal: stop.signal })).rejects.toThrow('interrupted');

    expect(await inCache()).toEqual([]);
  });

  it('lets three concurrent starts end with one complete directory', async () => {
    const found = await Promise.all([1, 2, 3].map(() => find()));

    expect(new Set(found).size).toBe(1);
    expect(await inCache()).toEqual([NAME]);
  });
});
