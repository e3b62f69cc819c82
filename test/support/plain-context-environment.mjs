import asyncHooks from 'node:async_hooks';
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's environment of Node without two of its costs:
 *
 * - Its global object has no interceptors: with them every `Math`, `Map` and `Object` in the code is a call into C++ that
 *   the engine cannot cache. A Node without such contexts uses the default one.
 * - The runner stores the current test in a variable instead of an `AsyncLocalStorage`, whose hooks run for every promise
 *   and double the time of tests that await much.
 */
export default class PlainContextEnvironment extends TestEnvironment {
  constructor(config, context) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants?.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
  }

  async setup() {
    await super.setup();
    asyncHooks.AsyncLocalStorage = SerialStorage;
  }

  /** The runner has been loaded when its first event arrives; the tests and what they import get Node's own class. */
  handleTestEvent({ name }) {
    if (name === 'setup') asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
  }

  async teardown() {
    asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
    await super.teardown();
  }
}

const { AsyncLocalStorage } = asyncHooks;

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
