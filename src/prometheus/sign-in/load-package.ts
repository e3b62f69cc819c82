import { errorCode } from '../../units/error-code.js';
import { CredentialError } from '../requests/credential-files.js';

/**
 * Loads a package of one authentication method on first use. Throws a `CredentialError` if the image was built without
 * it.
 */
export async function loadPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    throw new CredentialError(`the package ${name} is not installed: install the optional dependencies`);
  }
}
