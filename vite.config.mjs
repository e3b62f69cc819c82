import { defineConfig } from 'vite';

/** The dashboard. Its paths are relative, so that it works behind any path prefix. */
const DASHBOARD = {
  root: 'src/dashboard',
  base: './',
  publicDir: false,
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
