/** Why a file or folder could not be read, in words. */
export function whyUnreadable(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  switch (code) {
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return 'the file is not UTF-8 text';
    case 'ENOENT':
      return 'there is no such file or folder';
    case 'EACCES':
      return 'permission to read it is denied';
    case 'ELOOP':
      return 'this link leads back to itself';
    case 'EISDIR':
      return 'this is a folder, a file was expected';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
