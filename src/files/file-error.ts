/** A file that can be opened but is not read. */
export class FileError extends Error {
  override name = 'FileError';
}

/** Returns the error of a file above its size limit. */
export function tooLong(mostBytes: number): FileError {
  const mebibytes = mostBytes / 1024 / 1024;
  const shown = Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${mostBytes} bytes`;
  return new FileError(`it is longer than ${shown}, the maximum that is read`);
}
