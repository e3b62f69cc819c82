import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import { type Origin, type ProgramContext, findOnPath } from './find-program.js';
import { runCommand } from './child-process.js';

const TIMEOUT_MS = 300_000;

/** Returns an origin that downloads a program as a package of Debian, Ubuntu or a derivative. */
export function debianPackage(name: string): Origin {
  return {
    title: 'the packages of this distribution',
    folder: `${name}-debian-${arch()}`,
    path: (binary) => `usr/bin/${binary}`,
    isPossible: hasDebianPackages,
    download: (context, folder) => unpackDebianPackages(context, ['download', name], folder),
  };
}

export async function hasDebianPackages({ env }: ProgramContext): Promise<boolean> {
  return (await findOnPath('apt-get', env)) !== null && (await findOnPath('dpkg', env)) !== null;
}

/**
 * Runs a command of apt-get that downloads packages, and unpacks them into `folder`. Needs no root and installs
 * nothing. Lists, cache and locks of apt are in a temporary directory, while sources and keys are those of the system.
 */
export async function unpackDebianPackages(
  context: ProgramContext,
  command: readonly string[],
  folder: string,
): Promise<void> {
  const work = join(folder, 'apt');
  const run = (file: string, args: readonly string[]): Promise<string> =>
    runCommand(context, { file, args, folder: work, timeoutMs: TIMEOUT_MS });
  for (const part of ['lists', 'archives']) await mkdir(join(work, part, 'partial'), { recursive: true });
  try {
    await writeFile(join(work, 'apt.conf'), configOf(work));
    const aptGet = ['-qq', '-c', join(work, 'apt.conf')];
    await run('apt-get', [...aptGet, 'update']);
    await run('apt-get', [...aptGet, ...command]);
    // `apt-get download` writes to the current directory, `apt-get install --download-only` to the directory of
    // archives.
    for (const name of (await readdir(work, { recursive: true })).sort())
      if (name.endsWith('.deb')) await run('dpkg', ['-x', join(work, name), folder]);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Disables the hooks that run after an update (clear caches, build an index), because they change the system. */
function configOf(work: string): string {
  return `Dir::State::lists ${JSON.stringify(join(work, 'lists'))};
Dir::Cache ${JSON.stringify(work)};
Debug::NoLocking "true";
// As root, apt downloads as another user, who cannot write to this directory.
APT::Sandbox::User "root";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
`;
}
