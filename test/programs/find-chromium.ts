import { mkdir, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import { hasDebianPackages, unpackDebianPackages } from '../../src/cli/demo/programs/prometheus-release.js';
import {
  type Origin,
  type Program,
  type ProgramContext,
  findOnPath,
  findProgram,
} from '../../src/cli/demo/programs/find-program.js';

/** Chromium and its brands; the first one on the PATH is used. */
const NAMES = ['chromium', 'google-chrome-stable', 'google-chrome', 'chromium-browser'];

/** Directories of a Mac, which are not on the PATH, and the programs in them. */
const APPLICATIONS = [
  ['/Applications/Chromium.app/Contents/MacOS', 'Chromium'],
  ['/Applications/Google Chrome.app/Contents/MacOS', 'Google Chrome'],
] as const;

/** Chromium of Debian with the libraries that this machine lacks, unpacked without root. */
const DEBIAN_CHROMIUM: Origin = {
  title: 'the packages of this distribution',
  directory: `chromium-debian-${arch()}`,
  path: () => 'bin/chromium',
  isPossible: hasDebianPackages,
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
  for (const [directory, name] of APPLICATIONS) {
    const path = await findOnPath(name, { PATH: directory });
    if (path !== null) return path;
  }
  return findProgram(context, CHROMIUM);
}

async function downloadChromium(context: ProgramContext, directory: string): Promise<void> {
  const install = ['install', '--yes', '--download-only', '--no-install-recommends', 'chromium'];
  await unpackDebianPackages(context, install, directory);
  await mkdir(join(directory, 'bin'));
  await writeFile(join(directory, 'fonts.conf'), FONTS);
  await writeFile(join(directory, 'bin/chromium'), START, { mode: 0o755 });
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
