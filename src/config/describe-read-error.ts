import { errorCode, errorMessage } from '../units/failure.js';

export function describeReadError(error: unknown): string {
  switch (errorCode(error)) {
    case 'ABORT_ERR':
      return 'interrupted';
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return 'the file is not UTF-8 text';
    case 'ENOENT':
      return 'no such file or directory';
    case 'EACCES':
      return 'permission denied';
    case 'ELOOP':
      return 'the symbolic link leads to itself';
    case 'EISDIR':
      return 'this is a directory, a file was expected';
    default:
      return errorMessage(error);
  }
}
