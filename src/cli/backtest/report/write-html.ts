import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describeReadError } from '../../../config/describe-read-error.js';
import type { PageData } from '../../../backtest/report/page-data.js';
import type { OutputFile } from '../../output/output-file.js';
import { CommandError } from '../../process/io.js';

/** Built by Vite from `src/report-page`. */
const BUILT = '../../../report-page/';

/** Writes a page that needs no other file and no network. Throws `CommandError`. */
export async function writeHtml(file: OutputFile, data: PageData): Promise<void> {
  const [script, style] = await Promise.all(['report.js', 'report.css'].map(readBuilt));
  await file.write(pageText(data, { script: script ?? '', style: style ?? '' }));
}

async function readBuilt(name: string): Promise<string> {
  try {
    return await readFile(fileURLToPath(new URL(BUILT + name, import.meta.url)), 'utf8');
  } catch (error) {
    throw new CommandError(
      `--html: reading ${name} of promscaler: ${describeReadError(error)}. Run npm run build`,
    );
  }
}

/** Returns the page. Its policy allows only its own script and style, so names in the data cannot run as code. */
export function pageText(
  data: PageData,
  { script, style }: { readonly script: string; readonly style: string },
): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  // In a script element, only `<` could end the script.
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Back-test - promscaler</title>
<style>${style}</style>
</head>
<body>
<main id="report"></main>
<noscript>The charts and the table need JavaScript.</noscript>
<script id="data" type="application/json">${json}</script>
<script>${script}</script>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
