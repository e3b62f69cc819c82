import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineConfig } from 'vite';

const description = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'));

/**
 * Leaves out what the packages of the what-if panel bring and the page never calls: the writer of JSON Schema in zod,
 * and the syntax highlighting of PromQL. Where a version of a package does not match, only the page is larger.
 */
const WITHOUT_UNUSED = {
  name: 'without-unused',
  transform: {
    filter: { id: [/zod\/v4\/classic\/schemas\.js$/, /lezer-promql\/dist\/index\.es\.js$/] },
    handler: (code) => ({
      code: code
        .replaceAll(/^ *inst\._zod\.processJSONSchema = .*;$/gm, '')
        .replaceAll(/create(?:Standard|To)JSONSchemaMethod\(this, [^)]*\)/g, 'undefined')
        .replace(/^const promQLHighLight = styleTags\(\{[^}]*\}\);$/m, 'const promQLHighLight = () => null;'),
      map: null,
    }),
  },
};

/** The dashboard. Its paths are relative, so that it works behind any path prefix. */
const DASHBOARD = {
  root: 'src/dashboard',
  base: './',
  publicDir: false,
  plugins: [WITHOUT_UNUSED],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    // zod refers to each function of the JSON Schema that it lacks.
    rollupOptions: { checks: { importIsUndefined: false } },
    outDir: '../../dist/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    // Inlined files would be data: URLs, which the Content-Security-Policy rejects.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  logLevel: 'warn',
};

/** The script and the style of `backtest --html`, which writes both into its page. */
const REPORT_PAGE = {
  root: 'src/report-page',
  publicDir: false,
  build: {
    outDir: '../../dist/report-page',
    emptyOutDir: true,
    target: 'es2022',
    cssCodeSplit: false,
    reportCompressedSize: false,
    rollupOptions: {
      input: 'src/report-page/main.ts',
      output: { format: 'iife', entryFileNames: 'report.js', assetFileNames: 'report[extname]' },
    },
  },
  logLevel: 'warn',
};

/** Modules find files of the build from their own place in `dist`, not from that of the bundle. */
const PLACES = {
  name: 'places',
  transform: {
    filter: { id: /\/src\/.*\.ts$/, code: 'import.meta.url' },
    handler: (code, id) => {
      const place = relative(join(import.meta.dirname, 'src'), id).replace(/\.ts$/, '.js');
      return {
        code: code.replaceAll('import.meta.url', `new URL('../${place}', import.meta.url).href`),
        map: null,
      };
    },
  },
};

/**
 * Leaves out what axios loads and the service never calls: requests by `fetch` and forms. They bring a table of MIME
 * types and undici, which Node.js loads at the first use of its classes. Where a version of axios does not match, it
 * only loads more.
 */
const WITHOUT_FETCH = {
  name: 'without-fetch',
  load: {
    filter: {
      id: [/axios\/lib\/adapters\/fetch\.js$/, /axios\/lib\/platform\/node\/classes\/FormData\.js$/],
    },
    handler: () => 'export default null; export const getFetch = () => null;',
  },
  transform: {
    filter: { id: /axios\/lib\/utils\.js$/ },
    handler: (code) => ({ code: code.replace("typeof G.FormData !== 'undefined'", 'false'), map: null }),
  },
};

/** V8 keeps the text of a file in half the memory if it has no character beyond Latin-1. */
const LATIN_1 = {
  name: 'latin-1',
  generateBundle: (_, files) => {
    for (const file of Object.values(files))
      if (file.type === 'chunk') file.code = withoutWideCharacters(file.code);
  },
};

/** They occur in strings and comments only. */
function withoutWideCharacters(code) {
  return code.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Loads `http` as CommonJS: `import` reads each of its fields, and the one of `WebSocket` loads undici, which takes 60 ms.
 */
const HTTP = '\0http';
const WITHOUT_WEBSOCKET = {
  name: 'without-websocket',
  enforce: 'pre',
  resolveId: {
    filter: { id: /^(node:)?http$/ },
    handler: (id, importer) => (importer === HTTP ? { id, external: true } : HTTP),
  },
  load: { filter: { id: /^\0http$/ }, handler: () => "module.exports = require('node:http');" },
};

const LEGAL_COMMENTS = { legal: true, annotation: false, jsdoc: false };

/**
 * The tables of iconv-lite are for bodies of requests, which the service rejects. The scale benchmark observes the
 * histograms of prom-client.
 */
const LEFT_OUT = ['iconv-lite', 'prom-client', ...Object.keys(description.optionalDependencies)];

/**
 * The program in few files: those of `run` load in less than half the time of a thousand modules and take 24 MB less.
 * Its workers and the demo are not bundled.
 */
const BUNDLE = {
  publicDir: false,
  plugins: [PLACES, WITHOUT_FETCH, WITHOUT_WEBSOCKET, LATIN_1],
  ssr: { noExternal: true, external: LEFT_OUT },
  build: {
    outDir: 'dist/bundle',
    emptyOutDir: true,
    ssr: true,
    target: 'es2022',
    minify: false,
    sourcemap: true,
    reportCompressedSize: false,
    rollupOptions: {
      input: 'src/cli/main.ts',
      external: /\/demo\/demo\.js$/,
      output: { entryFileNames: '[name].js', chunkFileNames: '[name].js', comments: LEGAL_COMMENTS },
    },
  },
  logLevel: 'warn',
};

const CONFIGS = { 'report-page': REPORT_PAGE, bundle: BUNDLE };

/** `vite build`, `vite build --mode report-page` and `vite build --mode bundle`. */
export default defineConfig(({ mode }) => CONFIGS[mode] ?? DASHBOARD);
