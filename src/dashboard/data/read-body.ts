import { ApiError } from './api-error.js';

/**
 * Reads the body of a response as text. If it has more than `maxBytes`, throws an `ApiError` of the kind `invalid`.
 * Errors of the stream are thrown, too.
 */
export async function readBody(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parts.join('') + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel();
      throw new ApiError('invalid', `the answer has more than ${maxBytes} bytes, the maximum`);
    }
    parts.push(decoder.decode(value, { stream: true }));
  }
}
