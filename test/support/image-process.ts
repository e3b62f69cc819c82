import { readFileSync } from 'node:fs';

/** Tests and scripts run in the package directory. */
const DOCKERFILE = readFileSync('Dockerfile', 'utf8');

function lineOf(instruction: string): string {
  return new RegExp(`^${instruction} (.*)$`, 'm').exec(DOCKERFILE)?.[1] ?? '';
}

const words = JSON.parse(lineOf('ENTRYPOINT')) as readonly string[];

/** How the image starts Node.js. */
export const IMAGE_FLAGS: readonly string[] = words.slice(1, -1);

/** Path of the program in the directory of the image. */
export const IMAGE_PROGRAM: string = words.at(-1)?.replace(`${lineOf('WORKDIR')}/`, '') ?? '';

/** Its variables, without NODE_ENV. */
export const IMAGE_ENV: Readonly<Record<string, string>> = Object.fromEntries(
  lineOf('ENV')
    .split(' ')
    .map((word) => word.split('=', 2) as [string, string])
    .filter(([name]) => name !== 'NODE_ENV'),
);

/** The user and the group that it runs as. */
export const IMAGE_USER: readonly number[] = lineOf('USER').split(':').map(Number);
