import { join } from 'node:path';
import { build } from 'vite';

/**
 * Builds the dashboard into the directory of the argument, with readable names and `globalThis.renders`: the number of
 * renderings of each component. Preact calls the option `__r` before each of them.
 */
const COUNT_RENDERS = {
  name: 'count-renders',
  transform: (code, id) =>
    id.endsWith('/dashboard/main.tsx')
      ? `import { options } from 'preact';
         globalThis.renders = {};
         const before = options.__r;
         options.__r = (vnode) => {
           const { name } = vnode.type;
           if (name !== '') globalThis.renders[name] = (globalThis.renders[name] ?? 0) + 1;
           before?.(vnode);
         };
         ${code}`
      : null,
};

const ROOT = join(import.meta.dirname, '../..');

await build({
  configFile: join(ROOT, 'vite.config.mjs'),
  root: join(ROOT, 'src/dashboard'),
  plugins: [COUNT_RENDERS],
  build: { outDir: process.argv[2], minify: false },
});
