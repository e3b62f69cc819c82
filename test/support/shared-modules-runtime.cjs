const { sep } = require('node:path');
const Runtime = require('jest-runtime').default;

/** Loads the shared modules of a worker. It is not torn down: modules that it has loaded import others later. */
let library = null;
let resolverOfLibrary = null;

/**
 * Jest's loader of modules, except that what a test cannot change is loaded once per worker and not once per test file:
 * `src`, whose modules have no state, and the packages. This saves compilation, and the engine keeps the code that it has
 * optimized. Without this class and `plain-context-environment.mjs`, 294 tests need 24.3 s of CPU instead of 15.6 s
 * (+56 %).
 */
module.exports = class SharedModulesRuntime extends Runtime {
  constructor(config, environment, resolver, ...rest) {
    super(config, environment, resolver, ...rest);
    if (!environment.isShared) return;
    // In watch mode a changed source makes a new resolver.
    if (resolverOfLibrary !== resolver) library = new Runtime(config, environment, resolver, ...rest);
    resolverOfLibrary = resolver;
    // From Node 24.9 on, Jest would load the whole graph of a test file at once, and past the library.
    for (const { esmLoader } of [this, library]) esmLoader.resolution.hasDistinctAsyncResolver = () => true;
    this.transformCache.sourceMaps = library.transformCache.sourceMaps;
    const isShared = (path) =>
      path.startsWith(config.rootDir + sep + 'src' + sep) || path.includes(`${sep}node_modules${sep}`);
    share(this.esmLoader, 'loadEsmModule', (path) => isShared(path));
    share(this.esmLoader, 'loadCjsAsEsm', (_from, path) => isShared(path));
  }

  /** Of Jest's own packages, only the runner has state of a test file. */
  requireInternalModule(from, to) {
    const isOfRunner = to === undefined || to.startsWith('.') || to.startsWith('jest-circus');
    if (isOfRunner || !this._environment.isShared) return super.requireInternalModule(from, to);
    return library.requireInternalModule(from, to);
  }
};

/** Lets the library load what is shared. */
function share(loader, method, isShared) {
  const own = loader[method].bind(loader);
  loader[method] = (...args) => (isShared(...args) ? library.esmLoader[method](...args) : own(...args));
}
