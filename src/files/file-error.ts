/** A file is rejected because it is not a regular file or too large. */
export class FileError extends Error {
  override name = 'FileError';
}

export function tooLong(mostBytes: number): FileError {
  const mebibytes = mostBytes / 1024 / 1024;
  const shown = Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${mostBytes} bytes`;
  return new FileError(`it is longer than ${shown}, the maximum that is read`);
}
