/** Why a file was not read although the system would have allowed it. */
export class FileError extends Error {
  override name = 'FileError';
}

/** A file with more than is read of it. */
export function tooLong(mostBytes: number): FileError {
  const mebibytes = mostBytes / 1024 / 1024;
  const shown = Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${mostBytes} bytes`;
  return new FileError(`it is longer than ${shown}, the most that is read`);
}
