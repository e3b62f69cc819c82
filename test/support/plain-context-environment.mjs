import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's environment of Node, its global object without interceptors: with them every `Math`, `Map` and `Object` that the
 * code names is a call into C++, which the engine cannot remember. A Node that knows no such context gives the usual one.
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
}
