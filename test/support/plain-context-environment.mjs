import asyncHooks from 'node:async_hooks';
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/** The environment of all test files of a worker. */
let shared = null;

/**
 * Jest's environment of Node without four of its costs:
 *
 * - The test files of a worker share one global object, and with it the modules of `shared-modules-runtime.cjs`. A file
 *   with the docblock `@isolated-modules` gets its own.
 * - Its global object has no interceptors: with them every `Math`, `Map` and `Object` in the code is a call into C++ that
 *   the engine cannot cache. A Node without such contexts uses the default one.
 * - The runner stores the current test in a variable instead of an `AsyncLocalStorage`, whose hooks run for every promise
 *   and double the time of tests that await much.
 * - Its copy of `process` has the set of flags that Node allows in NODE_OPTIONS as a value. Node builds the set on the
 *   first read and keeps it in its own `process`: a copy would build it on each read, which axios does twice per request.
 */
export default class PlainContextEnvironment extends TestEnvironment {
  #variables = {};

  constructor(config, context) {
    const isShared = !('isolated-modules' in context.docblockPragmas);
    if (isShared && shared !== null) return shared;
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants?.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
    const { allowedNodeEnvironmentFlags: value } = process;
    Object.defineProperty(this.global.process, 'allowedNodeEnvironmentFlags', { value, configurable: true });
    this.isShared = isShared;
    if (isShared) shared = this;
  }

  async setup() {
    await super.setup();
    this.#variables = { ...this.global.process.env };
    useStorage(SerialStorage);
  }

  /** The runner has been loaded when its first event arrives; the tests and what they import get Node's own class. */
  handleTestEvent({ name }) {
    if (name === 'setup') useStorage(AsyncLocalStorage);
  }

  async teardown() {
    useStorage(AsyncLocalStorage);
    if (!this.isShared) return super.teardown();
    const { env } = this.global.process;
    for (const name of Object.keys(env)) delete env[name];
    Object.assign(env, this.#variables);
    delete this.global[Symbol.for('EVENT_HANDLERS')];
  }
}

const { AsyncLocalStorage } = asyncHooks;

function useStorage(value) {
  // From Node 24 on, it has only a getter.
  Object.defineProperty(asyncHooks, 'AsyncLocalStorage', { value, configurable: true, enumerable: true });
}

/** An `AsyncLocalStorage` for a runner that runs one test at a time: it has no `it.concurrent`. */
class SerialStorage {
  #store = undefined;

  getStore() {
    return this.#store;
  }

  async run(store, callback) {
    const outer = this.#store;
    this.#store = store;
    try {
      return await callback();
    } finally {
      this.#store = outer;
    }
  }
}
