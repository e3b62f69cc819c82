import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineConfig } from 'vite';

const description = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'));

/**
 * Replaces what the packages of the what-if panel import and the page never calls: the JSON Schema of zod, its compiler
 * and its messages, and the syntax highlighting of PromQL. They are 8 KB of its 130 KB.
 */
const UNUSED = join(import.meta.dirname, 'src/dashboard/unused.mjs');
const WITHOUT_UNUSED = [
  '../core/json-schema-processors.js',
  '../core/to-json-schema.js',
  './doc.js',
  '../locales/en.js',
  '@lezer/highlight',
].map((find) => ({ find, replacement: UNUSED }));

/** The descriptions of the fields of a document, which the page does not show. */
const WITHOUT_DESCRIPTIONS = {
  name: 'without-descriptions',
  enforce: 'pre',
  transform: {
    filter: { id: /\/src\/scaler\/schema\/.*\.ts$/ },
    handler: (code) => ({
      code: code.replace(/\bdescription:\s*(?:'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)/g, "description: ''"),
      map: null,
    }),
  },
};

const JSX = { jsx: { runtime: 'automatic', importSource: 'preact' } };

const COMMON =
  /node_modules\/preact\/|src\/units\/(?:abort|clock|format|maps|short-time|split-times|time\.)|src\/dashboard\/data\/|src\/dashboard\/ui\/(?:icon|links|severities|states|time|formats|hooks|page)/;

/** What both the charts and what to do need. */
const PARTS = /src\/(?:dashboard\/ui\/graph-link|units\/clean-text|scaler\/(?:plain-json|spec))/;

/** What all pages but the list need. */
const SECTIONS = /src\/dashboard\/ui\/(?:section|table)/;

/** What to do, and what copies it. Several parts load each of them, with a list of its files. */
const WHAT_TO_DO = /src\/(?:dashboard\/scaler\/what-to-do|decision\/remedies)/;
const COPIED = /src\/dashboard\/(?:ui\/command-text|scaler\/model\/commands)/;

/** The dashboard. Its paths are relative, so that it works behind any path prefix. */
const DASHBOARD = {
  root: 'src/dashboard',
  base: './',
  publicDir: false,
  plugins: [WITHOUT_DESCRIPTIONS],
  resolve: { alias: WITHOUT_UNUSED },
  oxc: JSX,
  build: {
    // zod refers to each function of the JSON Schema that it lacks, and exports what takes its place twice.
    rollupOptions: {
      checks: { importIsUndefined: false, namespaceConflict: false },
      // What all pages need is one file: small ones compress badly, and each is a request.
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: 'common', test: COMMON },
            { name: 'parts', test: PARTS },
            { name: 'sections', test: SECTIONS },
            { name: 'nearest', test: /src\/scaler\/problems\/nearest|node_modules\/leven\// },
            { name: 'copied', test: COPIED },
            { name: 'remedy', test: WHAT_TO_DO },
          ],
        },
      },
    },
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
  root: 'src/dashboard',
  publicDir: false,
  oxc: JSX,
  build: {
    outDir: '../../dist/report-page',
    emptyOutDir: true,
    target: 'es2022',
    cssCodeSplit: false,
    reportCompressedSize: false,
    rollupOptions: {
      input: 'src/dashboard/report/main.tsx',
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

const LEGAL_COMMENTS = { legal: true, annotation: false, jsdoc: false };

/**
 * The tables of iconv-lite are for bodies of requests, which the service rejects. The scale benchmark observes the
 * histograms of prom-client.
 */
const LEFT_OUT = ['iconv-lite', 'prom-client', ...Object.keys(description.optionalDependencies)];

/**
 * The program in few files: those of `run` load in half the time of a thousand modules and take 16 MB less.
 * Its workers and the demo are not bundled.
 */
const BUNDLE = {
  publicDir: false,
  plugins: [PLACES],
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
      external: /\/demo\/run-demo\.js$/,
      output: { entryFileNames: '[name].js', chunkFileNames: '[name].js', comments: LEGAL_COMMENTS },
    },
  },
  logLevel: 'warn',
};

const CONFIGS = { 'report-page': REPORT_PAGE, bundle: BUNDLE };

/** `vite build`, `vite build --mode report-page` and `vite build --mode bundle`. */
export default defineConfig(({ mode }) => CONFIGS[mode] ?? DASHBOARD);
