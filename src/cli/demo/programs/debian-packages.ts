import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import type { ProgramContext } from './context.js';
import { findOnPath } from './find-on-path.js';
import type { Origin } from './find-program.js';
import { runCommand } from './run-command.js';

const LISTS_TIMEOUT_MS = 120_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const UNPACK_TIMEOUT_MS = 60_000;

/** Returns a package of Debian, Ubuntu or a derivative as the source of a program. */
export function debianPackage(name: string): Origin {
  return {
    title: 'the packages of this distribution',
    folder: `${name}-debian-${arch()}`,
    path: (binary) => `usr/bin/${binary}`,
    isPossible: hasDebianPackages,
    download: (context, folder) => downloadDebianPackages(context, [name], folder),
  };
}

async function hasDebianPackages(context: ProgramContext): Promise<boolean> {
  const tools = await Promise.all(['apt-get', 'dpkg'].map((name) => findOnPath(name, context.env)));
  return tools.every((path) => path !== null);
}

/**
 * Unpacks packages, without dependencies, into the directory `folder` (`usr/bin/...`). Needs no root and installs
 * nothing. If the package lists of the system are absent or outdated, downloads temporary ones. Throws on failure.
 */
async function downloadDebianPackages(
  context: ProgramContext,
  packages: readonly string[],
  folder: string,
): Promise<void> {
  const work = join(folder, 'apt');
  await mkdir(work, { recursive: true });
  try {
    await download(context, packages, work);
    for (const name of await readdir(work)) {
      if (!name.endsWith('.deb')) continue;
      await runCommand(context, {
        file: 'dpkg',
        args: ['-x', join(work, name), folder],
        folder: work,
        timeoutMs: UNPACK_TIMEOUT_MS,
      });
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function download(context: ProgramContext, packages: readonly string[], work: string): Promise<void> {
  const aptGet = (options: readonly string[], timeoutMs: number): Promise<string> =>
    runCommand(context, { file: 'apt-get', args: ['-qq', ...options], folder: work, timeoutMs });
  try {
    await aptGet(['download', ...packages], DOWNLOAD_TIMEOUT_MS);
  } catch {
    const own = await ownState(work);
    await aptGet(['update', ...own], LISTS_TIMEOUT_MS);
    await aptGet(['download', ...own, ...packages], DOWNLOAD_TIMEOUT_MS);
  }
}

/**
 * Returns options that keep lists, cache and locks of apt below `work`, and use the sources and keys of the system.
 * Disables the hooks that run after an update (clear caches, build an index), because they change the system.
 */
async function ownState(work: string): Promise<readonly string[]> {
  const state = join(work, 'state');
  const cache = join(work, 'cache');
  await mkdir(join(state, 'lists', 'partial'), { recursive: true });
  await mkdir(join(cache, 'archives', 'partial'), { recursive: true });
  const config = join(work, 'apt.conf');
  const lines = [
    `Dir::State ${JSON.stringify(state)};`,
    'Dir::State::status "/var/lib/dpkg/status";',
    `Dir::Cache ${JSON.stringify(cache)};`,
    // As root, apt downloads as another user, who cannot write to this directory.
    'APT::Sandbox::User "root";',
    '#clear APT::Update::Post-Invoke;',
    '#clear APT::Update::Post-Invoke-Success;',
  ];
  await writeFile(config, lines.map((line) => `${line}\n`).join(''));
  return ['-c', config];
}
