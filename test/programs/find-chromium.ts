import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import type { ProgramContext } from '../../src/cli/demo/programs/context.js';
import { findOnPath } from '../../src/cli/demo/programs/find-on-path.js';
import { type Origin, type Program, findProgram } from '../../src/cli/demo/programs/find-program.js';
import { runCommand } from '../../src/cli/demo/programs/run-command.js';

/** Chromium and its brands; the first one on the PATH is used. */
const NAMES = ['chromium', 'google-chrome-stable', 'google-chrome', 'chromium-browser'];

const LISTS_TIMEOUT_MS = 120_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const UNPACK_TIMEOUT_MS = 120_000;

/** Chromium of Debian with the libraries that this machine lacks, unpacked without root. */
const DEBIAN_CHROMIUM: Origin = {
  title: 'the packages of this distribution',
  folder: `chromium-debian-${arch()}`,
  path: () => 'bin/chromium',
  isPossible: async ({ env }) => {
    const tools = await Promise.all(['apt-get', 'dpkg'].map((name) => findOnPath(name, env)));
    return tools.every((path) => path !== null);
  },
  download: downloadChromium,
};

const CHROMIUM: Program = {
  title: 'Chromium',
  binary: 'chromium',
  origins: [DEBIAN_CHROMIUM],
  probe: ['--version'],
  install: {
    'apt-get': 'sudo apt-get install chromium',
    brew: 'brew install --cask chromium',
    dnf: 'sudo dnf install chromium',
  },
  page: 'https://www.chromium.org/getting-involved/download-chromium/',
};

/** Returns the path of Chromium or Chrome. Throws as `findProgram` does. */
export async function findChromium(context: ProgramContext): Promise<string> {
  for (const name of NAMES) {
    const path = await findOnPath(name, context.env);
    if (path !== null) return path;
  }
  return findProgram(context, CHROMIUM);
}

async function downloadChromium(context: ProgramContext, folder: string): Promise<void> {
  const work = join(folder, 'apt');
  const archives = join(work, 'archives');
  await mkdir(join(archives, 'partial'), { recursive: true });
  await mkdir(join(work, 'lists', 'partial'), { recursive: true });
  // Lists and locks of its own: it needs no root, and the lists of the system may be absent or outdated.
  const own = [
    ...option(`Dir::State::lists=${join(work, 'lists')}`),
    ...option(`Dir::Cache=${work}`),
    ...option('APT::Sandbox::User=root'),
    ...option('APT::Update::Post-Invoke::='),
    ...option('Debug::NoLocking=1'),
  ];
  const aptGet = (args: readonly string[], timeoutMs: number): Promise<string> =>
    runCommand(context, { file: 'apt-get', args: ['-qq', ...own, ...args], folder: work, timeoutMs });
  try {
    await aptGet(['update'], LISTS_TIMEOUT_MS);
    const install = ['install', '--yes', '--download-only', '--no-install-recommends', 'chromium'];
    await aptGet(install, DOWNLOAD_TIMEOUT_MS);
    for (const name of await readdir(archives)) {
      if (!name.endsWith('.deb')) continue;
      const args = ['-x', join(archives, name), folder];
      await runCommand(context, { file: 'dpkg', args, folder: work, timeoutMs: UNPACK_TIMEOUT_MS });
    }
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'fonts.conf'), FONTS);
    await writeFile(join(folder, 'bin/chromium'), START, { mode: 0o755 });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function option(text: string): readonly string[] {
  return ['-o', text];
}

/** Finds the unpacked libraries and fonts next to it. */
const START = `#!/bin/sh
set -e
# The PATH may lack the tools that this script needs.
PATH="\${PATH:+$PATH:}/usr/bin:/bin"
here=$(dirname "$(dirname "$(readlink -f "$0")")")
libraries=$(find "$here/usr/lib" "$here/lib" -type d -path '*-linux-gnu*' 2>/dev/null | tr '\\n' ':')
export LD_LIBRARY_PATH="$libraries$here/usr/lib/chromium\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export XDG_DATA_DIRS="$here/usr/share:\${XDG_DATA_DIRS:-/usr/local/share:/usr/share}"
[ -e /etc/fonts/fonts.conf ] || export FONTCONFIG_FILE="$here/fonts.conf"
exec "$here/usr/lib/chromium/chromium" "$@"
`;

/** For a machine without fonts. Paths are relative to this file. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;
