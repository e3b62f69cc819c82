import { defineConfig } from 'vite';

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

/** `vite build` and `vite build --mode report-page`. */
export default defineConfig(({ mode }) => (mode === 'report-page' ? REPORT_PAGE : DASHBOARD));
