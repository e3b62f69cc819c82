/** A series as it was scraped. */
export interface WrittenSeries {
  /** `__name__` included. */
  readonly labels: Readonly<Record<string, string>>;
  /** Seconds and value, in order; null: the marker of Prometheus for a series that has ended. */
  readonly samples: readonly (readonly [seconds: number, value: number | null])[];
  /** Native histograms, in order: seconds, and the number of observations, all of which are 0. */
  readonly histograms?: readonly (readonly [seconds: number, count: number])[];
}

const STALE_MARKER = 0x7ff0_0000_0000_0002n;
const LENGTH_DELIMITED = 2;
const FIXED_64 = 1;
/** The longest literal of snappy whose length has two bytes. */
const LITERAL_BYTES = 65_536;
const LITERAL_OF_TWO_BYTES = 61 << 2;

/**
 * Writes series by the remote write protocol, which Prometheus and VictoriaMetrics both accept, stale markers included.
 */
export async function remoteWrite(url: string, series: readonly WrittenSeries[]): Promise<void> {
  const body = snappy(Buffer.concat(series.map((one) => field(1, encodeSeries(one)))));
  const response = await fetch(`${url}/api/v1/write`, {
    method: 'POST',
    headers: { 'Content-Encoding': 'snappy', 'Content-Type': 'application/x-protobuf' },
    body: new Uint8Array(body),
  });
  if (!response.ok) throw new Error(`remote write: HTTP ${response.status}: ${await response.text()}`);
}

function encodeSeries({ labels, samples, histograms = [] }: WrittenSeries): Buffer {
  const sorted = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));
  return Buffer.concat([
    ...sorted.map(([name, value]) =>
      field(1, Buffer.concat([field(1, Buffer.from(name)), field(2, Buffer.from(value))])),
    ),
    ...samples.map(([seconds, value]) => field(2, encodeSample(seconds, value))),
    ...histograms.map(([seconds, count]) => field(4, encodeHistogram(seconds, count))),
  ]);
}

function encodeSample(seconds: number, value: number | null): Buffer {
  const double = Buffer.alloc(9);
  double[0] = (1 << 3) | FIXED_64;
  if (value === null) double.writeBigUInt64LE(STALE_MARKER, 1);
  else double.writeDoubleLE(value, 1);
  return Buffer.concat([double, Buffer.from([2 << 3]), varint(Math.round(seconds * 1000))]);
}

/** Source: Prometheus, prompb/types.proto, Histogram. */
function encodeHistogram(seconds: number, count: number): Buffer {
  const zeroThreshold = Buffer.alloc(8);
  zeroThreshold.writeDoubleLE(0.001);
  return Buffer.concat([
    Buffer.from([1 << 3]),
    varint(count),
    Buffer.from([(5 << 3) | FIXED_64]),
    zeroThreshold,
    Buffer.from([6 << 3]),
    varint(count),
    Buffer.from([15 << 3]),
    varint(Math.round(seconds * 1000)),
  ]);
}

function field(number: number, contents: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | LENGTH_DELIMITED]), varint(contents.length), contents]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
}

/** Encodes as snappy without compression: a length, then literals. */
function snappy(contents: Buffer): Buffer {
  const parts = [varint(contents.length)];
  for (let start = 0; start < contents.length; start += LITERAL_BYTES) {
    const literal = contents.subarray(start, start + LITERAL_BYTES);
    const tag = Buffer.alloc(3);
    tag[0] = LITERAL_OF_TWO_BYTES;
    tag.writeUInt16LE(literal.length - 1, 1);
    parts.push(tag, literal);
  }
  return Buffer.concat(parts);
}
